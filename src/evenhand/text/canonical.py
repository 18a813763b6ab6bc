"""JSON in one form only, so that equal values make equal texts."""

from __future__ import annotations

from typing import Any

import msgspec

from evenhand.text.json_reader import compact_json

_ENCODER = msgspec.json.Encoder(order="sorted", decimal_format="number")


def canonical(value: Any) -> bytes:
    """A JSON value as text in one form: sorted keys, no white space."""
    try:
        return _ENCODER.encode(value)
    except (UnicodeEncodeError, ValueError, RecursionError, OverflowError):
        return compact_json(_sorted(value)).encode("utf-8", "surrogatepass")


def _sorted(value: Any) -> Any:
    """A copy of a value with the keys of every object in order, however deep it is."""
    root: list[Any] = [None]
    waiting: list[tuple[Any, Any, Any]] = [(root, 0, value)]
    while waiting:
        target, place, item = waiting.pop()
        if isinstance(item, msgspec.Struct):
            item = msgspec.structs.asdict(item)
        if isinstance(item, dict):
            target[place] = made = dict.fromkeys(sorted(item))
            waiting.extend((made, key, inner) for key, inner in item.items())
        elif isinstance(item, (list, tuple)):
            target[place] = copied = [None] * len(item)
            waiting.extend((copied, index, inner) for index, inner in enumerate(item))
        else:
            target[place] = item
    return root[0]
