import copy
import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.text.json_equal import first_difference, json_equal, shown_path
from evenhand.text.json_reader import read_json
from support.json_texts import values


def nested(levels: int, innermost: Any) -> Any:
    value = innermost
    for level in range(levels):
        value = [value] if level % 2 else {"k": value}
    return value


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1, 1.0),
        (100, Decimal("1e2")),
        (0.1, Decimal("0.1")),
        (0, -0.0),
        (1e22, 10**22),
        ({"a": 1, "b": [True, None]}, {"b": [True, None], "a": 1.0}),
        ([1, 2], (1, 2)),
        ("é", "é"),
    ],
)
def test_equal_by_value(a: Any, b: Any) -> None:
    assert json_equal(a, b)
    assert json_equal(b, a)
    assert first_difference(a, b) is None


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (True, 1),
        (False, 0),
        (None, False),
        (0, ""),
        (1, "1"),
        ([], {}),
        (9007199254740993, 9007199254740992),
        (9007199254740993, 9007199254740992.0),
        (Decimal("0.1000000000000000055511151231257827"), 0.1),
        ("é", "e\u0301"),
        ([1, 2], [2, 1]),
        ([1], [1, None]),
        ({"a": None}, {}),
        ({"a": 1}, {"b": 1}),
        ({"a": {"ok": True}}, {"a": {"ok": 1}}),
        (Decimal("1e999999999999999999"), 5),
    ],
)
def test_not_equal(a: Any, b: Any) -> None:
    assert not json_equal(a, b)
    assert not json_equal(b, a)


@pytest.mark.parametrize(
    ("expected", "found", "message"),
    [
        (3, 4, "expected 3, found 4"),
        (3, "3", 'expected 3, found "3"'),
        (True, 1, "expected true, found 1"),
        (
            {"items": [1, 2, {"price": 3}]},
            {"items": [1, 2, {"price": 4}]},
            "at items[2].price: expected 3, found 4",
        ),
        ({"a": 1, "b": 2}, {"a": 1}, "at b: expected 2, found nothing"),
        ({"a": 1}, {"a": 1, "x-y": None}, "at x-y: expected nothing, found null"),
        ([1, 2], [1], "at [1]: expected 2, found nothing"),
        ([1], [1, [2]], "at [1]: expected nothing, found a list of 1 item"),
        (
            {"a b": {"": {}}},
            {"a b": {"": [1, 2]}},
            'at ["a b"][""]: expected an object with 0 keys, found a list of 2 items',
        ),
        (
            "12 kg",
            "12\u00a0kg",
            'expected "12 kg", found "12\\u00a0kg" (they differ only by invisible characters)',
        ),
        (
            "é",
            "e\u0301",
            'expected "é", found "e\u0301" (they differ only by Unicode normalization)',
        ),
        ({"\u202ex": 1}, {}, 'at ["\\u202ex"]: expected 1, found nothing'),
    ],
)
def test_names_the_first_difference_with_its_path(expected: Any, found: Any, message: str) -> None:
    assert str(first_difference(expected, found)) == message


def test_the_first_difference_is_the_first_in_the_expected_order() -> None:
    difference = first_difference({"b": [1, 2], "a": 3}, {"a": 4, "b": [1, 5]})
    assert difference is not None
    assert difference.path == ("b", 1)


def test_numbers_of_thousands_of_digits_are_compared_by_value() -> None:
    assert json_equal(10**5_000, Decimal(10**5_000))
    assert not json_equal(10**5_000 + 1, Decimal(10**5_000))


def test_a_message_stays_short_whatever_the_values() -> None:
    key = "k" * 10_000
    assert len(str(first_difference({key: {key: 1}}, {key: {key: "9" * 10_000}}))) < 500
    assert len(str(first_difference([10**5_000], [10**4_999]))) < 300
    assert len(shown_path(("step", 1) * 50_000)) < 100


def test_a_hundred_thousand_levels_are_compared() -> None:
    assert json_equal(nested(20_000, 1), nested(20_000, 1.0))
    difference = first_difference(nested(100_000, 1), nested(100_000, 2))
    assert difference is not None
    assert len(difference.path) == 100_000
    assert str(difference).endswith("expected 1, found 2")


@given(values())
def test_every_value_equals_its_copy_and_its_rereading(value: Any) -> None:
    assert json_equal(value, copy.deepcopy(value))
    assert json_equal(value, read_json(json.dumps(value), exact=True))


@given(values(), values())
def test_equality_is_symmetric_and_agrees_with_python_without_booleans(a: Any, b: Any) -> None:
    assert json_equal(a, b) == json_equal(b, a)
    if "true" not in json.dumps([a, b]) and "false" not in json.dumps([a, b]):
        assert json_equal(a, b) == (a == b)


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_equals_every_spelling_of_its_value(number: float) -> None:
    for spelling in (json.dumps(number), f"{Decimal(repr(number)):e}"):
        assert json_equal(number, read_json(spelling, exact=True))
    longer = f"{number}1" if "." in repr(number) and "e" not in repr(number) else f"-{number}7"
    assert not json_equal(number, read_json(longer, exact=True))


@given(values(), values())
def test_a_difference_is_really_there(a: Any, b: Any) -> None:
    difference = first_difference(a, b)
    if difference is None:
        return
    *ancestors, last = difference.path or (None,)
    for step in ancestors:
        a, b = a[step], b[step]
    if difference.path:
        sides = [
            side[last] for side in (a, b) if last in (side if isinstance(side, dict) else range(len(side)))
        ]
    else:
        sides = [a, b]
    assert sides == [side for side in difference[1:] if side in sides]
