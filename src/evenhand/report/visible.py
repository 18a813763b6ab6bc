"""Text from outside as people may safely see it: it cannot move a cursor, set colours or reorder a line."""

from __future__ import annotations

import re

_SUSPECT = re.compile(r"[^\x20-\x7e]")


def visible(text: str) -> str:
    """The text with every control, invisible, bidirectional and unpaired surrogate character as an escape.

    Line breaks are escaped too: what comes back is one line.
    """
    return text if text.isprintable() else _SUSPECT.sub(_shown, text)


def _shown(found: re.Match[str]) -> str:
    character = found[0]
    return character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
