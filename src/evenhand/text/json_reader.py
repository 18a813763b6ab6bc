"""Strict JSON (RFC 8259) from text of any size, depth and number length, and back.

A fast library goes first. What it refuses although it is JSON (escaped lone surrogates, numbers beyond a float,
integers of thousands of digits, deep nesting) is read and written here, without recursion.
"""

from __future__ import annotations

import decimal
import json
import math
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import msgspec

from evenhand.text.json_syntax import NotJson, end_of_scalar, find_breach

__all__ = ["NotJson", "compact_json", "read_json", "value_at"]

_EXACT = msgspec.json.Decoder(float_hook=Decimal)
_ENCODER = msgspec.json.Encoder(decimal_format="number")

_REFUSALS = (msgspec.MsgspecError, ValueError, ArithmeticError, RecursionError)
"""What the library raises for what it cannot handle, valid JSON included."""

_MAX_INT_TOKEN = 4_300
"""Characters up to which a number becomes an int; the time for more would grow with their square."""

_WORDS = {"true": True, "false": False, "null": None}
_PUNCTUATION = re.compile(r"[ \t\n\r,:]*")
_SURROGATE = re.compile("[\ud800-\udfff]")


def read_json(text: str, *, exact: bool = False) -> Any | NotJson:
    """The value of a text that is JSON as a whole (surrounding JSON white space allowed), or why it is none.

    Numbers without fraction and exponent are `int`, others float, with `exact` `Decimal`. What an int or float
    cannot hold (thousands of digits, `1e400`) is `Decimal` either way. The last of equal keys counts.
    """
    try:
        return _EXACT.decode(text) if exact else msgspec.json.decode(text)
    except _REFUSALS:
        breach = find_breach(text)
    return breach or _built(text, exact)


def value_at(text: str, position: int) -> tuple[Any, int] | None:
    """The JSON value that begins at `position` and where it ends; None if there is none that is quick to read.

    Numbers as `read_json` reads them. Reads at most to the first character that is wrong.
    """
    try:
        return _DECODER.raw_decode(text, position)
    except _REFUSALS:
        return None


def compact_json(value: Any) -> str:
    """A JSON value as text without white space, keys in their order. NaN and infinity become `null`.

    Raises `TypeError` for what is no JSON value, `ValueError` for a value that holds itself.
    """
    try:
        return _ENCODER.encode(value).decode()
    except _REFUSALS:
        return "".join(_pieces(value))


def _fraction(token: str) -> float | Decimal:
    """The number of a JSON token with a fraction or exponent; `Decimal` where a float would be infinite."""
    number = float(token)
    return number if math.isfinite(number) else _decimal(token)


def _whole(token: str) -> int | Decimal:
    """The number of a JSON token without fraction and exponent; `Decimal` where it has too many digits for int."""
    try:
        return int(token) if len(token) <= _MAX_INT_TOKEN else Decimal(token)
    except ValueError:  # the interpreter may be told to convert fewer digits
        return Decimal(token)


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def _decimal(token: str) -> Decimal:
    """The exact number. An exponent of 19 digits and more is taken at the limit of `Decimal`."""
    try:
        return Decimal(token)
    except decimal.InvalidOperation:
        digits, _, exponent = token.lower().partition("e")
        sign = "-" if token.startswith("-") else ""
        if not digits.strip("-0."):
            return Decimal(sign + "0")
        limit = f"1E-{decimal.MAX_EMAX}" if exponent.startswith("-") else f"9E+{decimal.MAX_EMAX}"
        return Decimal(sign + limit)


_DECODER = json.JSONDecoder(parse_float=_fraction, parse_constant=_refuse)
_EXACT_DECODER = json.JSONDecoder(parse_float=Decimal, parse_constant=_refuse)


def _built(text: str, exact: bool) -> Any:
    """The value of a text that is known to be JSON."""
    try:
        return (_EXACT_DECODER if exact else _DECODER).decode(text)
    except _REFUSALS:
        return _built_without_recursion(text, exact)


def _built_without_recursion(text: str, exact: bool) -> Any:
    top: list[Any] = []
    around: list[list[Any] | dict[str, Any]] = []
    inside: list[Any] | dict[str, Any] = top
    key: str | None = None
    position = 0
    while (position := _after_punctuation(text, position)) < len(text):
        if text[position] in "]}":
            inside = around.pop()
            position += 1
            continue
        value, position = _value_at(text, position, exact)
        if isinstance(inside, list):
            inside.append(value)
        elif key is None:
            key = value
            continue
        else:
            inside[key] = value
            key = None
        if isinstance(value, (list, dict)):
            around.append(inside)
            inside = value
    return top[0]


def _value_at(text: str, position: int, exact: bool) -> tuple[Any, int]:
    """A scalar with the position after it, or an empty container with the position after its opener."""
    if text[position] in "[{":
        return [] if text[position] == "[" else {}, position + 1
    end = end_of_scalar(text, position)
    if isinstance(end, NotJson):
        raise ValueError(end.message)  # noqa: TRY004  (the text is not what the caller promised)
    token = text[position:end]
    if token in _WORDS:
        return _WORDS[token], end
    if token.startswith('"'):
        return json.loads(token), end
    if token.lstrip("-").isdigit():
        return _whole(token), end
    return _decimal(token) if exact else _fraction(token), end


def _after_punctuation(text: str, position: int) -> int:
    skipped = _PUNCTUATION.match(text, position)
    return skipped.end() if skipped else position


def _pieces(value: Any) -> Iterator[str]:
    """The text of a JSON value in pieces, without recursion."""
    open_containers: list[tuple[Iterator[tuple[str, Any]], str, int]] = [(iter([("", value)]), "", 0)]
    open_ids: set[int] = set()
    while open_containers:
        members, closer, identity = open_containers[-1]
        for prefix, item in members:
            yield prefix
            if isinstance(item, (dict, list, tuple)):
                if id(item) in open_ids:
                    raise ValueError("a value holds itself")
                opener, closer = "{}" if isinstance(item, dict) else "[]"
                yield opener
                open_ids.add(id(item))
                open_containers.append((_members(item), closer, id(item)))
                break
            yield _scalar_text(item)
        else:
            yield closer
            open_containers.pop()
            open_ids.discard(identity)


def _members(container: dict[Any, Any] | list[Any] | tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    """The items of a container, each with the text that stands before it."""
    separator = ""
    if isinstance(container, dict):
        for key, item in container.items():
            name = _scalar_text(key)
            yield f"{separator}{name}:" if name.startswith('"') else f'{separator}"{name}":', item
            separator = ","
    else:
        for item in container:
            yield separator, item
            separator = ","


def _scalar_text(value: Any) -> str:
    try:
        return _ENCODER.encode(value).decode()
    except UnicodeEncodeError:
        text = json.dumps(value, ensure_ascii=False)
        return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    except ValueError:
        # An int with more digits than Python writes, or a Decimal that is no number.
        number = Decimal(value)
        return str(number) if number.is_finite() else "null"
