"""Templates that are text with names in it, filled in without the engine: most prompts are no more than that."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from evenhand.template.prepare import METHOD_NAMES

MAX_HOLES = 100
"""Names of one template; the engine counts the steps of longer ones."""

_HOLE = re.compile(r"\{\{ ?([A-Za-z]\w*) ?\}\}", re.ASCII)
_NOT_VARIABLES = METHOD_NAMES | {
    *("true", "false", "none", "True", "False", "None", "self", "loop", "super", "caller"),
}


class Holes(NamedTuple):
    """A template as pairs of a text and the name behind it, then the rest of the text."""

    pairs: tuple[tuple[str, str], ...]
    rest: str

    def filled(self, names: Mapping[str, Any]) -> str | None:
        """The text as the engine writes it; None where a value is neither a text nor an ordinary integer."""
        parts: list[str] = []
        for text, name in self.pairs:
            value: Any = names.get(name)
            kind = value.__class__
            if kind is int:
                value = str(value)
            elif kind is not str:
                return None
            parts += (text, value)
        parts.append(self.rest)
        return "".join(parts)


def holes_of(template: str) -> Holes | None:
    """The holes of a template that holds nothing else, or None."""
    pieces = _HOLE.split(template)
    texts, names = pieces[::2], pieces[1::2]
    if len(names) > MAX_HOLES or not _NOT_VARIABLES.isdisjoint(names):
        return None
    # A brace that is left may open something else, and the engine may read a carriage return in its own way.
    if any("{" in text or "}" in text or "\r" in text for text in texts):
        return None
    return Holes(tuple(zip(texts, names, strict=False)), texts[-1])
