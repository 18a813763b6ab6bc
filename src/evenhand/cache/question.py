"""What an answer is kept under: the canonical text of everything that can change it, and its sha256."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

from evenhand.model.exchange import Json
from evenhand.text.canonical import canonical


class Question(NamedTuple):
    """A question to a provider, a grader or a checker, as the cache knows it."""

    digest: bytes
    """sha256 of the document."""
    document: bytes
    """Canonical JSON: what is sent, the repeat, the salts."""
    provider: str = ""
    """Who is asked; not part of the key."""
    test: str = ""
    """For which case; not part of the key."""

    @property
    def key(self) -> str:
        """`sha256:` and 64 hex digits."""
        return f"sha256:{self.digest.hex()}"


def question_of(
    asked: Json,
    *,
    repeat: int = 0,
    provider_salt: str | None = None,
    case_salt: str | None = None,
    provider: str = "",
    test: str = "",
) -> Question:
    """The question whose canonical form is `asked`. A salt that is empty text counts as one.

    The document is `{"case_salt", "provider_salt", "repeat", "request"}` as JSON with sorted keys and no white space,
    without the salts that are not set.
    """
    ingredients: dict[str, Any] = {"request": asked, "repeat": repeat}
    if provider_salt is not None:
        ingredients["provider_salt"] = provider_salt
    if case_salt is not None:
        ingredients["case_salt"] = case_salt
    document = canonical(ingredients)
    return Question(hashlib.sha256(document).digest(), document, provider, test)
