"""Credentials that stand in the headers of a suite, so that no stored result repeats them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from evenhand.io.shown_call import is_telling
from evenhand.template import Val, env_names

_TEMPLATE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)


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
