from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import math
from collections import OrderedDict
from decimal import Decimal
from types import MappingProxyType
from typing import NamedTuple

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.text.plain_json import MAX_DEPTH, NotPlain, plain_json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda values: st.lists(values, max_size=4) | st.dictionaries(st.text(), values, max_size=4),
    max_leaves=20,
)


@dataclasses.dataclass
class Answer:
    text: str
    scores: tuple[float, ...]


class Structured(msgspec.Struct):
    answer: Answer


class Colour(enum.StrEnum):
    RED = "red"


class Model:
    """Behaves like a pydantic model."""

    def model_dump(self, *, mode: str) -> dict[str, object]:
        return {"mode": mode, "n": 1}


class Pair(NamedTuple):
    a: int
    b: str


@given(JSON)
def test_json_values_stay_as_they_are(value):
    assert plain_json(value) == value


@given(JSON)
def test_a_plain_value_can_be_written(value):
    assert msgspec.json.decode(msgspec.json.encode(plain_json(value))) == value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ((1, (2,)), [1, [2]]),
        (Pair(1, "x"), [1, "x"]),
        (Answer("x", (0.5,)), {"text": "x", "scores": [0.5]}),
        ([Structured(Answer("y", ()))], [{"answer": {"text": "y", "scores": []}}]),
        (Colour.RED, "red"),
        ({"c": Colour.RED}, {"c": "red"}),
        (enum.IntEnum("Level", {"HIGH": 3}).HIGH, 3),
        ([Decimal("1e400")], [Decimal("1e400")]),
        (Model(), {"mode": "json", "n": 1}),
        (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
        (MappingProxyType({"a": [1]}), {"a": [1]}),
        (type("Text", (str,), {})("x"), "x"),
        (type("Count", (int,), {})(4), 4),
        (type("Share", (float,), {})(0.5), 0.5),
    ],
)
def test_values_that_mean_json_become_plain(value, expected):
    plain = plain_json(value)
    assert plain == expected
    assert type(plain) is type(expected)


def test_the_copy_is_independent_of_the_original():
    original = {"a": [1, {"b": 2}]}
    plain = plain_json(original)
    original["a"][1]["b"] = 3
    assert plain == {"a": [1, {"b": 2}]}


@pytest.mark.parametrize(
    ("value", "path", "message"),
    [
        (math.nan, [], "is nan, which is not a JSON number"),
        ({"a": [1, math.inf]}, ["a", 1], "is inf, which is not a JSON number"),
        ([{"k": b"x"}], [0, "k"], "is of type `bytes`, which is not JSON"),
        ({1, 2}, [], "is of type `set`, which is not JSON"),
        (dt.date(2030, 1, 2), [], "is of type `date`, which is not JSON"),
        ((n for n in [1]), [], "is of type `generator`, which is not JSON"),
        (Answer, [], "is of type `type`, which is not JSON"),
        ({1: "a"}, [], "has a key of type `int`, and JSON keys are text"),
        ({"a": {None: 1}}, ["a"], "has a key of type `NoneType`, and JSON keys are text"),
        (Decimal("NaN"), [], "is NaN, which is not a JSON number"),
        ([Decimal("-Infinity")], [0], "is -Infinity, which is not a JSON number"),
        ([10**5000], [0], "is an integer of more than 4,000 digits"),
        (object(), [], "is of type `object`, which is not JSON"),
    ],
)
def test_everything_else_is_refused_with_its_place(value, path, message):
    with pytest.raises(NotPlain) as caught:
        plain_json(value)
    assert (caught.value.path, caught.value.message) == (path, message)


def nested(levels: int) -> list[object]:
    value: list[object] = []
    for _ in range(levels - 1):
        value = [value]
    return value


def test_nesting_is_bounded():
    assert plain_json(nested(MAX_DEPTH)) == nested(MAX_DEPTH)
    with pytest.raises(NotPlain, match="deeper than 200 levels"):
        plain_json(nested(MAX_DEPTH + 1))


def test_a_value_that_contains_itself_is_refused():
    loop: dict[str, object] = {}
    loop["self"] = loop
    with pytest.raises(NotPlain, match="or contains itself"):
        plain_json(loop)
