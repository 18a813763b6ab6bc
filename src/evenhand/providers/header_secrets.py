"""Credentials that stand in the headers of a suite, so that no stored result repeats them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from evenhand.template import Val, env_names

_SECRET_NAME = re.compile(
    r"authorization|cookie|(^|[-_])(auth|(api)?key|token|secret|password|credential)s?$", re.IGNORECASE
)
_TEMPLATE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)


def is_telling(name: str) -> bool:
    """Whether the name of a header says that it holds credentials."""
    return _SECRET_NAME.search(name) is not None


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
