"""Values of the environment in the questions that answers are kept under: by name, so that a new key asks nothing anew.

A variable stands in a question as `${env:NAME}`. Where a template does more with it than writing it out (a condition
say), its value decides what is sent; the question then also holds a digest of what is sent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import msgspec

from evenhand.io.shown_call import is_telling


def placeholders(env: Mapping[str, str]) -> dict[str, str]:
    """An environment in which every variable holds its own placeholder."""
    return {name: f"${{env:{name}}}" for name in env}


def digest_unless_faithful(shown: Sequence[str], real: Sequence[str], env: Mapping[str, str]) -> str | None:
    """sha256 of the real texts, or None where the shown ones say the same with placeholders in them."""
    if list(shown) == list(real):
        return None
    for text, meant in zip(shown, real, strict=True):
        if _filled(text, env, in_json=False) != meant and _filled(text, env, in_json=True) != meant:
            return hashlib.sha256("\0".join(real).encode("utf-8", "surrogatepass")).hexdigest()
    return None


def _filled(text: str, env: Mapping[str, str], *, in_json: bool) -> str:
    for name, value in env.items():
        text = text.replace(f"${{env:{name}}}", _inside_json(value) if in_json else value)
    return text


def _inside_json(text: str) -> str:
    return msgspec.json.encode(text.encode("utf-8", "replace").decode()).decode()[1:-1]


def keyed_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that make a question, in lower case: those that hold no credentials."""
    return {name.lower(): value for name, value in headers.items() if not is_telling(name)}
