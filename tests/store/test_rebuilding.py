"""Values made fit for a JSON document."""

from __future__ import annotations

import datetime as dt
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.store.rebuilding import (
    CIRCULAR,
    HUGE_NUMBER,
    MAX_DEPTH,
    TOO_DEEP,
    deeper_than,
    rebuilt,
    without_surrogates,
)
from evenhand.template import Val
from support.stored_results import a_result, json_values


def nested(levels: int, core: Any = 1) -> Any:
    value = core
    for _ in range(levels):
        value = [value]
    return value


def same(text: str) -> str:
    return text


@given(json_values)
def test_plain_values_come_back_as_they_are(value: Any) -> None:
    assert rebuilt(value, same) == value


def test_every_text_passes_through_the_function_keys_included() -> None:
    value = {"a": ["b", {"c": "d"}], "e": ("f", None, True, 1.5)}
    assert rebuilt(value, str.upper) == {"A": ["B", {"C": "D"}], "E": ("F", None, True, 1.5)}


def test_structs_keep_their_type_and_enumerations() -> None:
    result = rebuilt(a_result(output="o"), str.upper)
    assert type(result) is type(a_result())
    assert (result.output, result.status) == ("O", a_result().status)


def test_values_deeper_than_the_limit_leave_a_note() -> None:
    deep = rebuilt({"value": nested(100_000), "beside": 1}, same)
    assert deep["beside"] == 1
    assert not deeper_than(deep, MAX_DEPTH + 1)
    while isinstance(deep, (dict, list)):
        deep = deep["value"] if isinstance(deep, dict) else deep[0]
    assert deep == TOO_DEEP


def test_value_that_contains_itself_leaves_a_note() -> None:
    value: dict[str, Any] = {"a": 1}
    value["self"] = [value]
    assert rebuilt(value, same) == {"a": 1, "self": [CIRCULAR]}


def test_value_used_twice_is_not_taken_for_a_circle() -> None:
    shared = ["x"]
    assert rebuilt([shared, shared], same) == [["x"], ["x"]]


def test_whole_numbers_beyond_what_python_writes_leave_a_note() -> None:
    assert rebuilt([10**4_000, -(10**5_000)], same) == [10**4_000, HUGE_NUMBER]


class Broken:
    def __str__(self) -> str:
        raise RuntimeError("no")

    __repr__ = __str__


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        ({1, 2}, [1, 2]),
        (b"ab", "YWI="),
        (dt.date(2026, 1, 2), "2026-01-02"),
        (object(), "[not stored: 'object' is not JSON]"),
        (Broken(), "[not stored: 'Broken' is not JSON]"),
        ({Broken(): 1}, {"[not stored: 'Broken' is not JSON]": 1}),
        ({(1, 2): 3, None: 4}, {"(1, 2)": 3, "None": 4}),
        (Val({"x": "{{ y }}"}), {"x": "{{ y }}"}),
        (1j, "[not stored: 'complex' is not JSON]"),
    ],
)
def test_what_is_not_json_is_written_like_it_or_leaves_a_note(value: Any, stored: Any) -> None:
    assert rebuilt([value], same) == [stored]


@given(st.text(st.characters(), max_size=10))
def test_texts_without_surrogates_fit_into_utf8(text: str) -> None:
    cleaned = without_surrogates(text)
    cleaned.encode()
    if not any("\ud800" <= c <= "\udfff" for c in text):
        assert cleaned == text


def test_unpaired_surrogates_become_the_replacement_character_and_pairs_a_character() -> None:
    assert without_surrogates("ok \ud83d end") == "ok \ufffd end"
    assert without_surrogates("\ud83d\ude00") == "\U0001f600"


@given(st.integers(0, 300), st.integers(0, 300))
def test_depth_is_measured_without_recursion(levels: int, limit: int) -> None:
    assert deeper_than(nested(levels), limit) == (levels > limit)


def test_depth_counts_structs_and_authored_values() -> None:
    class Holder(msgspec.Struct):
        value: Any

    assert deeper_than(Holder(Val(nested(3))), 4)
    assert not deeper_than(Holder(Val(nested(3))), 5)
    assert not deeper_than("text", 0)
    assert deeper_than(nested(100_000), 99_999)
