"""Values of a suite that may hold templates, and how they become plain values for a case."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeGuard

from evenhand.errors import DocumentPath, Problem, TemplateError
from evenhand.template.engine import Engine, Scope, is_template, sole_expression

RAW = "$raw"

MAX_DEPTH = 200
"""Levels of a value that holds templates or raw marks."""


class Val:
    """A JSON value as written in a suite, whose text leaves may be templates.

    Keys, numbers, booleans and null are never templates. `{$raw: …}`, alone in its mapping, marks a value that is
    taken as it stands, at any depth; a mapping with further keys beside `$raw` is an ordinary mapping.
    """

    __slots__ = ("_plan", "authored", "is_constant")

    def __init__(self, authored: Any, *, is_data: bool = False) -> None:
        """`is_data` marks a value that came from a data file: it is never a template, whatever braces it holds.

        A `{$raw: …}` mark means in data what it means elsewhere. Raises `TemplateError` for a value with
        templates or marks that nests too deeply.
        """
        self.authored = authored
        self._plan = _plan_of(authored, reads_templates=not is_data)
        self.is_constant = type(self._plan) is not _Varying

    def render(self, engine: Engine, scope: Scope, *, typed: bool = False) -> Any:
        """The value for one case, which shares its constant parts with other cases: do not change it.

        With `typed`, a leaf that is exactly one `{{ expression }}` keeps its type, and an undefined one is an
        error. Raises `TemplateError`.
        """
        return self._plan.render(engine, scope, typed) if type(self._plan) is _Varying else self._plan

    def templates(self) -> Iterator[tuple[DocumentPath, str]]:
        """Every text leaf that is a template, with its path inside the value."""
        return iter(()) if self.is_constant else templates_in(self.authored)

    def problems(self, engine: Engine) -> Iterator[Problem]:
        """What is wrong with the templates whatever their data, with the path of each."""
        for path, template in self.templates():
            problem = engine.check_template(template)
            if problem is not None:
                yield problem.under(*path)

    @property
    def text(self) -> str | None:
        """The text as it was written, raw or not; None for any other value."""
        value = self.authored[RAW] if is_raw(self.authored) else self.authored
        return value if isinstance(value, str) else None

    def __repr__(self) -> str:
        return f"Val({self.authored!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Val) and self.authored == other.authored

    __hash__ = None  # type: ignore[assignment]


def authored(value: Any) -> Any:
    """The form in which msgspec encodes a `Val`: as it was written. Pass it as `enc_hook`."""
    if isinstance(value, Val):
        return value.authored
    raise TypeError(f"cannot encode {type(value).__name__}")


def is_raw(value: Any) -> TypeGuard[dict[str, Any]]:
    """Whether a value is a `{$raw: …}` mark, which stands alone in its mapping."""
    return isinstance(value, dict) and len(value) == 1 and RAW in value


class _Varying:
    """A template, or a mapping or list with a template somewhere in it; constant parts stand in it as they are."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def render(self, engine: Engine, scope: Scope, typed: bool) -> Any:
        value: Any = self.value
        if type(value) is str:
            if typed and (expression := sole_expression(value)) is not None:
                return engine.evaluate(expression, scope)
            return engine.render(value, scope)
        if type(value) is dict:
            return {
                key: item.render(engine, scope, typed) if type(item) is _Varying else item
                for key, item in value.items()
            }
        return [item.render(engine, scope, typed) if type(item) is _Varying else item for item in value]


def _plan_of(value: Any, *, reads_templates: bool) -> Any:
    """What is left to do for a case; the value itself, not a copy, where that is nothing."""
    if isinstance(value, str):
        return _Varying(value) if reads_templates and is_template(value) else value
    return _planned(value, reads_templates, MAX_DEPTH) if _has_work(value, reads_templates) else value


def _has_work(value: Any, reads_templates: bool) -> bool:
    """Whether a value, however deep, holds a template or a raw mark anywhere."""
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, str):
            if reads_templates and is_template(current):
                return True
        elif isinstance(current, dict):
            if is_raw(current):
                return True
            waiting.extend(current.values())
        elif isinstance(current, list):
            waiting.extend(current)
    return False


def _planned(value: Any, reads_templates: bool, levels: int) -> Any:
    if isinstance(value, str):
        return _Varying(value) if reads_templates and is_template(value) else value
    if not isinstance(value, (dict, list)):
        return value
    if is_raw(value):
        return value[RAW]
    if levels == 0:
        raise TemplateError(
            f"a value with templates or raw marks nests more than {MAX_DEPTH} levels", depends_on_data=False
        )
    items: dict[str, Any] | list[Any]
    if isinstance(value, dict):
        items = {key: _planned(item, reads_templates, levels - 1) for key, item in value.items()}
        varies = any(type(item) is _Varying for item in items.values())
    else:
        items = [_planned(item, reads_templates, levels - 1) for item in value]
        varies = any(type(item) is _Varying for item in items)
    return _Varying(items) if varies else items


def templates_in(value: Any, path: DocumentPath = ()) -> Iterator[tuple[DocumentPath, str]]:
    """Every text leaf of a written value that is a template, with its path."""
    if isinstance(value, str):
        if is_template(value):
            yield path, value
    elif isinstance(value, dict):
        if not is_raw(value):
            for key, item in value.items():
                yield from templates_in(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from templates_in(item, (*path, index))
