"""Whether a case defines what its templates take: the prompts', its own and those of its assertions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from evenhand.config.findings import Place
from evenhand.config.prompts import templates_of, templates_of_turn
from evenhand.config.template_names import needed
from evenhand.config.transforms import expressions_of, transform_expressions
from evenhand.config.values import check_templates
from evenhand.model.assertion import Assertion, walk
from evenhand.model.suite import Case, Prompt
from evenhand.registry import nearest
from evenhand.template import Engine, Val, order_vars

OF_THE_ANSWER = frozenset({"output", "output_json", "vars"})
"""What expressions see beside the vars and the environment."""


class CaseNames:
    """Checks the names of cases one by one as they pass."""

    def __init__(self, prompts: Sequence[Prompt], shared: Sequence[Assertion], engine: Engine) -> None:
        """`shared` are the assertions that every case begins with."""
        self._engine = engine
        self._needed = [(prompt.id, _needed(prompt)) for prompt in prompts]
        self._shared = len(shared)
        self._shared_values = list(_templated(shared))

    def check(self, case: Case, place: Place) -> None:
        """Report every name that a template of the case or a prompt needs and the case does not define."""
        for prompt_id, names in self._needed:
            if not names.issubset(case.vars):
                self._report(f"prompt {prompt_id!r}", names, case, place)
        for turn in case.history:
            self._check_templates("the history", templates_of_turn(turn), case, place.inside("history"))
        for what, value in self._shared_values:
            self._check_value(what, value, case, place)
        for what, value in _templated(case.assertions[self._shared :]):
            self._check_value(what, value, case, place)
        for assertion in walk(case.assertions):
            for expression in expressions_of(assertion):
                self._check_expression(expression, repr(assertion.kind), case, place)
        for expression in transform_expressions(case.transform):
            self._check_expression(expression, "`transform`", case, place)
        templated = {name: value for name, value in case.vars.items() if not value.is_constant}
        if templated:
            self._check_vars(templated, case, place)

    def _check_vars(self, templated: Mapping[str, Val], case: Case, place: Place) -> None:
        for name, value in templated.items():
            check_templates(self._engine, value, place.inside("vars", name))
            self._check_value(f"var {name!r}", value, case, place)
        if circle := order_vars(templated, self._engine).problem:
            place.inside("vars").add(circle)

    def _check_expression(self, expression: str, what: str, case: Case, place: Place) -> None:
        """Warn, since an expression over a name that is not there fails, which may be what the suite wants."""
        for name in sorted(needed(expression, is_expression=True).difference(case.vars, OF_THE_ANSWER)):
            if place.findings.first_time(("expression", expression, name, place.location.file)):
                message = f"{what} needs the variable {name!r}, which the case does not define"
                place.warn(message, _meant(name, case))

    def _check_value(self, what: str, value: Val, case: Case, place: Place) -> None:
        self._check_templates(what, (template for _, template in value.templates()), case, place)

    def _check_templates(self, what: str, templates: Iterable[str], case: Case, place: Place) -> None:
        for template in templates:
            self._report(what, needed(template), case, place)

    def _report(self, what: str, names: frozenset[str], case: Case, place: Place) -> None:
        for name in sorted(names.difference(case.vars)):
            place.report(
                f"{what} needs the variable {name!r}, which the case does not define", _meant(name, case)
            )


def _meant(name: str, case: Case) -> str:
    close = nearest(name, case.vars)
    return f"did you mean {close!r}?" if close else "add it to `vars`"


def _templated(assertions: Iterable[Assertion]) -> Iterator[tuple[str, Val]]:
    """The values of assertions that are rendered for each case, with what messages call them."""
    for assertion in walk(assertions):
        for name, value in assertion.templates():
            if not value.is_constant:
                yield f"`{name}` of {assertion.kind!r}", value


def _needed(prompt: Prompt) -> frozenset[str]:
    return frozenset().union(*(needed(template) for template in templates_of(prompt)))
