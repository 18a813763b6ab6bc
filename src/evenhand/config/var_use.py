"""Vars that no template and no check ever looks at: most often a name that was mistyped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evenhand.config.findings import Place
from evenhand.config.prompts import templates_of, templates_of_turn
from evenhand.config.template_names import taken
from evenhand.config.transforms import expressions_of, reads_all_vars, transform_expressions
from evenhand.model.assertion import Assertion, walk
from evenhand.model.provider import Provider
from evenhand.model.suite import Case, Prompt
from evenhand.model.transform import WrittenTransform

ALL_VARS = "vars"
"""The name by which an expression reaches every var."""


class VarUse:
    """Watches which vars cases define and which names are looked at.

    Where a provider or an assertion is given all vars, nobody can tell, and nothing is watched.
    """

    def __init__(self, providers: Sequence[Provider], prompts: Sequence[Prompt]) -> None:
        self._is_watching = not any(provider.reads_vars for provider in providers)
        self._defined: dict[str, Place] = {}
        self._used: set[str] = set()
        self._assertions: tuple[Assertion, ...] = ()
        if self._is_watching:
            self._see_transforms(*(provider.transform for provider in providers))
            self._use(template for prompt in prompts for template in templates_of(prompt))

    def see(self, case: Case, place: Place) -> None:
        """Take in one case."""
        if not self._is_watching:
            return
        for name in case.vars.keys() - self._defined.keys():
            self._defined[name] = place.inside("vars", name)
        self._use(template for turn in case.history for template in templates_of_turn(turn))
        for value in case.vars.values():
            self._use(template for _, template in value.templates())
        if case.assertions is not self._assertions:
            # Cases that have only the defaults' assertions share one tuple of them.
            self._assertions = case.assertions
            for assertion in walk(case.assertions):
                self._see_assertion(assertion)
        if case.transform is not None:
            self._see_transforms(case.transform)

    def warn_of_unused(self) -> None:
        """Warn of every var that nothing looked at."""
        if not self._is_watching or ALL_VARS in self._used:
            return
        for name, place in self._defined.items():
            if name not in self._used:
                place.warn(f"var {name!r} is defined, but no prompt, var or assertion uses it")

    def _see_assertion(self, assertion: Assertion) -> None:
        if assertion.reads_vars:
            self._is_watching = False
        for _, value in assertion.templates():
            self._use(template for _, template in value.templates())
        for expression in expressions_of(assertion):
            self._note(taken(expression, is_expression=True))
        if reads_all_vars(assertion.transform):
            self._is_watching = False

    def _see_transforms(self, *transforms: WrittenTransform) -> None:
        if any(map(reads_all_vars, transforms)):
            self._is_watching = False
        for expression in transform_expressions(*transforms):
            self._note(taken(expression, is_expression=True))

    def _use(self, templates: Iterable[str]) -> None:
        for template in templates:
            self._note(taken(template))

    def _note(self, names: Iterable[str]) -> None:
        for name in names:
            first, _, rest = name.partition(".")
            self._used.add(rest.partition(".")[0] if first == ALL_VARS and rest else first)
