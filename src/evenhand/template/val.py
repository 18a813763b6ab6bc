"""Values of a suite that may hold templates, and how they become plain values for a case."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.errors import DocumentPath
from evenhand.template.engine import Engine, Scope, is_template, sole_expression


class Val:
    """A JSON value as written in a suite, whose text leaves may be templates.

    Keys, numbers, booleans and null are never templates. `{$raw: …}` marks a value that is taken as it stands,
    at any depth.
    """

    __slots__ = ("_plain", "authored", "is_constant")

    def __init__(self, authored: Any, *, is_data: bool = False) -> None:
        """`is_data` marks a value that came from a data file: it is never a template, whatever braces it holds.

        A `{$raw: …}` mark means in data what it means elsewhere.
        """
        self.authored = authored
        self._plain = authored if type(authored) is str else _without_raw_marks(authored)
        self.is_constant = is_data or not any(True for _ in _templates(authored, ()))

    def render(self, engine: Engine, scope: Scope, *, typed: bool = False) -> Any:
        """The value for one case. With `typed`, a leaf that is exactly one `{{ expression }}` keeps its type.

        Raises `TemplateError`.
        """
        if self.is_constant:
            return self._plain
        return _render(self.authored, engine, scope, typed)

    def templates(self) -> Iterator[tuple[DocumentPath, str]]:
        """Every text leaf that is a template, with its path inside the value."""
        return iter(()) if self.is_constant else _templates(self.authored, ())

    def __repr__(self) -> str:
        return f"Val({self.authored!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Val) and self.authored == other.authored

    __hash__ = None  # type: ignore[assignment]


def is_raw(value: Any) -> bool:
    """Whether a value is a `{$raw: …}` mark, which stands alone in its mapping."""
    return isinstance(value, dict) and len(value) == 1 and "$raw" in value


def _templates(value: Any, path: DocumentPath) -> Iterator[tuple[DocumentPath, str]]:
    if isinstance(value, str):
        if is_template(value):
            yield path, value
    elif is_raw(value):
        return
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _templates(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _templates(item, (*path, index))


def _without_raw_marks(value: Any) -> Any:
    """The value that marks stand for; the value itself, not a copy, where there are none."""
    return _unmarked(value) if _has_raw_mark(value) else value


def _has_raw_mark(value: Any) -> bool:
    if isinstance(value, dict):
        return is_raw(value) or any(map(_has_raw_mark, value.values()))
    return isinstance(value, list) and any(map(_has_raw_mark, value))


def _unmarked(value: Any) -> Any:
    if is_raw(value):
        return value["$raw"]
    if isinstance(value, dict):
        return {key: _unmarked(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_unmarked(item) for item in value]
    return value


def _render(value: Any, engine: Engine, scope: Scope, typed: bool) -> Any:
    if isinstance(value, str):
        if typed and (expression := sole_expression(value)) is not None:
            return engine.evaluate(expression, scope)
        return engine.render(value, scope)
    if is_raw(value):
        return value["$raw"]
    if isinstance(value, dict):
        return {key: _render(item, engine, scope, typed) for key, item in value.items()}
    if isinstance(value, list):
        return [_render(item, engine, scope, typed) for item in value]
    return value


def authored(value: Any) -> Any:
    """The form in which msgspec encodes a `Val`: as it was written. Pass it as `enc_hook`."""
    if isinstance(value, Val):
        return value.authored
    raise TypeError(f"cannot encode {type(value).__name__}")
