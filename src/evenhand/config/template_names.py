"""Which names templates take from their scope: what a case must define, and what the environment must show."""

from __future__ import annotations

from evenhand.template import Engine

ENVIRONMENT = "env"

MAX_REMEMBERED = 5_000
"""Templates whose names are remembered."""


def as_template(expression: str) -> str:
    """A template that takes the same names as an expression."""
    return "{{ (" + expression + ") }}"


class TemplateNames:
    """Names by template, each template looked at once."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._known: dict[str, frozenset[str]] = {}

    def all_in(self, template: str) -> frozenset[str]:
        """Every name that a template takes, nested ones with their path; none for one that does not parse."""
        names = self._known.get(template)
        if names is None:
            names = self._look(template)
            if len(self._known) < MAX_REMEMBERED:
                self._known[template] = names
        return names

    def variables_in(self, template: str) -> frozenset[str]:
        """The variables that a template takes, without the environment."""
        return frozenset(name.partition(".")[0] for name in self.all_in(template)) - {ENVIRONMENT}

    def certain_in(self, template: str) -> frozenset[str]:
        """The variables without which a template certainly does not render."""
        return self.variables_in(template)

    def _look(self, template: str) -> frozenset[str]:
        if self._engine.check_template(template) is not None:
            return frozenset()
        return self._engine.names_in(template)
