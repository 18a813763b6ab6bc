"""Credentials that stand in the headers of a suite, so that no stored result repeats them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from evenhand.io.shown_call import is_telling
from evenhand.template import Val, env_names

_TEMPLATE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_REFERENCE = re.compile(r"\$\{env:[^}:]*(?::-([^}]*))?\}")


def secrets_in(headers: Mapping[str, Val], env: Mapping[str, str]) -> Iterator[str]:
    """The words of headers with telling names, and the variables that stand in them.

    A word is what white space parts: of `Bearer abc…` the token is found where it stands alone too.
    """
    for name, value in headers.items():
        text = value.authored
        if not isinstance(text, str) or not is_telling(name):
            continue
        yield from _TEMPLATE.sub(" ", text).split()
        for variable in env_names(text):
            if variable in env:
                yield env[variable]


def secrets_written_in(document: Any) -> Iterator[str]:
    """What stands under telling names in every `headers` and `env` of a suite's document, whoever they are for."""
    waiting = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            waiting += value.values()
            for key in ("headers", "env"):
                yield from _told_by_names(value.get(key))


def _told_by_names(values: Any) -> Iterator[str]:
    if not isinstance(values, dict):
        return
    for name, written in values.items():
        value = written.get("$raw") if isinstance(written, dict) else written
        if isinstance(value, str) and is_telling(str(name)):
            # A reference to a variable tells nothing; what stands in for a missing one is written there.
            yield from _TEMPLATE.sub(" ", _REFERENCE.sub(r" \1 ", value)).split()
