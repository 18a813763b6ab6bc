"""JSON-like values as structs, with every problem of a value named in plain words.

Conversion comes first and is fast; only a value that does not fit is walked again, field by field, so that all of
its problems are found at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from evenhand.config.expected_type import accepts, is_container, named, pruned
from evenhand.config.findings import Place
from evenhand.config.other_words import hint_for_key
from evenhand.config.wording import found, in_words
from evenhand.errors import TemplateError
from evenhand.registry import nearest
from evenhand.template import Val

S = TypeVar("S", bound=msgspec.Struct)

UNFIT = (msgspec.ValidationError, OverflowError, RecursionError)
"""What conversion raises for a value that is not of the wanted type."""


def convert(value: Any, cls: type[S]) -> S:
    """The value as a struct of `cls`. Raises one of `UNFIT` at the first thing that does not fit."""
    return msgspec.convert(value, cls, dec_hook=_custom)


def decode(cls: type[S], value: Any, place: Place) -> S | None:
    """The value as a struct of `cls`; None after reporting everything that keeps it from being one."""
    try:
        return convert(value, cls)
    except UNFIT as error:
        before = place.findings.problem_count
        _explain(struct_type(cls), value, place)
        if place.findings.problem_count == before:
            place.report(str(error))
        return None


def decode_partly(cls: type[S], value: Any, place: Place) -> S | None:
    """Like `decode`, but keys that are wrong are left out, so that the others can be checked further.

    None only where nothing can be made of the value. The result serves to find more problems, never to run.
    """
    whole = decode(cls, value, place)
    if whole is not None or not isinstance(value, dict):
        return whole
    try:
        return convert(pruned(struct_type(cls), value), cls)
    except UNFIT:
        return None


def _report_unknown_key(key: str, expected: inspect.StructType, known: Iterable[str], place: Place) -> None:
    """Say that a mapping has a key that it cannot have, with the place or name that was meant."""
    names = sorted(known)
    close = nearest(key, names)
    owner = expected.tag if isinstance(expected.tag, str) else expected.cls.__name__
    hint = hint_for_key(key, owner) or (
        f"did you mean {close!r}?" if close else f"it takes {in_words(names)}"
    )
    place.report_key(key, f"unknown key {key!r}", hint)


@cache
def struct_type(cls: type[msgspec.Struct]) -> inspect.StructType:
    """The declared fields of a struct."""
    described = inspect.type_info(cls)
    if not isinstance(described, inspect.StructType):
        raise TypeError(f"{cls.__name__} is not a struct")
    return described


def _custom(cls: type, value: Any) -> Any:
    if cls is Val:
        try:
            return Val(value)
        except TemplateError as error:
            raise ValueError(error.message) from None
    raise NotImplementedError(f"no conversion to {cls.__name__}")


def _explain(expected: inspect.Type, value: Any, place: Place) -> None:
    """Report everything that is wrong with a value."""
    match expected:
        case inspect.Metadata():
            _explain(expected.type, value, place)
        case inspect.UnionType():
            _explain_union(expected, value, place)
        case inspect.StructType() if isinstance(value, dict):
            _explain_struct(expected, value, place)
        case inspect.DictType() if isinstance(value, dict):
            for key, item in value.items():
                _explain(expected.value_type, item, place.inside(key))
        case inspect.ListType() | inspect.VarTupleType() if isinstance(value, (list, tuple)) and value:
            for index, item in enumerate(value):
                _explain(expected.item_type, item, place.inside(index))
        case _ if not accepts(expected, value):
            place.report(f"expected {named(expected)}, found {found(value)}", _hint(expected, value))


def _hint(expected: inspect.Type, value: Any) -> str:
    """What a person who wrote that most likely meant."""
    if isinstance(expected, (inspect.ListType, inspect.VarTupleType)):
        return _list_hint(expected.item_type, value)
    if isinstance(expected, inspect.StrType):
        return "write it in quotes" if isinstance(value, (bool, int, float)) else ""
    if not isinstance(value, str):
        return ""
    if isinstance(expected, inspect.StructType):
        keys = [f"`{field.encode_name}`" for field in expected.fields if field.required]
        return f"write its keys, {in_words(keys)} among them" if keys else ""
    if isinstance(expected, (inspect.IntType, inspect.FloatType, inspect.BoolType)):
        return "write it without quotes" if accepts(expected, _as_scalar(value)) else ""
    words = [str(word) for word in expected.values] if isinstance(expected, inspect.LiteralType) else []
    close = nearest(value, words)
    return f"did you mean {close!r}?" if close else ""


def _list_hint(item: inspect.Type, value: Any) -> str:
    if isinstance(value, dict):
        return "write a list: each item begins with `- `" if value else ""
    if not isinstance(value, str):
        return ""
    words = value.split() if isinstance(_bare(item), inspect.StrType) else []
    return f"write `[{', '.join(words)}]`" if len(words) > 1 else "write a list, even of one item"


def _as_scalar(text: str) -> Any:
    """The number or truth value that a text would be without its quotes, None where it would be neither."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None


def _explain_union(expected: inspect.UnionType, value: Any, place: Place) -> None:
    alike = [member for member in expected.types if is_container(member, value)]
    if len(alike) == 1:
        _explain(alike[0], value, place)
    elif not accepts(expected, value):
        place.report(f"expected {named(expected)}, found {found(value)}", _hint_of_union(expected, value))


def _hint_of_union(expected: inspect.UnionType, value: Any) -> str:
    """The hint for the one type besides null that the value could have been meant as."""
    members = [member for member in expected.types if not isinstance(member, inspect.NoneType)]
    return _hint(_bare(members[0]), value) if len(members) == 1 else ""


def _bare(expected: inspect.Type) -> inspect.Type:
    return _bare(expected.type) if isinstance(expected, inspect.Metadata) else expected


def _explain_struct(expected: inspect.StructType, value: dict[str, Any], place: Place) -> None:
    fields = {field.encode_name: field for field in expected.fields}
    for key, item in value.items():
        if key in fields:
            _explain(fields[key].type, item, place.inside(key))
        elif key != expected.tag_field:
            _report_unknown_key(key, expected, fields, place)
    for name, field in fields.items():
        if field.required and name not in value:
            place.report(f"key {name!r} is missing", _purpose(field))


def _purpose(field: inspect.Field) -> str:
    """The first sentence of a field's description, as it can follow a semicolon."""
    extra = field.type.extra_json_schema if isinstance(field.type, inspect.Metadata) else None
    sentence = str((extra or {}).get("description", "")).partition(". ")[0].rstrip(".")
    return sentence[:1].lower() + sentence[1:]
