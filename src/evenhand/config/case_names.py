"""Whether a case defines what its templates take: the prompts', its own and those of its assertions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from evenhand.config.findings import Place
from evenhand.config.prompts import templates_of, templates_of_turn
from evenhand.config.template_names import TemplateNames
from evenhand.config.values import check_templates
from evenhand.model.assertion import Assertion
from evenhand.model.suite import Case, Prompt
from evenhand.registry import nearest
from evenhand.template import Engine, Val


class CaseNames:
    """Checks the names of cases one by one as they pass."""

    def __init__(
        self, prompts: Sequence[Prompt], shared: Sequence[Assertion], engine: Engine, names: TemplateNames
    ) -> None:
        """`shared` are the assertions that every case begins with."""
        self._engine = engine
        self._names = names
        self._needed = [(prompt.id, _needed(prompt, names)) for prompt in prompts]
        self._shared = len(shared)
        self._shared_values = list(_templated(shared))

    def check(self, case: Case, place: Place) -> None:
        """Report every name that a template of the case or a prompt needs and the case does not define."""
        for prompt_id, needed in self._needed:
            if not needed.issubset(case.vars):
                self._report(f"prompt {prompt_id!r}", needed, case, place)
        for turn in case.history:
            self._check_templates("the history", templates_of_turn(turn), case, place.inside("history"))
        for what, value in self._shared_values:
            self._check_value(what, value, case, place)
        for what, value in _templated(case.assertions[self._shared :]):
            self._check_value(what, value, case, place)
        templated = {name: value for name, value in case.vars.items() if not value.is_constant}
        if templated:
            self._check_vars(templated, case, place)

    def _check_vars(self, templated: Mapping[str, Val], case: Case, place: Place) -> None:
        needs: dict[str, frozenset[str]] = {}
        for name, value in templated.items():
            check_templates(self._engine, value, place.inside("vars", name))
            self._check_value(f"var {name!r}", value, case, place)
            taken = (self._names.variables_in(template) for _, template in value.templates())
            needs[name] = frozenset().union(*taken).intersection(templated)
        if any(needs.values()) and (circle := find_circle(needs)):
            at = place.inside("vars", circle[0])
            at.report(f"the vars refer to each other in a circle: {' → '.join(circle)}")

    def _check_value(self, what: str, value: Val, case: Case, place: Place) -> None:
        self._check_templates(what, (template for _, template in value.templates()), case, place)

    def _check_templates(self, what: str, templates: Iterable[str], case: Case, place: Place) -> None:
        for template in templates:
            self._report(what, self._names.certain_in(template), case, place)

    def _report(self, what: str, needed: frozenset[str], case: Case, place: Place) -> None:
        for name in sorted(needed.difference(case.vars)):
            close = nearest(name, case.vars)
            hint = f"did you mean {close!r}?" if close else "add it to `vars`"
            place.report(f"{what} needs the variable {name!r}, which the case does not define", hint)


def find_circle(needs: Mapping[str, Iterable[str]]) -> list[str]:
    """A chain of names in which each needs the next and the last is the first, or nothing."""
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        chain: list[str] = error.args[1]
        return chain[::-1]
    return []


def _templated(assertions: Iterable[Assertion]) -> Iterator[tuple[str, Val]]:
    """The values of assertions that are rendered for each case, with what messages call them."""
    for assertion in assertions:
        for name, value in assertion.templates():
            if not value.is_constant:
                yield f"`{name}` of {assertion.kind!r}", value


def _needed(prompt: Prompt, names: TemplateNames) -> frozenset[str]:
    return frozenset().union(*(names.certain_in(template) for template in templates_of(prompt)))
