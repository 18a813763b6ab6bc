"""How reasons show text: quoted, escaped, and cut around the place that matters."""

from __future__ import annotations

QUOTE_LENGTH = 200
"""Characters of an output that a reason quotes at most."""


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


def escaped(text: str) -> str:
    """The text with control, invisible and unpaired surrogate characters written as escapes."""
    return text.encode("unicode_escape").decode() if not text.isprintable() else text
