"""Strategies for JSON values."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
"""Texts that UTF-8 can hold."""


def json_values(max_leaves: int = 8, text: st.SearchStrategy[str] = TEXT) -> st.SearchStrategy[Any]:
    """JSON values with finite numbers."""
    leaves = (
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text
    )
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
        max_leaves=max_leaves,
    )
