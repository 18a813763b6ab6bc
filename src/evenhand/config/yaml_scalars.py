"""Plain scalars by the core schema of YAML 1.2, section 10.3.2.

Two differences, both so that what a person wrote reaches the model unchanged: integers with a leading zero stay
text (`007`), and numbers that are not finite are refused.
"""

from __future__ import annotations

import math
import re

from evenhand.text.json_limits import MAX_DIGITS

_CONSTANTS: dict[str, bool | None] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_FIRST_CHARACTERS = frozenset("~nNtTfF0123456789+-.")
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


class BadScalar(ValueError):
    """A scalar that has no JSON value; the message says why, `hint` what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def plain_scalar(text: str) -> str | int | float | bool | None:
    """The value of a scalar that was written without quotes. Raises `BadScalar`."""
    if text and text[0] not in _FIRST_CHARACTERS:
        return text
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    return _number(text)


def _number(text: str) -> str | int | float:
    if _INTEGER.fullmatch(text):
        return _integer(text, 10)
    if _LEADING_ZERO.fullmatch(text):
        return text
    if _FLOAT.fullmatch(text):
        return _float(text)
    if _OCTAL.fullmatch(text):
        return _integer(text[2:], 8)
    if _HEXADECIMAL.fullmatch(text):
        return _integer(text[2:], 16)
    if _NOT_FINITE.fullmatch(text):
        raise BadScalar(f"a number must be finite, found `{text}`", "quote it if text is meant")
    return text


def _integer(digits: str, base: int) -> int:
    if len(digits) > MAX_DIGITS:
        raise BadScalar(
            f"an integer of {len(digits):,} digits is too long (at most {MAX_DIGITS:,})",
            "quote it if text is meant",
        )
    return int(digits, base)


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        shown = text if len(text) <= 40 else f"{text[:40]}…"
        raise BadScalar(f"the number `{shown}` is out of range", "quote it if text is meant")
    return value
