"""Globs over names."""

from __future__ import annotations

import pytest

from evenhand.text.glob import matches_glob


@pytest.mark.parametrize(
    ("glob", "name"),
    [
        ("*", "a/b"),
        ("a?b", "a/b"),
        ("[ab]/c", "b/c"),
        ("{a,b}/c", "b/c"),
        ("a/{b*,c}", "a/bcd"),
        ("{a,b{c,d}}", "bd"),
        ("a{,s}", "a"),
        ("a{b", "a{b"),
        ("a}b", "a}b"),
    ],
)
def test_glob_matches_the_whole_name(glob: str, name: str) -> None:
    assert matches_glob(name, glob)


@pytest.mark.parametrize(
    ("glob", "name"), [("a", "ab"), ("A", "a"), ("{a,b}", "c"), ("[!a]", "a"), ("", "a")]
)
def test_glob_leaves_other_names_out(glob: str, name: str) -> None:
    assert not matches_glob(name, glob)


def test_a_glob_of_countless_choices_ends_at_once() -> None:
    assert not matches_glob("a" * 40, "{a,b}" * 40)
