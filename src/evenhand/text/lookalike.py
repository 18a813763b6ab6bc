"""Texts that look the same and are not: another Unicode normalization, invisible characters.

Nothing here changes a verdict. It explains a failure that a reader could not see, and runs only once there is one.
Every step takes time proportional to the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from evenhand.text.excerpt import QUOTE_LENGTH, SPACES, WITHOUT_WIDTH, quoted

_SPACE = re.compile(f"[{SPACES}]")
_WITHOUT_WIDTH = re.compile(f"[{WITHOUT_WIDTH}]")

MAX_MARKS = 30
"""Combining marks in a row up to which a text is normalized (UAX #15 calls such texts stream-safe).

The standard library sorts marks in time that grows with the square of their number.
"""

INVISIBLE = "invisible characters"
NORMALIZATION = "Unicode normalization"
BOTH = f"{NORMALIZATION} and {INVISIBLE}"


class Lookalike(NamedTuple):
    """A place in a text that looks like what was searched: `text[start:end]`, or somewhere where both are None."""

    differs_by: str
    start: int | None = None
    end: int | None = None


def difference_hint(needle: str, haystack: str) -> str:
    r"""What a text holds that only looks like `needle`, such as `it holds "12\u00a0kg" at character 9, which …`.

    Empty where it holds nothing of the kind. For texts that do not contain the needle.
    """
    found = find_lookalike(needle, haystack)
    return described(found, haystack) if found else ""


def described(found: Lookalike, text: str) -> str:
    """A lookalike in words, with what could not be seen spelled out."""
    if found.start is None:
        return f"it holds a text that differs only by {found.differs_by}"
    spelled = spelled_out(text[found.start : found.end])
    return f"it holds {spelled} at character {found.start + 1}, which differs only by {found.differs_by}"


def find_lookalike(needle: str, haystack: str) -> Lookalike | None:
    """The first place of a text that looks like `needle` without being equal to it."""
    if needle.isascii() and haystack.isascii():
        return None
    visible_needle, visible_haystack = _visible(needle), _visible(haystack)
    if not visible_needle.strip():
        return None
    start = visible_haystack.find(visible_needle)
    if start >= 0:
        return _place(INVISIBLE, haystack, start, start + len(visible_needle))
    if not (_is_safe_to_normalize(needle) and _is_safe_to_normalize(haystack)):
        return None
    for form in ("NFC", "NFD"):
        variant = unicodedata.normalize(form, needle)
        start = haystack.find(variant)
        if start >= 0:
            return Lookalike(NORMALIZATION, start, start + len(variant))
    if _normalized(needle) in _normalized(haystack):
        return Lookalike(NORMALIZATION)
    if _normalized(visible_needle) in _normalized(visible_haystack):
        return Lookalike(BOTH)
    return None


def likeness(a: str, b: str) -> str:
    """What two different texts that look the same as wholes differ by; empty where they look different."""
    if a.isascii() and b.isascii():
        return ""
    visible_a, visible_b = _visible(a), _visible(b)
    if visible_a == visible_b:
        return INVISIBLE
    if not (_is_safe_to_normalize(a) and _is_safe_to_normalize(b)):
        return ""
    if _normalized(a) == _normalized(b):
        return NORMALIZATION
    return BOTH if _normalized(visible_a) == _normalized(visible_b) else ""


def spelled_out(text: str) -> str:
    """The text quoted, with composed and combining characters written as escapes besides the invisible ones."""
    cut = text if len(text) <= QUOTE_LENGTH else text[:QUOTE_LENGTH]
    pieces = [f"\\u{ord(c):04x}" if _can_be_respelled(c) else quoted(c)[1:-1] for c in cut]
    return f'"{"".join(pieces)}"' + ("…" if len(cut) < len(text) else "")


def _can_be_respelled(character: str) -> bool:
    return character <= "\uffff" and (
        unicodedata.combining(character) != 0 or unicodedata.normalize("NFD", character) != character
    )


def _visible(text: str) -> str:
    """The text without what nobody sees; every space is U+0020."""
    return text if text.isascii() else _WITHOUT_WIDTH.sub("", _SPACE.sub(" ", text))


def _normalized(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _place(differs_by: str, text: str, visible_start: int, visible_end: int) -> Lookalike:
    """The place in a text of a slice of what is visible of it."""
    hidden = [match.start() for match in _WITHOUT_WIDTH.finditer(text)]
    return Lookalike(differs_by, _position(visible_start, hidden), _position(visible_end - 1, hidden) + 1)


def _position(visible_position: int, hidden: Iterable[int]) -> int:
    position = visible_position
    for place in hidden:
        if place > position:
            break
        position += 1
    return position


def _is_safe_to_normalize(text: str) -> bool:
    return text.isascii() or not _many_marks().search(text)


@cache
def _many_marks() -> re.Pattern[str]:
    marks = "".join(chr(code) for code in range(0x300, 0x1F000) if unicodedata.combining(chr(code)))
    return re.compile(f"[{marks}]{{{MAX_MARKS + 1}}}")
