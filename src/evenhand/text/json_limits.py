"""What a library that is not ours takes of a JSON value: checked here first, since beyond it some crash or err."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

from evenhand.text.surrogates import is_encodable

MAX_DIGITS = 4_000
"""Digits of a number. From 4,300 on Python itself refuses to write an integer out."""

_MAX_INTEGER = 10**MAX_DIGITS
_SMALL = 2**63


class UnsupportedValue(ValueError):
    """A value that only our own readers and comparisons handle."""


def depth_of(value: Any, max_depth: int) -> int:
    """The levels of lists and objects in a value; 0 for a scalar. Never recurses.

    Raises `UnsupportedValue` where there are more than `max_depth`, and for unpaired surrogates, numbers that are
    not finite or longer than `MAX_DIGITS`, and whatever is no JSON at all.
    """
    level = [value]
    depth = -1
    while level:
        depth += 1
        if depth > max_depth:
            raise UnsupportedValue(f"it has more than {max_depth} levels of lists and objects")
        level = _level_below(level)
    return depth


def _level_below(level: list[Any]) -> list[Any]:
    below: list[Any] = []
    for item in level:
        kind = type(item)
        if kind is str:
            if not item.isascii():
                _check_text(item)
        elif kind is dict:
            for key in item:
                if type(key) is not str or not key.isascii():
                    _check_text(key)
            below.extend(item.values())
        elif kind is list or kind is tuple:
            below.extend(item)
        elif kind is int:
            if not -_SMALL < item < _SMALL:
                _check_number(item)
        elif kind is not bool and item is not None:
            _check_number(item)
    return below


def _check_text(text: object) -> None:
    if not isinstance(text, str):
        raise UnsupportedValue(f"it has a key that is no text, {text!r}")
    if not is_encodable(text):
        raise UnsupportedValue("it has an unpaired surrogate in a text")


def _check_number(item: object) -> None:
    if isinstance(item, int):
        is_supported = -_MAX_INTEGER < item < _MAX_INTEGER
    elif isinstance(item, float):
        is_supported = math.isfinite(item)
    elif isinstance(item, Decimal):
        is_supported = item.is_finite() and len(item.as_tuple().digits) <= MAX_DIGITS
    else:
        raise UnsupportedValue(f"it holds a {type(item).__name__}, which is no JSON value")
    if not is_supported:
        raise UnsupportedValue(f"it has a number that is not finite or longer than {MAX_DIGITS:,} digits")
