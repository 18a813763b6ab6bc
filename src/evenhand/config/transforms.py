"""Transforms as suites write them, checked before any answer is there."""

from __future__ import annotations

from collections.abc import Iterator

from evenhand.config.findings import Place
from evenhand.config.script_checks import ScriptChecks
from evenhand.model.assertion import Assertion
from evenhand.model.transform import WrittenTransform, transform_of
from evenhand.scripts.context import fields_read
from evenhand.scripts.transform import TransformScript, transform_problems
from evenhand.template import Engine


class TransformReader:
    """Finds what is wrong with transforms; code is looked at once all of it is collected."""

    def __init__(self, engine: Engine, scripts: ScriptChecks | None) -> None:
        self._engine = engine
        self._scripts = scripts

    def checked(self, written: WrittenTransform, place: Place) -> WrittenTransform:
        """The transform itself, after reporting what is wrong with it."""
        if written is None:
            return None
        transform = transform_of(written)
        is_text = isinstance(written, str)
        is_sound = True
        for problem in transform_problems(transform, self._engine):
            place.add(problem._replace(path=()) if is_text else problem)
            is_sound = False
        if is_sound and transform.type != "jinja" and self._scripts is not None:
            self._scripts.add(TransformScript(transform), place if is_text else place.inside("value"))
        return written


def transform_expressions(*written: WrittenTransform) -> Iterator[str]:
    """The expressions among transforms."""
    for each in written:
        if each is not None and transform_of(each).type == "jinja":
            yield transform_of(each).value


def expressions_of(assertion: Assertion) -> Iterator[str]:
    """The expressions of an assertion over a case's vars and environment, that of its transform included."""
    yield from (expression for _, expression in assertion.expressions())
    yield from transform_expressions(assertion.transform)


def reads_all_vars(written: WrittenTransform) -> bool:
    """Whether a transform may look at any of the case's vars."""
    if written is None:
        return False
    transform = transform_of(written)
    return transform.type != "jinja" and (
        TransformScript(transform).reference is not None or "vars" in fields_read(transform.value)
    )
