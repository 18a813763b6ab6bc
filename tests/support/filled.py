"""Values of a type in which every field of every struct says something, so that no reader can lose one unnoticed."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from msgspec import inspect

T = TypeVar("T")

_SCALARS: dict[type, Any] = {inspect.BoolType: True, inspect.IntType: 3, inspect.FloatType: 0.25}


def filled(kind: type[T], **fields: Any) -> T:
    """A struct with a value in every field; `fields` are taken as they are."""
    return msgspec.convert({**_struct(inspect.type_info(kind)), **msgspec.to_builtins(fields)}, kind)


def _struct(info: Any) -> dict[str, Any]:
    return {field.encode_name: _value(field.type, field.encode_name) for field in info.fields}


def _value(info: Any, name: str) -> Any:
    """A JSON value of a type that is no default; `name` is that of the field."""
    if type(info) in _SCALARS:
        return _SCALARS[type(info)]
    match info:
        case inspect.UnionType():
            return _value(next(each for each in info.types if not isinstance(each, inspect.NoneType)), name)
        case inspect.StructType():
            return _struct(info)
        case inspect.EnumType():
            return list(info.cls)[-1].value
        case inspect.LiteralType():
            return info.values[-1]
        case inspect.StrType():
            return f"the {name} ✓"
        case inspect.DictType():
            return {"a key": _value(info.value_type, name)}
        case inspect.ListType() | inspect.VarTupleType():
            return [_value(info.item_type, name)]
        case inspect.TupleType():
            return [_value(each, name) for each in info.item_types]
        case inspect.AnyType():
            return {"any": [name, 1, 0.5, None, True]}
    raise NotImplementedError(f"a value of {info} for the field {name!r}")
