"""Which words of a text changed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.text.word_diff import MAX_CHARACTERS, Piece, word_diff

texts = st.lists(
    st.sampled_from(["a", "b", " ", "cc", ".", "\n", "é", "\u202e", "\x1b[2J"]), max_size=40
).map("".join)


@settings(max_examples=200, deadline=None)
@given(texts, texts)
def test_the_pieces_make_up_both_texts(before: str, after: str) -> None:
    pieces = word_diff(before, after)
    assert "".join(piece.text for piece in pieces if piece.kind != "added") == before
    assert "".join(piece.text for piece in pieces if piece.kind != "removed") == after
    assert all(piece.text for piece in pieces)


def test_words_are_replaced_whole() -> None:
    assert word_diff("The refund takes 14 days.", "The refund takes 30 days.") == [
        Piece("same", "The refund takes "),
        Piece("removed", "14"),
        Piece("added", "30"),
        Piece("same", " days."),
    ]
    assert word_diff("unchanged", "unchanging")[0] == Piece("removed", "unchanged")


def test_equal_texts_are_one_piece() -> None:
    assert word_diff("same", "same") == [Piece("same", "same")]
    assert word_diff("", "") == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("word " * 1_000_000, "word " * 999_000 + "other"),
        ("a" * 5_000_000, "b" * 5_000_000),
        ("ab " * 6_000, "ba " * 6_000),
        ("[" * 5_000_000, "[" * 4_999_999 + "]"),
    ],
    ids=["long tail", "nothing in common", "every word", "one long run of signs"],
)
def test_five_megabytes_are_compared_in_bounded_time(before: str, after: str) -> None:
    # Each takes some hundredths of a second; comparing word by word would take minutes.
    pieces = word_diff(before, after)
    assert "".join(piece.text for piece in pieces if piece.kind != "added") == before
    assert len(pieces) < 2 * MAX_CHARACTERS
