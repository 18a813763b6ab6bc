"""Strict JSON (RFC 8259) from text of any size, depth and number length."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import msgspec

_EXACT = msgspec.json.Decoder(float_hook=Decimal)


class NotJson(msgspec.Struct, frozen=True):
    """Why a text is not JSON: what is wrong, and the 0-based position where reading stopped."""

    message: str
    position: int
    truncated: bool = False
    """Whether the text was a valid beginning that just ends too early."""


def read_json(text: str, *, exact: bool = False) -> Any | NotJson:
    """The value of a text that is JSON as a whole (surrounding JSON white space allowed), or why it is none.

    With `exact`, numbers with a fraction or exponent are `Decimal`, else float.
    """
    try:
        return _EXACT.decode(text) if exact else msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError) as error:
        return NotJson(str(error), 0)


def compact_json(value: Any) -> str:
    """A JSON value as text without white space, keys in their order."""
    return msgspec.json.encode(value).decode()
