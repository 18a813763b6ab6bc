from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.report.visible import visible
from support.results import hostile_text


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
