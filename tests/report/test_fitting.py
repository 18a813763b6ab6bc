from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from evenhand.report.fitting import CHARACTERS_A_COLUMN, broken, cut, cut_marked

texts = st.text(st.sampled_from("ab  猫\u0301\ufe0f❤🙂é"), max_size=300)


@given(texts, st.integers(0, 80))
def test_a_cut_text_is_a_beginning_that_fits_and_could_not_be_longer(text: str, columns: int) -> None:
    head = cut(text, columns)
    assert text.startswith(head)
    assert cell_len(head) <= columns
    if head != text and len(head) < CHARACTERS_A_COLUMN * columns:
        assert cell_len(text[: len(head) + 1]) > columns


def test_wide_characters_take_two_columns_and_marks_none() -> None:
    assert cut("猫猫猫", 5) == "猫猫"
    assert cut("e\u0301" * 3, 2) == "e\u0301e\u0301"
    assert len(cut("\u0301" * 1_000, 10)) == 40
    assert cut("abc", 0) == ""
    assert cut("abc", -1) == ""


@pytest.mark.parametrize(
    ("text", "shown"), [("abcde", "abcde"), ("abcdef", "abcd…"), ("猫猫猫", "猫猫…"), ("", "")]
)
def test_a_mark_stands_where_something_is_left_out(text: str, shown: str) -> None:
    assert cut_marked(text, 5, "…") == shown


@given(texts, st.integers(2, 80))
def test_pieces_fit_and_lose_nothing_but_spaces(text: str, columns: int) -> None:
    pieces = list(broken(text, columns))
    assert pieces
    assert all(cell_len(piece) <= columns for piece in pieces)
    assert "".join(pieces).replace(" ", "") == text.replace(" ", "")


def test_lines_are_broken_at_spaces_in_their_second_half() -> None:
    assert list(broken("one two three", 9)) == ["one two", "three"]
    assert list(broken("a verylongword", 9)) == ["a verylon", "gword"]
    assert list(broken("one  two", 4)) == ["one", "two"]
