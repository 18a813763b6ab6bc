"""JSON that people write: exact values, no ambiguity, and places."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.config.json_text import BadJson, check_depth, decode_json, item_offsets, offset_of
from support.json_values import TEXT, json_values


def refused(text: str | bytes) -> BadJson:
    with pytest.raises(BadJson) as caught:
        decode_json(text if isinstance(text, bytes) else text.encode())
    return caught.value


@given(json_values(), st.booleans(), st.sampled_from([None, 0, 2]))
def test_every_value_is_read_back(value: Any, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert decode_json(text.encode()) == value


@given(
    st.dictionaries(TEXT, json_values(), min_size=1, max_size=4),
    st.sampled_from([":", " :", "\t: "]),
    st.booleans(),
    st.data(),
)
def test_a_key_given_twice_is_always_found(
    value: dict[str, Any], colon: str, ascii_only: bool, data: st.DataObject
) -> None:
    pairs = list(value.items())
    again = data.draw(st.sampled_from(pairs))
    pairs.insert(data.draw(st.integers(0, len(pairs))), (again[0], data.draw(json_values())))
    dump = json.JSONEncoder(ensure_ascii=ascii_only).encode
    text = "{" + ",".join(f"{dump(key)}{colon}{dump(item)}" for key, item in pairs) + "}"
    assert refused(text).message == f"key {again[0]!r} is given twice"


@pytest.mark.parametrize(
    ("text", "message", "offset"),
    [
        ("[1 , ]", "not valid JSON: a `,` stands before the end of the list or object", 3),
        ('{"a":1,}', "not valid JSON: a `,` stands before the end of the list or object", 6),
        ("[,]", "not valid JSON: a value was expected", 1),
        ("{'a':1}", "not valid JSON: a key in double quotes was expected", 1),
        ('{"a" 1}', "not valid JSON: a `:` was expected after the key", 5),
        ('{"a":1 "b":2}', "not valid JSON: a `,` was expected, or the end of the list or object", 7),
        ('{"a":1} x', "not valid JSON: text follows after the end of the value", 8),
        ('"a\nb"', "not valid JSON: a control character stands unescaped in a text", 2),
        ('"abc', "not valid JSON: a text is opened and never closed", 0),
        ('"\\q"', "not valid JSON: a backslash is followed by no valid escape", 1),
        ("", "not valid JSON: a value was expected", 0),
        ("[NaN]", "not valid JSON: `NaN` is no JSON value", 1),
        ('{"a":-Infinity}', "not valid JSON: `-Infinity` is no JSON value", 5),
        ("[1, 1e400]", "the number is out of range, found 1e400", 4),
        ("1" * 5000, "the number is out of range, found " + "1" * 40, 0),
        ('["\\ud83d"]', "half of a surrogate pair is no character", 1),
        ('{"\\ud83d": 1}', "half of a surrogate pair is no character", 1),
        ('{"x":{"a":1,"a":2}}', "key 'a' is given twice", 12),
        ('{"a":1,"\\u0061":2}', "key 'a' is given twice", 7),
        ('{"a":1,"a":"\\u003a"}', "key 'a' is given twice", 7),
        ("[" * 2000 + "]" * 2000, "values are nested too deeply (more than 100 levels)", 0),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text: str, message: str, offset: int) -> None:
    error = refused(text)
    assert (error.message, error.offset) == (message, offset)


def test_bad_byte_is_placed_by_characters() -> None:
    error = refused('{"é": "'.encode() + b"\xff" + b'"}')
    assert (error.message, error.offset) == ("the text is not UTF-8, found byte 0xff", 7)


def test_numbers_keep_their_digits() -> None:
    assert decode_json(b"[9007199254740993, 12345678901234567890123]") == [
        9007199254740993,
        12345678901234567890123,
    ]


def test_depth_is_that_of_yaml() -> None:
    assert decode_json(b"[" * 101 + b"]" * 101)
    assert "nested too deeply" in refused("[" * 102 + "]" * 102).message
    assert "nested too deeply" in refused('{"a":' * 102 + "1" + "}" * 102).message
    check_depth("[[[")


@given(json_values(), st.sampled_from([None, 3]))
def test_every_value_is_found_at_its_place(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    reader = json.JSONDecoder()

    def check(part: Any, path: tuple[str | int, ...]) -> None:
        assert reader.raw_decode(text, offset_of(text, path))[0] == part
        if isinstance(part, list):
            assert item_offsets(text, path) == [offset_of(text, (*path, index)) for index in range(len(part))]
        items = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
        for key, item in items:
            check(item, (*path, key))

    check(value, ())


def test_place_of_what_is_not_there_is_its_nearest_ancestor() -> None:
    text = '{"a": [1]}'
    assert offset_of(text, ("a", 5)) == offset_of(text, ("a",)) == 6
    assert offset_of(text, ("b", "c")) == 0


@given(st.binary(max_size=60))
def test_any_bytes_are_a_value_or_refused(data: bytes) -> None:
    with contextlib.suppress(BadJson):
        assert decode_json(data) == json.loads(data)
