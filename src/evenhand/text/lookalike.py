"""Texts that look the same and are not: another Unicode normalization, invisible characters.

Nothing here changes a verdict. It explains a failure that a reader could not see, and runs only once there is one.
Every step takes time proportional to the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from evenhand.text.excerpt import (
    QUOTE_LENGTH,
    SPACES,
    WITHOUT_WIDTH,
    has_hidden,
    quoted,
)

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
    found = find_lookalike(haystack, needle)
    return described(found, haystack) if found else ""


def described(found: Lookalike, text: str) -> str:
    """A lookalike in words, with what could not be seen spelled out."""
    if found.start is None:
        return f"it holds a text that differs only by {found.differs_by}"
    spelled = spelled_out(text[found.start : found.end])
    return f"it holds {spelled} at character {found.start + 1}, which differs only by {found.differs_by}"


def find_lookalike(haystack: str, *needles: str) -> Lookalike | None:
    """The first place of a text that looks like one of the needles, none of which it contains."""
    if has_hidden(haystack) or any(map(has_hidden, needles)):
        found = _find_visible(haystack, needles)
        if found:
            return found
    if not _could_be_respelled(haystack, *needles):
        return None
    for needle in needles:
        for form in ("NFC", "NFD"):
            variant = unicodedata.normalize(form, needle)
            start = haystack.find(variant)
            if start >= 0:
                return Lookalike(NORMALIZATION, start, start + len(variant))
    if _finds_any(_normalized(haystack), map(_normalized, needles)):
        return Lookalike(NORMALIZATION)
    visible_needles = (_normalized(_visible(needle)) for needle in needles)
    return Lookalike(BOTH) if _finds_any(_normalized(_visible(haystack)), visible_needles) else None


def likeness(a: str, b: str) -> str:
    """What two different texts that look the same as wholes differ by; empty where they look different."""
    hides = has_hidden(a) or has_hidden(b)
    visible_a, visible_b = (_visible(a), _visible(b)) if hides else (a, b)
    if hides and visible_a == visible_b:
        return INVISIBLE
    if not _could_be_respelled(a, b):
        return ""
    if _normalized(a) == _normalized(b):
        return NORMALIZATION
    return BOTH if hides and _normalized(visible_a) == _normalized(visible_b) else ""


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


def _find_visible(haystack: str, needles: tuple[str, ...]) -> Lookalike | None:
    visible = _visible(haystack)
    for needle in map(_visible, needles):
        start = visible.find(needle) if needle.strip() else -1
        if start >= 0:
            return _place(INVISIBLE, haystack, start, start + len(needle))
    return None


def _finds_any(text: str, needles: Iterable[str]) -> bool:
    return any(needle in text for needle in needles if needle.strip())


def _could_be_respelled(*texts: str) -> bool:
    """Whether normalization could make a difference to texts, and may be tried."""
    return all(map(_is_safe_to_normalize, texts)) and not all(
        unicodedata.is_normalized("NFC", text) for text in texts
    )


def _is_safe_to_normalize(text: str) -> bool:
    """Whether no more than `MAX_MARKS` combining marks stand in a row.

    A longer row always holds one of the places that are looked at, since they are that far apart.
    """
    return text.isascii() or not any(
        unicodedata.combining(character)
        and _row_of_marks(text, MAX_MARKS + index * (MAX_MARKS + 1)) > MAX_MARKS
        for index, character in enumerate(text[MAX_MARKS :: MAX_MARKS + 1])
    )


def _row_of_marks(text: str, place: int) -> int:
    """How many combining marks stand in a row around one, counted up to a few more than matter."""
    start = end = place
    while start > 0 and place - start <= MAX_MARKS and unicodedata.combining(text[start - 1]):
        start -= 1
    while end < len(text) and end - place <= MAX_MARKS and unicodedata.combining(text[end]):
        end += 1
    return end - start
