"""Strict JSON that a person wrote: values fast, duplicate keys and places where someone asks.

Values come from msgspec. What it does not see, a key given twice, shows in the number of colons: each key of the
text has one, so that a text whose value is written with fewer colons has lost a key. Escaped colons are counted
anew by the standard library's reader, which also finds the places of errors.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

import msgspec

from evenhand.config.yaml_reader import MAX_DEPTH
from evenhand.errors import DocumentPath
from evenhand.text.json_limits import MAX_DIGITS
from evenhand.text.surrogates import is_encodable

TOO_DEEP = f"values are nested too deeply (more than {MAX_DEPTH} levels)"

_decode = msgspec.json.decode
_encode = msgspec.json.encode
_SPACE = re.compile(r"[ \t\r\n]*")
_WORDS = {
    "Expecting value": "a value was expected",
    "Expecting property name enclosed in double quotes": "a key in double quotes was expected",
    "Expecting ':' delimiter": "a `:` was expected after the key",
    "Expecting ',' delimiter": "a `,` was expected, or the end of the list or object",
    "Extra data": "text follows after the end of the value",
    "Invalid control character at": "a control character stands unescaped in a text",
    "Unterminated string starting at": "a text is opened and never closed",
    "Invalid \\escape": "a backslash is followed by no valid escape",
    "Invalid \\uXXXX escape": "`\\u` is not followed by four hexadecimal digits",
}
_TRAILING_COMMA = "not valid JSON: a `,` stands before the end of the list or object"
_SURROGATE = "half of a surrogate pair is no character"


class BadJson(Exception):
    """Why a text cannot be used as JSON. `offset` counts characters from its start; `path` leads to the value."""

    def __init__(self, message: str, offset: int = 0, path: DocumentPath = (), hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.path = path
        self.hint = hint


class _Duplicate(Exception):
    """A key that an object gives twice."""


def decode_json(data: bytes) -> Any:
    """The value of a JSON text in UTF-8. Raises `BadJson` for anything but unambiguous JSON of sane depth."""
    try:
        value = _decode(data)
    except RecursionError:
        raise BadJson(TOO_DEEP) from None
    except (msgspec.MsgspecError, ValueError) as error:
        _refuse(data, str(error))
    if data.count(b"[") + data.count(b"{") > MAX_DEPTH:
        check_depth(value)
    if data.count(b":") != _encode(value).count(b":") or b"\\u003" in data:
        _refuse_duplicates(data.decode())
    return value


def check_depth(value: Any) -> None:
    """Raise `BadJson` for a value that is nested deeper than `MAX_DEPTH`."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(MAX_DEPTH + 2):
        if not level:
            return
        level = [item for holder in level for item in _items(holder) if isinstance(item, dict | list)]
    raise BadJson(TOO_DEEP)


def _items(holder: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return holder.values() if isinstance(holder, dict) else holder


def offset_of(text: str, path: DocumentPath, start: int = 0) -> int:
    """Where the value at `path`, or its nearest ancestor that exists, begins in a valid JSON text."""
    return _follow(text, path, start)[0]


def item_offsets(text: str, path: DocumentPath) -> list[int]:
    """Where each item of the list at `path` begins in a valid JSON text; none where there is no list."""
    place, steps = _follow(text, path, 0)
    is_list = steps == len(path) and text[place] == "["
    return [at for _, _, at in _entries(text, place)] if is_list else []


def _follow(text: str, path: DocumentPath, start: int) -> tuple[int, int]:
    """The place that a path leads to, and how many of its steps could be followed."""
    place = _skip(text, start)
    for steps, step in enumerate(path):
        found = next((at for key, _, at in _entries(text, place) if key == step), None)
        if found is None:
            return place, steps
        place = found
    return place, len(path)


def _entries(text: str, place: int) -> Iterator[tuple[str | int, int, int]]:
    """Each item of the object or list at `place`: its key or index, where the key and where the value begins."""
    kind = text[place]
    if kind not in "{[":
        return
    at, index = _skip(text, place + 1), 0
    while text[at] not in "}]":
        key: str | int = index
        value = at
        if kind == "{":
            key, end = _scan(text, at)
            value = _skip(text, _skip(text, end) + 1)
        yield key, at, value
        at = _skip(text, _scan(text, value)[1])
        index += 1
        if text[at] == ",":
            at = _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _scan(text: str, place: int) -> tuple[Any, int]:
    """The value that begins at `place`, and where it ends."""
    return _LENIENT.raw_decode(text, place)


def _refuse_duplicates(text: str) -> None:
    try:
        _PAIRS.decode(text)
    except _Duplicate:
        _inspect(text, _skip(text, 0), ())


def _refuse(data: bytes, found: str) -> NoReturn:
    """Raise what is wrong with bytes that the fast reader refused, saying `found`."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        offset = len(data[: error.start].decode(errors="replace"))
        found = f"the text is not UTF-8, found byte 0x{data[error.start]:02x}"
        raise BadJson(found, offset, hint="save it as UTF-8") from None
    try:
        check_depth(_LENIENT.decode(text))
    except json.JSONDecodeError as error:
        raise _syntax_error(text, error) from None
    except RecursionError:
        raise BadJson(TOO_DEEP) from None
    _inspect(text, _skip(text, 0), ())
    raise BadJson(f"not usable as JSON: {found}")


def _syntax_error(text: str, error: json.JSONDecodeError) -> BadJson:
    # Python 3.13 says this of the comma, earlier ones miss a value behind it.
    before = text[: error.pos].rstrip(" \t\r\n")
    if text[error.pos : error.pos + 1] in ("]", "}") and before.endswith(","):
        return BadJson(_TRAILING_COMMA, len(before) - 1, hint="remove it")
    if error.msg.startswith("Illegal trailing comma"):
        return BadJson(_TRAILING_COMMA, error.pos, hint="remove it")
    return BadJson(f"not valid JSON: {_WORDS.get(error.msg, error.msg)}", error.pos)


def _inspect(text: str, place: int, path: DocumentPath) -> None:
    """Raise the first thing in a readable text that JSON, or this tool, does not allow."""
    if text[place] not in "{[":
        _inspect_scalar(text, place, path)
    seen: set[str | int] = set()
    for key, at, value in _entries(text, place):
        inner = (*path, key)
        if key in seen:
            raise BadJson(f"key {key!r} is given twice", at, inner, "keep one of them")
        seen.add(key)
        if isinstance(key, str) and not is_encodable(key):
            raise BadJson(_SURROGATE, at, path)
        _inspect(text, value, inner)


def _inspect_scalar(text: str, place: int, path: DocumentPath) -> None:
    value, end = _scan(text, place)
    written = text[place:end]
    if isinstance(value, float):
        raise BadJson(f"not valid JSON: `{written}` is no JSON value", place, path, "write null, or a text")
    if text[place] == '"':
        if not is_encodable(value):
            raise BadJson(_SURROGATE, place, path, "write both halves, or the character itself")
    elif isinstance(value, str) and (len(written) > MAX_DIGITS or math.isinf(float(written))):
        raise BadJson(f"the number is out of range, found {written[:40]}", place, path, "quote it")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> None:
    if len(dict(pairs)) != len(pairs):
        raise _Duplicate


_PAIRS = json.JSONDecoder(object_pairs_hook=_without_duplicates)
# Numbers stay text, however long they are; only the names that JSON does not have become floats.
_LENIENT = json.JSONDecoder(parse_int=str, parse_float=str)
