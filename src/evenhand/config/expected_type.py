"""What a declared type takes, and how a person would say it."""

from __future__ import annotations

import math
from typing import Any

from msgspec import inspect

from evenhand.config.wording import in_words
from evenhand.template import Val


def accepts(expected: inspect.Type, value: Any) -> bool:
    """Whether a type takes a value."""
    match expected:
        case inspect.Metadata():
            return accepts(expected.type, value)
        case inspect.UnionType():
            return any(accepts(member, value) for member in expected.types)
        case inspect.DictType():
            return isinstance(value, dict) and all(
                accepts(expected.value_type, item) for item in value.values()
            )
        case inspect.ListType() | inspect.VarTupleType():
            is_list = isinstance(value, (list, tuple)) and len(value) >= (expected.min_length or 0)
            return is_list and all(accepts(expected.item_type, item) for item in value)
        case inspect.StructType():
            return isinstance(value, dict) and _accepts_keys(expected, value)
        case _:
            return _accepts_scalar(expected, value)


def _accepts_keys(expected: inspect.StructType, value: dict[str, Any]) -> bool:
    fields = {field.encode_name: field for field in expected.fields}
    return (
        value.keys() <= fields.keys()
        and all(name in value for name, field in fields.items() if field.required)
        and all(accepts(fields[key].type, item) for key, item in value.items())
    )


def pruned(expected: inspect.Type, value: Any) -> Any:
    """The value without the keys that make it unfit, in mappings that the type declares key by key."""
    if isinstance(expected, inspect.Metadata):
        return pruned(expected.type, value)
    if isinstance(expected, inspect.UnionType):
        return pruned(next((m for m in expected.types if is_container(m, value)), inspect.AnyType()), value)
    if not (isinstance(expected, inspect.StructType) and isinstance(value, dict)):
        return value
    fields = {field.encode_name: field for field in expected.fields}
    sound = {key: pruned(fields[key].type, item) for key, item in value.items() if key in fields}
    return {key: item for key, item in sound.items() if accepts(fields[key].type, item)}


def _accepts_scalar(expected: inspect.Type, value: Any) -> bool:
    match expected:
        case inspect.NoneType():
            return value is None
        case inspect.BoolType():
            return isinstance(value, bool)
        case inspect.IntType():
            return isinstance(value, int) and not isinstance(value, bool) and _in_bounds(expected, value)
        case inspect.FloatType():
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            return is_number and _is_finite(value) and _in_bounds(expected, value)
        case inspect.StrType():
            return isinstance(value, str) and len(value) >= (expected.min_length or 0)
        case inspect.LiteralType():
            return not isinstance(value, bool) and value in expected.values
        case _:
            return True


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _in_bounds(expected: inspect.IntType | inspect.FloatType, value: float) -> bool:
    return (
        (expected.ge is None or value >= expected.ge)
        and (expected.gt is None or value > expected.gt)
        and (expected.le is None or value <= expected.le)
        and (expected.lt is None or value < expected.lt)
    )


def is_container(expected: inspect.Type, value: Any) -> bool:
    """Whether the type is a mapping or list and the value has that shape, whatever is wrong inside it."""
    match expected:
        case inspect.Metadata():
            return is_container(expected.type, value)
        case inspect.StructType() | inspect.DictType():
            return isinstance(value, dict)
        case inspect.ListType() | inspect.VarTupleType():
            return isinstance(value, (list, tuple))
        case _:
            return False


def holds_val(expected: inspect.Type) -> bool:
    """Whether the type is a value with templates, or one of several that is."""
    return holds(expected, Val)


def holds(expected: inspect.Type, cls: type) -> bool:
    """Whether the type is a class, or one of several types that is."""
    match expected:
        case inspect.Metadata():
            return holds(expected.type, cls)
        case inspect.UnionType():
            return any(holds(member, cls) for member in expected.types)
        case _:
            return isinstance(expected, inspect.CustomType | inspect.StructType) and expected.cls is cls


def named(expected: inspect.Type) -> str:
    """A type in the words of a person who writes a suite."""
    match expected:
        case inspect.Metadata():
            return named(expected.type)
        case inspect.UnionType():
            members = [member for member in expected.types if not isinstance(member, inspect.NoneType)]
            return in_words((named(member) for member in members), "or")
        case inspect.LiteralType():
            return in_words((repr(value) for value in expected.values), "or")
        case inspect.StructType() | inspect.DictType():
            return "a mapping"
        case inspect.ListType() | inspect.VarTupleType():
            return "a list that is not empty" if expected.min_length else "a list"
        case inspect.IntType() | inspect.FloatType():
            number = "a whole number" if isinstance(expected, inspect.IntType) else "a number"
            return number + _bounds(expected)
        case inspect.StrType():
            return "text that is not empty" if expected.min_length else "text"
        case inspect.BoolType():
            return "true or false"
        case inspect.NoneType():
            return "null"
        case _:
            return "a value"


def _bounds(expected: inspect.IntType | inspect.FloatType) -> str:
    low = f"{expected.ge:g} or more" if expected.ge is not None else ""
    low = f"more than {expected.gt:g}" if expected.gt is not None else low
    high = f"at most {expected.le:g}" if expected.le is not None else ""
    high = f"less than {expected.lt:g}" if expected.lt is not None else high
    bounds = " and ".join(bound for bound in (low, high) if bound)
    return f" ({bounds})" if bounds else ""
