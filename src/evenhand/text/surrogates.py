"""Unpaired surrogates: halves of characters, which a Python text can hold and UTF-8 cannot."""

from __future__ import annotations


def is_encodable(text: str) -> bool:
    """Whether a text is free of unpaired surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
