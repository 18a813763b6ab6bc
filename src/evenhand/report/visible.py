"""Text from outside as people may safely see it: it cannot move a cursor, set colours or reorder a line."""

from __future__ import annotations

import re

_SUSPECT = re.compile(r"[^\x20-\x7e]")
_UNREADABLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]|\r(?!\n)"
)
"""Controls, marks that turn directions or hide, tags, unpaired surrogates; not the joiners that languages need."""


def visible(text: str) -> str:
    """The text with every control, invisible, bidirectional and unpaired surrogate character as an escape.

    Line breaks are escaped too: what comes back is one line.
    """
    return text if text.isprintable() else _SUSPECT.sub(_shown, text)


def readable(text: str) -> str:
    """The same for a page, which has lines and tabs; joiners and spaces of any width stay too."""
    return text if text.isprintable() else _UNREADABLE.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")


def _shown(found: re.Match[str]) -> str:
    character = found[0]
    return character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
