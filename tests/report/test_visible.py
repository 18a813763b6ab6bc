from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.report.visible import readable, visible
from support.results import hostile_text

HIDING = ("Cc", "Cs", "Zl", "Zp")
TURNING = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("[red]x[/red]", "[red]x[/red]"),
        ("\x1b[2J", "\\x1b[2J"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("a\nb\r\n", "a\\nb\\r\\n"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("a\u00a0b\u200bc", "a\\xa0b\\u200bc"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("naïve 猫 🙂", "naïve 猫 🙂"),
        ("e\u0301", "e\u0301"),
        ("\u2028\x85", "\\u2028\\x85"),
    ],
)
def test_what_could_steer_a_terminal_is_escaped_and_the_rest_is_kept(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(hostile_text | st.text())
def test_visible_text_is_one_printable_line(text: str) -> None:
    assert visible(text).isprintable()


def test_what_is_readable_hides_nothing_and_turns_nothing() -> None:
    characters = [chr(code) for code in range(0x110000)]
    bad = [
        c for c in characters if unicodedata.category(c) in HIDING or unicodedata.bidirectional(c) in TURNING
    ]
    assert len(bad) > 2_000
    assert [c for c in bad if readable(c) == c] == ["\t", "\n"]


@pytest.mark.parametrize(
    "text",
    [
        "two\r\nlines\tand a tab",
        "naïve 猫 🙂",
        "\U0001f469\u200d\U0001f4bb",
        "می\u200cخواهم",
        "10\u00a0%",
        "\u3000",
    ],
)
def test_what_languages_need_stays(text: str) -> None:
    assert readable(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a\rb", "a\\rb"), ("\x1b[2J", "\\x1b[2J"), ("\u202egnp", "\\u202egnp"), ("\U000e0041", "\\U000e0041")],
)
def test_what_could_mislead_is_escaped(text: str, shown: str) -> None:
    assert readable(text) == shown
