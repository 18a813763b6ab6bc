import json
import math
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import example, given

from evenhand.text.json_reader import NotJson, compact_json, read_json
from support.json_texts import CONFUSED, damaged, is_json, spelled, values

DEEP = 100_000


def nested(levels: int) -> Any:
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        (" \t\r\n[1, 2.5e1, -0]\n", [1, 25.0, 0]),
        ('{"b": 1, "a": 2}', {"b": 1, "a": 2}),
        ('{"a": 1, "a": 2}', {"a": 2}),
        ('"\\ud83d\\ude00 \\u00e9 \\/"', "😀 é /"),
        ('"\\ud800"', "\ud800"),
        ('"\\ude00\\ud83d"', "\ude00\ud83d"),
        ('["\ud800", "\x7f"]', ["\ud800", "\x7f"]),
        ("12345678901234567890123", 12345678901234567890123),
        ("1e400", Decimal("1e400")),
        ("[-1.5E+400, 1.5]", [Decimal("-1.5e400"), 1.5]),
        ("1e-400", 0.0),
    ],
)
def test_reads_what_is_json(text: str, value: Any) -> None:
    found = read_json(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "message", "position"),
    [
        ("", "the text ends where a value should follow", 0),
        ("  ", "the text ends where a value should follow", 2),
        ("NaN", "expected a value, found `NaN`", 0),
        ("[Infinity]", "expected a value or `]`, found `Infinity`", 1),
        ("-Infinity", "expected a value, found `-`", 0),
        ("\ufeff1", "expected a value, found U+FEFF", 0),
        ("\u00a01", "expected a value, found U+00A0", 0),
        ("1\x0c", "expected the end of the text, found U+000C", 1),
        ("01", "expected the end of the text, found `1`", 1),
        ("1 2", "expected the end of the text, found `2`", 2),
        ("[1,]", "expected a value, found `]`", 3),
        ("[1 2]", "expected `,` or `]`, found `2`", 3),
        ("[1}", "expected `,` or `]`, found `}`", 2),
        ("[,", "expected a value or `]`, found `,`", 1),
        ('{"a": 1,}', "expected a key in double quotes, found `}`", 8),
        ("{'a': 1}", "expected a key in double quotes or `}`, found `'`", 1),
        ('{"a" 1}', "expected `:`, found `1`", 5),
        ('{"a": 1]', "expected `,` or `}`, found `]`", 7),
        ('"a\tb"', "unescaped control character U+0009 in a string", 2),
        ('"\\x"', "invalid escape in a string", 1),
        ('"\\u12g4"', "invalid escape in a string", 1),
        ("[1.x]", "expected `,` or `]`, found `.`", 2),
        ("[1,tru]", "expected a value, found `tru`", 3),
        ("/*a*/1", "expected a value, found `/`", 0),
    ],
)
def test_says_where_and_why_a_text_is_not_json(text: str, message: str, position: int) -> None:
    assert read_json(text) == NotJson(message, position, truncated=not text.strip())


@pytest.mark.parametrize(
    "text",
    [
        "-",
        "1.",
        "2e",
        "-3.1E+",
        "tru",
        "f",
        "nul",
        '"abc',
        '"\\',
        '"\\u00',
        "[",
        "[1",
        "[1,",
        "[tr",
        "[1.",
        "{",
        '{"a',
        '{"a"',
        '{"a":',
        '{"a":1',
        '{"a":1,',
        '[{"a":[]',
        '["\\"',
    ],
)
def test_tells_a_text_that_ends_too_early(text: str) -> None:
    found = read_json(text)
    assert isinstance(found, NotJson)
    assert found.truncated
    assert found.position == len(text)


def test_exact_reading_keeps_every_digit() -> None:
    assert read_json("0.1000000000000000055511151231257827", exact=True) == Decimal(
        "0.1000000000000000055511151231257827"
    )
    assert read_json('[1.0, "\\ud800"]', exact=True) == [Decimal("1.0"), "\ud800"]
    assert read_json("9007199254740993", exact=True) == 9007199254740993


@pytest.mark.parametrize("exact", [False, True])
def test_an_integer_of_thousands_of_digits_is_read_and_written(exact: bool) -> None:
    text = "7" * 5_000
    assert read_json(text, exact=exact) == Decimal(text)
    assert compact_json(read_json(text, exact=exact)) == text
    assert compact_json({"n": 10**5_000}) == '{"n":1' + "0" * 5_000 + "}"


@pytest.mark.parametrize(
    "text", ["1e99999999999999999999", "-1e-99999999999999999999", "0e99999999999999999999"]
)
def test_an_exponent_beyond_any_library_is_still_json(text: str) -> None:
    found = read_json(text, exact=True)
    assert isinstance(found, Decimal)
    assert found.is_finite()
    assert found.is_signed() == text.startswith("-")
    assert (found == 0) == text.startswith("0")


def test_a_hundred_thousand_levels_are_read_and_written() -> None:
    text = "[" * DEEP + "]" * DEEP
    value = read_json(text)
    assert compact_json(value) == text
    levels = 0
    while value:
        (value,) = value
        levels += 1
    assert levels == DEEP - 1
    objects = '{"a":' * 20_000 + "1e400" + "}" * 20_000
    assert compact_json(read_json(objects, exact=True)) == objects.replace("1e400", "1E+400")


def test_hostile_depth_is_refused_by_name() -> None:
    found = read_json("[" * 2_000_001)
    assert isinstance(found, NotJson)
    assert "nested deeper than 2000000 levels" in found.message


def test_a_value_that_holds_itself_is_an_error_and_no_endless_loop() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(ValueError, match="holds itself"):
        compact_json(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [None, True, 1.5]}, '{"b":1,"a":[null,true,1.5]}'),
        ([Decimal("1.50"), Decimal("1e400"), 10**30], "[1.50,1E+400,1" + "0" * 30 + "]"),
        ({"\ud800": "a\udfff\n"}, '{"\\ud800":"a\\udfff\\n"}'),
        ([math.nan, math.inf, Decimal("NaN")], "[null,null,null]"),
        (("a", {1: "\ud800"}), '["a",{"1":"\\ud800"}]'),
        ("日本\u2028", '"日本\u2028"'),
    ],
)
def test_writes_values_in_one_form(value: Any, text: str) -> None:
    assert compact_json(value) == text


def test_what_is_no_json_value_is_refused() -> None:
    with pytest.raises(TypeError):
        compact_json(object())


@given(spelled())
def test_reads_as_the_standard_library_does(text: str) -> None:
    assert json.dumps(read_json(text)) == json.dumps(json.loads(text))


@given(damaged() | CONFUSED)
@example("[1.5,1e400]")
def test_accepts_what_the_standard_library_accepts_and_nothing_else(text: str) -> None:
    found = read_json(text)
    assert isinstance(found, NotJson) != is_json(text)
    exact = read_json(text, exact=True)
    assert isinstance(exact, NotJson) == isinstance(found, NotJson)
    if isinstance(found, NotJson):
        assert exact == found
        assert 0 <= found.position <= len(text)


@given(damaged() | CONFUSED)
def test_the_fast_library_accepts_nothing_that_is_not_json(text: str) -> None:
    try:
        msgspec.json.decode(text)
    except (msgspec.MsgspecError, ValueError):
        return
    assert is_json(text)


@given(values())
def test_a_written_value_reads_back(value: Any) -> None:
    text = compact_json(value)
    assert compact_json(read_json(text)) == text
    assert json.dumps(json.loads(text)) == json.dumps(json.loads(json.dumps(value)))
