from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from evenhand.report import Page
from evenhand.report.findings import clipped
from evenhand.report.screen import Screen
from support.results import hostile_text

texts = hostile_text | st.text("ab 猫\u0301\n", max_size=400)


def screen(
    width: int = 80, *, encoding: str = "utf-8", color: bool = False
) -> tuple[Screen, io.TextIOWrapper]:
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="strict", newline="")
    return Screen(out, Page(width=width, color=color)), out


def written(out: io.TextIOWrapper) -> list[str]:
    out.seek(0)
    return out.read().split("\n")[:-1]


@given(texts, texts, st.integers(40, 100), st.sampled_from(["utf-8", "latin-1", "ascii", "cp1252"]))
def test_no_line_is_wider_than_the_page_or_holds_a_control_character(
    one: str, other: str, width: int, encoding: str
) -> None:
    page, out = screen(width, encoding=encoding)
    page.line((one, "bold"), " ", other, end=(other, "dim"), indent=2)
    page.paragraph((one, "red"), other, indent=4)
    page.excerpt("output", clipped(one + other), lines=3, indent=4)
    page.body("output", other)
    page.rule()
    for line in written(out):
        assert cell_len(line) <= width
        assert line.isprintable()


def test_text_at_the_right_stands_at_the_margin_or_is_left_out() -> None:
    page, out = screen(40)
    page.line("left", end="right")
    page.line("left" * 9, end="right")
    assert written(out) == [f"left{' ' * 31}right", "left" * 9]


def test_a_command_is_never_cut() -> None:
    page, out = screen(40)
    page.command(("view  ", "dim"), (f"evenhand view --suite '{'x' * 100}\x1b'", "cyan"))
    assert written(out) == [f"view  evenhand view --suite '{'x' * 100}\\x1b'"]


def test_paragraphs_break_at_spaces_and_hang_to_the_right_of_their_label() -> None:
    page, out = screen(40)
    page.paragraph("label  ", "one two three four five six seven eight nine ten", indent=2)
    assert written(out) == ["  label  one two three four five six", "         seven eight nine ten"]


def test_paragraphs_are_bounded() -> None:
    page, out = screen(40)
    page.paragraph("", "word " * 10_000, max_lines=2)
    page.paragraph("", "x" * 10_000, max_lines=1)
    assert written(out) == [f"{'word ' * 7}word", f"{'word ' * 7}word…", f"{'x' * 39}…"]


def test_excerpt_shows_the_first_lines_and_how_many_are_left() -> None:
    page, out = screen(40)
    page.excerpt("output", clipped("a\r\nb\n\n" + "c" * 60 + "\nd\n"), lines=4)
    page.excerpt("output", clipped("a\nb\nc"), lines=1)
    page.excerpt("output", clipped("a\nb"), lines=1)
    assert written(out) == [
        "output │ a",
        "       │ b",
        "       │",
        f"       │ {'c' * 30}…",
        "       │ … 1 more line",
        "output │ a",
        "       │ … 2 more lines",
        "output │ a",
        "       │ … 1 more line",
    ]


def test_excerpt_of_one_enormous_line_says_nothing_of_further_lines() -> None:
    page, out = screen(40)
    page.excerpt("output", clipped("x" * 1_000_000), lines=3)
    assert written(out) == [f"output │ {'x' * 30}…"]


def test_blank_outputs_are_named() -> None:
    page, out = screen(40)
    page.excerpt("output", clipped(""), lines=4)
    page.excerpt("output", clipped(" \n"), lines=4)
    assert written(out) == ["output │ empty", 'output │ blank: " \\n"']


def test_a_stream_that_cannot_write_the_signs_gets_plain_ones() -> None:
    page, out = screen(40, encoding="ascii")
    page.excerpt("output", clipped("naïve 猫\n" * 3), lines=1)
    page.rule()
    assert written(out) == ["output | na\\xefve \\u732b", "       | ... 2 more lines", "-" * 40]


def test_colours_are_written_only_where_the_page_has_them() -> None:
    plain, plain_out = screen()
    plain.line(("x", "red"))
    colored, colored_out = screen(color=True)
    colored.line(("x", "red"))
    assert written(plain_out) == ["x"]
    assert written(colored_out) == ["\x1b[31mx\x1b[0m"]


@pytest.mark.parametrize(
    "text", ["x" * 20_000_000, "\x00" * 5_000_000, "\u0301" * 5_000_000, "\n" * 20_000_000]
)
def test_texts_of_any_size_are_cut_quickly(text: str) -> None:
    page, out = screen()
    page.line(text)
    page.paragraph("", text)
    page.excerpt("output", clipped(text), lines=3)
    assert len(written(out)) < 30


def test_a_whole_text_is_written_without_loss() -> None:
    page, out = screen(40)
    text = "word" * 30 + "  " + "more " * 20
    page.body("output", text)
    label, *lines = written(out)
    assert label == "output"
    assert "".join(line.removeprefix("│ ").rstrip() for line in lines).replace(" ", "") == text.replace(
        " ", ""
    )


def test_a_whole_long_line_is_broken_in_linear_time() -> None:
    page, out = screen(80)
    page.body("output", "x" * 1_000_000)
    assert len(written(out)) == 1 + -(-1_000_000 // 78)
