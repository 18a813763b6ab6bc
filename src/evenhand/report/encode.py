"""Run documents as JSON text, whatever a model or a program put into them.

The fast encoder does nearly all the work. It refuses unpaired surrogates and very deep values, which are JSON all
the same: those documents take the slow, iterative writer below.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import msgspec

_SEPARATORS = (("\u2028", "\\u2028"), ("\u2029", "\\u2029"), ("\x85", "\\u0085"))
"""Characters that are legal inside JSON strings but that many line readers take for the end of a line."""


def json_line(value: Any) -> str:
    """A value as compact JSON on one line of valid UTF-8, without line break at its end.

    Structs leave out fields at their defaults as they declare; NaN and infinity become null.
    """
    try:
        text = _FAST.encode(value).decode()
    except (UnicodeEncodeError, RecursionError, TypeError, ValueError):
        text = "".join(_pieces(value))
    if not text.isascii():
        for character, escape in _SEPARATORS:
            text = text.replace(character, escape)
    return text


def _plain(value: Any) -> Any:
    from evenhand.template import Val

    return value.authored if isinstance(value, Val) else str(value)


_FAST = msgspec.json.Encoder(enc_hook=_plain)


def _pieces(value: Any) -> Iterator[str]:
    """The JSON text of a value, piece by piece and without recursion: `pending` is a stack of values and text."""
    pending: list[Any] = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, _Text):
            yield item
        elif isinstance(item, msgspec.Struct):
            pending.append(_fields(item))
        elif isinstance(item, dict):
            members: list[Any] = []
            for key, member in item.items():
                members += [_Text(f"{',' if members else ''}{json.dumps(str(key))}:"), member]
            pending += reversed([_Text("{"), *members, _Text("}")])
        elif isinstance(item, (list, tuple, set, frozenset)):
            elements: list[Any] = []
            for element in item:
                elements += [_Text(","), element] if elements else [element]
            pending += reversed([_Text("["), *elements, _Text("]")])
        else:
            yield _scalar(item)


class _Text(str):
    """JSON text that is finished, as opposed to a string value."""

    __slots__ = ()


def _fields(struct: msgspec.Struct) -> dict[str, Any]:
    config = struct.__struct_config__
    fields = {} if config.tag is None else {str(config.tag_field): config.tag}
    for field in msgspec.structs.fields(struct):
        value = getattr(struct, field.name)
        if config.omit_defaults and _is_default(field, value):
            continue
        fields[field.encode_name] = value
    return fields


def _is_default(field: msgspec.structs.FieldInfo, value: Any) -> bool:
    if field.default is not msgspec.NODEFAULT:
        return value is field.default
    return field.default_factory in (dict, list, set) and not value


def _scalar(value: Any) -> str:
    if value is None or isinstance(value, (bool, str)):
        # `json.dumps` writes an enum of text as its value and an unpaired surrogate as an escape.
        return json.dumps(value)
    if isinstance(value, float):
        return json.dumps(value) if math.isfinite(value) else "null"
    if isinstance(value, int):
        # Python limits the digits that `str(int)` writes; Decimal does not.
        return str(Decimal(int(value)))
    try:
        return _FAST.encode(value).decode()
    except (msgspec.MsgspecError, TypeError, ValueError):
        return json.dumps(str(value))
