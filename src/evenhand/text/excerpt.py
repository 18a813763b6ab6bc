"""How reasons show text: quoted, escaped, and cut around the place that matters."""

from __future__ import annotations

import re

QUOTE_LENGTH = 200
"""Characters of an output that a reason quotes at most."""

SPACES = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
"""The spaces other than U+0020, as the inside of a character class."""

WITHOUT_WIDTH = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""The characters that leave no mark of their own on a page, as the inside of a character class."""

_SHORT_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_VARIATION_SELECTORS = "\ufe0e\ufe0f"
_HIDDEN = re.compile(f"[{SPACES}{WITHOUT_WIDTH}]")


def quoted(text: str, *, around: int | None = None, length: int = QUOTE_LENGTH) -> str:
    """The text in double quotes, with control and invisible characters escaped.

    A longer text is cut to about `length` characters around the position `around` (its start where None), with
    `…` where something is left out.
    """
    if len(text) <= length:
        return f'"{escaped(text)}"'
    start = max(0, min((around or 0) - length // 2, len(text) - length))
    end = start + length
    return f'{"…" if start else ""}"{escaped(text[start:end])}"{"…" if end < len(text) else ""}'


def clipped(text: str, *, length: int = QUOTE_LENGTH) -> str:
    """The beginning of a text, escaped as `quoted` does, without quotes."""
    return escaped(text) if len(text) <= length else f"{escaped(text[:length])}…"


def middle_cut(text: str, *, length: int = QUOTE_LENGTH) -> str:
    """The beginning and the end of a text, escaped: for messages that quote a value and then say what is wrong."""
    if len(text) <= length:
        return escaped(text)
    head = length // 3
    return f"{escaped(text[:head])}…{escaped(text[head - length :])}"


def escaped(text: str) -> str:
    r"""The text with control, invisible and unpaired surrogate characters written as `\n`, `\u00a0`, `\U000e0001`.

    A backslash is doubled where it would read as the beginning of such an escape. Everything else stays readable.
    """
    if text.isprintable() and "\\" not in text and not has_hidden(text):
        return text
    shown = [_shown(character) for character in text]
    for index, character in enumerate(text[:-1]):
        if character == "\\" and (text[index + 1] in "\\nrtuU" or shown[index + 1] != text[index + 1]):
            shown[index] = "\\\\"
    return "".join(shown)


def has_hidden(text: str) -> bool:
    """Whether a text holds characters that nobody sees, or sees as an ordinary space."""
    return not text.isascii() and _HIDDEN.search(text) is not None


def contrast(expected: str, found: str, *, length: int = QUOTE_LENGTH) -> str:
    """Two different texts side by side, each around the place from which on they differ."""
    place = _first_difference(expected, found)
    shown = [quoted(text, around=place, length=length) for text in (expected, found)]
    where = f" (they differ from character {place + 1} on)" if max(len(expected), len(found)) > length else ""
    return f"expected {shown[0]}, found {shown[1]}{where}"


def _shown(character: str) -> str:
    if character in _VARIATION_SELECTORS or (character.isprintable() and not has_hidden(character)):
        return character
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    return f"\\u{ord(character):04x}" if character <= "\uffff" else f"\\U{ord(character):08x}"


def _first_difference(a: str, b: str) -> int:
    """The length of the common beginning; compares halves, because a loop over characters is slow on large texts."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
