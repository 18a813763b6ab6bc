"""Plain JSON values out of whatever a Python program hands over: what a result can hold and a store can write.

Taken: null, booleans, finite numbers (as `Decimal` where a float could not hold them), text, lists, mappings with
text keys; tuples count as lists, enum members as their values; dataclasses, msgspec structs and pydantic models as
mappings of their fields. Everything else is refused, because any conversion of it would be a guess.
"""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import msgspec

MAX_DEPTH = 200
"""Levels of nesting: no data that people make is deeper, and code that walks the value keeps its stack."""

MAX_INTEGER_BITS = 14_000
"""Just under the 4,300 digits at which Python refuses to write an integer."""


class NotPlain(ValueError):
    """A value that is not JSON; `path` leads to the part that is not."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
        self.path: list[str | int] = []


def plain_json(value: Any) -> Any:
    """The value as plain JSON, copied, so that later changes of the original cannot reach it. Raises `NotPlain`."""
    return value if type(value) is str else _plain(value, 0)


def _plain(value: Any, depth: int) -> Any:
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return value
    if kind is int:
        return _integer(value)
    if kind is float:
        return _float(value)
    if depth >= MAX_DEPTH:
        raise NotPlain(f"is nested deeper than {MAX_DEPTH} levels, or contains itself")
    if kind is dict:
        return _mapping(value, depth + 1)
    if kind is list or kind is tuple:
        return _list(value, depth + 1)
    return _converted(value, depth)


def _integer(value: int) -> int:
    if value.bit_length() > MAX_INTEGER_BITS:
        raise NotPlain("is an integer of more than 4,000 digits")
    return value


def _float(value: float) -> float:
    if not math.isfinite(value):
        raise NotPlain(f"is {value}, which is not a JSON number")
    return value


def _decimal(value: Decimal) -> Decimal:
    if not value.is_finite():
        raise NotPlain(f"is {value}, which is not a JSON number")
    return value


def _mapping(value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise NotPlain(f"has a key of type `{type(key).__name__}`, and JSON keys are text")
        try:
            plain[str.__str__(key)] = _plain(item, depth)
        except NotPlain as error:
            error.path.insert(0, key)
            raise
    return plain


def _list(value: list[Any] | tuple[Any, ...], depth: int) -> list[Any]:
    plain: list[Any] = []
    for index, item in enumerate(value):
        try:
            plain.append(_plain(item, depth))
        except NotPlain as error:
            error.path.insert(0, index)
            raise
    return plain


def _converted(value: Any, depth: int) -> Any:
    # Members of a `StrEnum` are text too, so enums come first.
    if isinstance(value, enum.Enum):
        return _plain(value.value, depth + 1)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return _integer(int(value))
    if isinstance(value, float):
        return _float(float(value))
    if isinstance(value, Decimal):
        return _decimal(value)
    if isinstance(value, Mapping):
        return _mapping(value, depth + 1)
    if isinstance(value, (list, tuple)):
        return _list(value, depth + 1)
    if isinstance(value, type) or (fields := _fields(value)) is None:
        raise NotPlain(f"is of type `{type(value).__name__}`, which is not JSON")
    return _mapping(fields, depth + 1)


def _fields(value: Any) -> Mapping[Any, Any] | None:
    """The fields of a dataclass, msgspec struct or pydantic model, or None."""
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.asdict(value)
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    model_dump = getattr(value, "model_dump", None)
    dumped = model_dump(mode="json") if callable(model_dump) else None
    return dumped if isinstance(dumped, dict) else None
