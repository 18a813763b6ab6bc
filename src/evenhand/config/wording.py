"""How messages name what they found."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evenhand.text.excerpt import escaped

SHOWN = 60
"""Characters of a text that a message about a suite quotes at most."""

_LARGE = 1e15


def found(value: Any) -> str:
    """A JSON-like value in a few words: `text 'abc'`, `the number 3`, `a list`."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        whole = isinstance(value, float) and value.is_integer() and abs(value) < _LARGE
        return f"the number {shortened(str(int(value) if whole else value))}"
    if isinstance(value, str):
        return f"text '{shortened(escaped(value))}'"
    if isinstance(value, (list, tuple)):
        return "a list" if value else "an empty list"
    return "a mapping" if value else "an empty mapping"


def shortened(text: str) -> str:
    """The text, cut where it is too long for a message."""
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def in_words(words: Iterable[str], conjunction: str = "and") -> str:
    """Words as a list in a sentence: `a, b and c`."""
    *head, last = words
    return f"{', '.join(head)} {conjunction} {last}" if head else last
