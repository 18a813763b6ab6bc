"""Values on their way to a script, without loss: text as it is, the rest as JSON text and what JSON cannot hold."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import msgspec

from evenhand.scripts.batch import Given
from evenhand.template.display import integer_text
from evenhand.text.json_reader import compact_json

LARGEST_EXACT_INTEGER = 2**53 - 1
"""Beyond it, numbers of JavaScript skip integers: larger ones cross as BigInt."""

NOTHING = Given()


def given(value: Any) -> Given:
    """A value for a worker."""
    if type(value) is str:
        # Unpaired surrogates have no place in UTF-8; in JSON they are escapes.
        return Given(value, is_text=True) if _is_encodable(value) else Given(compact_json(value))
    specials = _specials(value)
    try:
        text = _encode(value).decode()
    except (UnicodeEncodeError, OverflowError, ValueError, TypeError, RecursionError):
        text = compact_json(value)
    return Given(text, specials=compact_json(specials) if specials else "")


_encode = msgspec.json.Encoder(decimal_format="number").encode


def _is_encodable(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _specials(value: Any) -> list[list[Any]]:
    """Every number that JSON or JavaScript's numbers cannot hold, as [path, type, text]."""
    found: list[list[Any]] = []
    waiting: list[tuple[Any, tuple[str | int, ...]]] = [(value, ())]
    while waiting:
        item, path = waiting.pop()
        kind = type(item)
        if kind is dict:
            waiting += [(inner, (*path, key)) for key, inner in item.items() if type(inner) is not str]
        elif kind is list or kind is tuple:
            waiting += [(inner, (*path, index)) for index, inner in enumerate(item) if type(inner) is not str]
        elif kind is int and not -LARGEST_EXACT_INTEGER <= item <= LARGEST_EXACT_INTEGER:
            found.append([list(path), "bigint", integer_text(item)])
        elif kind is Decimal:
            # A whole number of more digits than an int is read with, or a number beyond a float.
            is_whole = item.as_tuple().exponent == 0
            found.append([list(path), "bigint" if is_whole else "number", str(item)])
        elif kind is float and not math.isfinite(item):
            found.append(
                [list(path), "number", "NaN" if item != item else "Infinity" if item > 0 else "-Infinity"]
            )
    return found
