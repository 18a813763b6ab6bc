"""What a declared class says about itself: the source of the reference and of `evenhand list assertions`."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple, Union

import msgspec

from evenhand.template import Val


class Option(NamedTuple):
    """One option of a declared class, in words."""

    name: str
    type: str
    default: str
    """The default as it would be written in a suite; `required` where there is none, empty where it is unset."""
    description: str


def options_of(cls: type[msgspec.Struct]) -> list[Option]:
    """The options of a class in the order in which a reader wants them: its own first, the most widely shared last."""
    hints = typing.get_type_hints(cls, include_extras=True)
    distance = {
        name: place
        for place, base in enumerate(cls.__mro__)
        if issubclass(base, msgspec.Struct) and base is not msgspec.Struct
        for name in base.__struct_fields__
    }
    fields = sorted(msgspec.structs.fields(cls), key=lambda field: distance[field.name])
    return [
        Option(
            name=field.encode_name,
            type=type_in_words(hints[field.name]),
            default=_default(field),
            description=_description(hints[field.name]),
        )
        for field in fields
    ]


def summary_of(cls: type) -> str:
    """The first paragraph of a class's docstring, on one line."""
    return " ".join((inspect.getdoc(cls) or "").split("\n\n", 1)[0].split())


def details_of(cls: type) -> str:
    """What a class's docstring says after its first paragraph."""
    _, _, rest = (inspect.getdoc(cls) or "").partition("\n\n")
    return rest.strip()


def type_in_words(hint: Any) -> str:
    """A type as a reader of the reference knows it: `text`, `number`, `list of text`, `i or m`."""
    origin = typing.get_origin(hint)
    if origin is Annotated:
        return type_in_words(typing.get_args(hint)[0])
    arguments = typing.get_args(hint)
    if origin in (Union, types.UnionType):
        return " or ".join(type_in_words(part) for part in arguments if part is not type(None))
    if origin is Literal:
        return " or ".join(f"`{value}`" for value in arguments)
    if origin in (list, tuple):
        return f"list of {type_in_words(arguments[0])}"
    if origin in (dict, Mapping) or hint is dict or inspect.isabstract(origin):
        return "mapping"
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return "mapping"
    return _PLAIN.get(hint, "any value")


_PLAIN: dict[Any, str] = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    Val: "value, may hold templates",
}


def _default(field: msgspec.structs.FieldInfo) -> str:
    if field.required:
        return "required"
    value = field.default if field.default is not msgspec.NODEFAULT else field.default_factory()
    if value is None or value == () or value == {} or value == "":
        return ""
    return msgspec.json.encode(value).decode()


def _description(hint: Any) -> str:
    if typing.get_origin(hint) is Annotated:
        for extra in typing.get_args(hint)[1:]:
            if isinstance(extra, msgspec.Meta) and extra.description:
                return " ".join(extra.description.split())
        return _description(typing.get_args(hint)[0])
    return next((text for part in typing.get_args(hint) if (text := _description(part))), "")
