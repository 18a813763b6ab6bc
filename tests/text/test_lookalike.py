import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evenhand.text.lookalike import BOTH, INVISIBLE, NORMALIZATION, difference_hint, find_lookalike, likeness
from support.json_texts import CHARACTERS

CAFE_NFC, CAFE_NFD = "caf\u00e9", "cafe\u0301"


@pytest.mark.parametrize(
    ("needle", "haystack", "hint"),
    [
        (CAFE_NFC, f"at the {CAFE_NFD}!", r'it holds "cafe\u0301" at character 8, which differs only by'),
        (CAFE_NFD, f"at the {CAFE_NFC}!", r'it holds "caf\u00e9" at character 8, which differs only by'),
        (
            "12 kg",
            "about 12\u00a0kg",
            r'it holds "12\u00a0kg" at character 7, which differs only by invisible',
        ),
        ("refund", "a re\u00adfu\u200bnd!", r'it holds "re\u00adfu\u200bnd" at character 3, which'),
        ("a\u00a0b", "x a b", 'it holds "a b" at character 3, which differs only by invisible characters'),
        (f"{CAFE_NFC} x", f"{CAFE_NFD}\u00a0x", f"it holds a text that differs only by {BOTH}"),
    ],
)
def test_tells_what_only_looks_the_same(needle: str, haystack: str, hint: str) -> None:
    assert needle not in haystack
    assert difference_hint(needle, haystack).startswith(hint)


@pytest.mark.parametrize(
    ("needle", "haystack"),
    [("cat", "a dog"), ("é", "日本"), ("\u00a0", "ab"), ("Cat", "cat é"), ("ab", "a b é")],
)
def test_says_nothing_where_texts_look_different(needle: str, haystack: str) -> None:
    assert difference_hint(needle, haystack) == ""


def test_compares_whole_texts() -> None:
    assert likeness(CAFE_NFC, CAFE_NFD) == NORMALIZATION
    assert likeness("a b", "a\u00a0b\ufeff") == INVISIBLE
    assert likeness(f"{CAFE_NFC} b", f"{CAFE_NFD}\u00a0b") == BOTH
    assert likeness("a", "b\u00a0") == ""
    assert likeness("a", "b") == ""


def test_a_flood_of_combining_marks_is_not_normalized() -> None:
    flood = "a" + "\u0301\u0316" * 200_000
    assert difference_hint(CAFE_NFC, flood + CAFE_NFD) == ""
    assert likeness(CAFE_NFC, flood) == ""


@given(st.text(CHARACTERS, max_size=5), st.text(CHARACTERS, max_size=5), st.text(CHARACTERS, max_size=5))
def test_a_place_holds_what_looks_the_same(before: str, needle: str, after: str) -> None:
    haystack = before + unicodedata.normalize("NFD", needle) + "\u200b" + after
    assume(needle not in haystack)
    found = find_lookalike(haystack, needle)
    if found is not None and found.start is not None:
        assert likeness(needle, haystack[found.start : found.end]) == found.differs_by
