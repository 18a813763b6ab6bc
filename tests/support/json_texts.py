"""JSON values and texts for hypothesis, awkward ones first."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

CHARACTERS = st.characters(codec=None)
TEXTS = st.text(CHARACTERS, max_size=8)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(allow_nan=False, allow_infinity=False),
    TEXTS,
)


def values(scalars: st.SearchStrategy[Any] = SCALARS) -> st.SearchStrategy[Any]:
    """JSON values."""
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
        max_leaves=12,
    )


def containers() -> st.SearchStrategy[Any]:
    """JSON objects and arrays."""
    return st.lists(values(), max_size=4) | st.dictionaries(TEXTS, values(), max_size=4)


@st.composite
def spelled(draw: st.DrawFn, contents: st.SearchStrategy[Any] | None = None) -> str:
    """JSON texts of values, with escapes and white space in different amounts."""
    value = draw(contents if contents is not None else values())
    indent = draw(st.sampled_from([None, 0, "\t", " \r\n"]))
    return json.dumps(value, ensure_ascii=draw(st.booleans()), indent=indent)


FRAGMENTS = [
    *'[]{}",:\\ \n\t-+.eE0x\x00\ud800é\u00a0',
    *('"a"', '"[', '",[', "[1,", '{"k":', '{"a":[1]}', "[]", "{}", '\\"', "\\u12", "\\ud83d", "\\n"),
    *("tru", "true", "false", "nul", "null", "NaN", "-Infinity", "1.", "2e", "-0", "01", "1e400", ".5", "/*"),
]
CONFUSED = st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join)
"""Texts made of pieces of JSON in no sensible order."""


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """JSON texts with a character or two taken out, put in or cut off."""
    text = draw(spelled())
    for _ in range(draw(st.integers(1, 2))):
        place = draw(st.integers(0, len(text)))
        piece = draw(st.sampled_from(["", *FRAGMENTS]))
        text = text[:place] + piece + text[place + draw(st.integers(0, 2)) :]
    return text


def is_json(text: str) -> bool:
    """What the standard library says, held to RFC 8259."""
    try:
        json.loads(text, parse_constant=_refuse, parse_int=str)
    except ValueError:
        return False
    return True


def _refuse(word: str) -> None:
    raise ValueError(word)
