import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.text.excerpt import clipped, contrast, escaped, middle_cut, quoted
from support.json_texts import CHARACTERS


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("日本語 é 😀 ❤️ عربي", "日本語 é 😀 ❤️ عربي"),
        ('say "hi"', 'say "hi"'),
        ("a\nb\tc\r", "a\\nb\\tc\\r"),
        ("12\u00a0kg", "12\\u00a0kg"),
        ("\ufeffx\u200b\u00ad\u202e\u2066", "\\ufeffx\\u200b\\u00ad\\u202e\\u2066"),
        ("\u3164\u115f\u2800", "\\u3164\\u115f\\u2800"),
        ("\x00\x1b[31m\x7f\x9b", "\\u0000\\u001b[31m\\u007f\\u009b"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("\\d+ \\alpha C:\\", "\\d+ \\alpha C:\\"),
        ("\\n is no newline", "\\\\n is no newline"),
        ("\\\n", "\\\\\\n"),
    ],
)
def test_escapes_what_cannot_be_seen_and_leaves_the_rest(text: str, shown: str) -> None:
    assert escaped(text) == shown


@given(st.text(CHARACTERS | st.sampled_from("\\nutU0\n\u00a0"), max_size=20))
def test_what_is_escaped_can_be_told_from_what_was_written(text: str) -> None:
    def original(match: re.Match[str]) -> str:
        letter = match[0][1]
        return {"n": "\n", "r": "\r", "t": "\t", "\\": "\\"}.get(letter) or chr(int(match[1] or match[2], 16))

    pattern = r"\\(?:\\|n|r|t|u([0-9a-f]{4})|U([0-9a-f]{8}))"
    assert re.sub(pattern, original, escaped(text)) == text


def test_quotes_a_short_text_whole() -> None:
    assert quoted('a "b"\n') == '"a "b"\\n"'


def test_cuts_a_long_text_around_the_place_that_matters() -> None:
    text = "a" * 500 + "X" + "b" * 500
    assert quoted(text, length=10) == f'"{"a" * 10}"…'
    assert quoted(text, around=500, length=10) == '…"aaaaaXbbbb"…'
    assert quoted(text, around=1_000, length=10) == f'…"{"b" * 10}"'
    assert clipped(text, length=10) == "a" * 10 + "…"


def test_cuts_a_message_in_its_middle_to_keep_what_it_says_last() -> None:
    message = f'["{"x" * 500}"] is not of type "object"'
    assert middle_cut(message, length=60) == f'["{"x" * 18}…{"x" * 14}"] is not of type "object"'
    assert middle_cut("short\n", length=60) == "short\\n"


@given(st.text(CHARACTERS, max_size=600), st.integers(0, 600))
def test_an_excerpt_holds_the_place_and_stays_within_its_length(text: str, place: int) -> None:
    shown = quoted(text, around=place, length=100)
    assert len(shown) <= 100 * 10 + 4
    if place < len(text):
        assert escaped(text[place]) in shown or text[place] == "\\"


def test_an_excerpt_of_a_huge_text_touches_only_what_it_shows() -> None:
    assert quoted("\n" * 50_000_000, around=25_000_000, length=4) == '…"\\n\\n\\n\\n"…'


def test_contrasts_two_texts_where_they_differ() -> None:
    assert contrast("a b", "a\u00a0b") == 'expected "a b", found "a\\u00a0b"'
    assert contrast("x" * 500 + "A", "x" * 500 + "B" + "x" * 500, length=20) == (
        f'expected …"{"x" * 19}A", found …"{"x" * 10}B{"x" * 9}"… (they differ from character 501 on)'
    )


@given(st.text(max_size=300), st.text(max_size=300))
def test_a_contrast_never_shows_the_same_twice(a: str, b: str) -> None:
    if a != b:
        expected, found = re.sub(r" \(they differ.*", "", contrast(a, b, length=20)).split(", found ", 1)
        assert expected.removeprefix("expected ") != found or ", found " in a + b
