"""The grammar of JSON (RFC 8259) as one iterative check, for texts that the fast library cannot answer.

It finds where a value ends, or where and why it breaks, without building it. Nothing here recurses, every regular
expression runs in time proportional to the text that it passes, and repetitions of groups are bounded because the
engine keeps a record for each of them.
"""

from __future__ import annotations

import re
from array import array
from typing import NamedTuple

import msgspec

MAX_DEPTH = 2_000_000
"""Levels of nesting that are followed; a text that nests deeper is refused."""

_SPACE = r"[ \t\n\r]*"
_PLAIN = r'[^"\\\x00-\x1f]'
_ESCAPE = r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})'
_STRING = rf'"{_PLAIN}*(?:{_ESCAPE}{_PLAIN}*){{0,64}}"'
_WHOLE = r"-?(?:0|[1-9][0-9]*)"
_SCALAR = rf"(?:{_STRING}|{_WHOLE}(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)"

_IS_SPACE = re.compile(_SPACE)
_IS_SCALAR = re.compile(_SCALAR)
_IS_COLON = re.compile(rf"{_SPACE}:{_SPACE}")
_STRING_PIECES = re.compile(rf"(?:{_PLAIN}+|{_ESCAPE}){{0,64}}")
_CUT_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")
_CUT_WORD = re.compile(r"(?:-|t|tr|tru|f|fa|fal|fals|n|nu|nul)\Z")
_CUT_NUMBER = re.compile(rf"{_WHOLE}(?:\.|(?:\.[0-9]+)?[eE][+-]?)\Z")

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,19}")

_OPENERS = ("[", "{")
_FOLLOWERS = (",", "]", "}")

# Runs of scalars that are each followed by a comma, and the scalar after them: most of what documents hold.
_ELEMENTS = re.compile(rf"{_SPACE}(?:{_SCALAR}{_SPACE},{_SPACE}){{0,200}}(?:(?P<scalar>{_SCALAR}){_SPACE})?")
_MEMBERS = re.compile(
    rf"{_SPACE}(?:{_STRING}{_SPACE}:{_SPACE}{_SCALAR}{_SPACE},{_SPACE}){{0,200}}"
    rf"(?:(?P<key>{_STRING}{_SPACE}:){_SPACE}(?:(?P<scalar>{_SCALAR}){_SPACE})?)?"
)


class NotJson(msgspec.Struct, frozen=True):
    """Why a text is not JSON: what is wrong, and the 0-based position where reading stopped."""

    message: str
    position: int
    truncated: bool = False
    """Whether the text was a valid beginning that just ends too early."""


class Walk(NamedTuple):
    """What one walk over an object or array saw, from its opener on.

    `end` is the position after the value, or the one where it broke. `closed` has the end of every object and
    array inside that is complete, by the position of its opener; `opened` the openers that still waited for their
    end. A value's fate depends only on the text from its opener on: whatever is in `opened` when the walk breaks,
    breaks at the same place by itself, and whatever is in `closed` is a complete value of its own.
    """

    end: int
    breach: NotJson | None
    closed: dict[int, int]
    opened: array[int]


def find_breach(text: str) -> NotJson | None:
    """Why a text as a whole is not one JSON value between optional white space; None if it is."""
    start = end_of_space(text, 0)
    if text[start : start + 1] in ("[", "{"):
        walk = walk_container(text, start)
        if walk.breach:
            return walk.breach
        end = walk.end
    else:
        scalar = end_of_scalar(text, start)
        if isinstance(scalar, NotJson):
            return scalar
        end = scalar
    end = end_of_space(text, end)
    if end < len(text):
        return _cut_number(text, start, end) or _unexpected(text, end, "the end of the text")
    return None


def walk_container(text: str, start: int) -> Walk:
    """Follow the object or array whose opener stands at `start` to its end or to the place where it breaks."""
    closed: dict[int, int] = {}
    opened = array("Q")
    position = start
    while len(opened) < MAX_DEPTH:
        is_object = text[position] == "{"
        opened.append(position)
        while text.startswith("[[", position) and len(opened) < MAX_DEPTH:  # saves time on hostile texts only
            position += 1
            opened.append(position)
        item: int | NotJson = _first_item(text, position + 1, is_object)
        while True:
            if isinstance(item, NotJson):
                return Walk(item.position, item, closed, opened)
            position = item
            if text.startswith(_OPENERS, position):
                break
            while text.startswith("}" if is_object else "]", position):
                position += 1
                closed[opened.pop()] = position
                if not opened:
                    return Walk(position, None, closed, opened)
                is_object = text[opened[-1]] == "{"
                position = end_of_space(text, position)
            if text.startswith(",", position):
                item = _next_item(text, position + 1, is_object)
            else:
                item = _unended(text, position, is_object)
    breach = NotJson(f"nested deeper than {MAX_DEPTH} levels", position)
    return Walk(position, breach, closed, opened)


def _first_item(text: str, position: int, is_object: bool) -> int | NotJson:
    """Like `_next_item`, right after an opener, where the container may end at once."""
    start = end_of_space(text, position)
    if text.startswith("}" if is_object else "]", start):
        return start
    item = _next_item(text, start, is_object)
    if isinstance(item, NotJson) and item.position == start:
        return _unexpected(text, start, "a key in double quotes or `}`" if is_object else "a value or `]`")
    return item


def _next_item(text: str, position: int, is_object: bool) -> int | NotJson:
    """Pass scalars, up to an opener or to what follows a scalar without a comma after it."""
    run = (_MEMBERS if is_object else _ELEMENTS).match(text, position)
    if run is None:  # never: both patterns match an empty text too
        return _unexpected(text, position, "a value")
    position = run.end()
    if is_object and run.lastindex is None:
        key_end = _end_of_key(text, position)
        if isinstance(key_end, NotJson):
            return key_end
        position = key_end
    if run.lastgroup == "scalar":
        start, end = run.span("scalar")
    elif text.startswith(_OPENERS, position):
        return position
    else:
        start, scalar = position, end_of_scalar(text, position)
        if isinstance(scalar, NotJson):
            return scalar
        end = scalar
        position = end_of_space(text, end)
    if text.startswith(_FOLLOWERS, position):
        return position
    return _cut_number(text, start, end) or _unended(text, position, is_object)


def end_of_space(text: str, position: int) -> int:
    """The position of the first character from `position` on that is not JSON white space."""
    return _end(_IS_SPACE, text, position)


def end_of_scalar(text: str, position: int) -> int | NotJson:
    """The position after the string, number, `true`, `false` or `null` that begins at `position`, or why none does."""
    scalar = _IS_SCALAR.match(text, position)
    if scalar:
        return scalar.end()
    if text.startswith('"', position):
        return _end_of_string(text, position)
    if _CUT_WORD.match(text, position):
        return NotJson("the text ends inside a value", len(text), truncated=True)
    return _unexpected(text, position, "a value")


def _end_of_string(text: str, position: int) -> int | NotJson:
    position += 1
    while (after := _end(_STRING_PIECES, text, position)) != position:
        position = after
    if text.startswith('"', position):
        return position + 1
    if position == len(text) or _CUT_ESCAPE.match(text, position):
        return NotJson("the text ends inside a string", len(text), truncated=True)
    if text[position] == "\\":
        return NotJson("invalid escape in a string", position)
    return NotJson(f"unescaped control character U+{ord(text[position]):04X} in a string", position)


def _end_of_key(text: str, position: int) -> int | NotJson:
    if not text.startswith('"', position):
        return _unexpected(text, position, "a key in double quotes")
    end = _end_of_string(text, position)
    if isinstance(end, NotJson):
        return end
    colon = _IS_COLON.match(text, end)
    return colon.end() if colon else _unexpected(text, end_of_space(text, end), "`:`")


def _cut_number(text: str, start: int, end: int) -> NotJson | None:
    """The breach of a number that the end of the text cut short, such as `1.` or `2e`."""
    if text.startswith((".", "e", "E"), end) and _CUT_NUMBER.match(text, start):
        return NotJson("the text ends inside a number", len(text), truncated=True)
    return None


def _unended(text: str, position: int, is_object: bool) -> NotJson:
    return _unexpected(text, position, "`,` or `}`" if is_object else "`,` or `]`")


def _unexpected(text: str, position: int, expected: str) -> NotJson:
    word = _WORD.match(text, position)
    found = word[0] if word else text[position : position + 1]
    if not found:
        return NotJson(f"the text ends where {expected} should follow", position, truncated=True)
    shown = f"`{found}`" if found.isprintable() else f"U+{ord(found):04X}"
    return NotJson(f"expected {expected}, found {shown}", position)


def _end(pattern: re.Pattern[str], text: str, position: int) -> int:
    """Where a pattern that also matches nothing ends."""
    match = pattern.match(text, position)
    return match.end() if match else position
