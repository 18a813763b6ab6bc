"""Sums in which no order of adding changes a digit."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.analysis.exact_sum import ExactSum

numbers = st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=20)


def sum_of(values: list[float]) -> ExactSum:
    total = ExactSum()
    for value in values:
        total.add(value)
    return total


@given(st.lists(st.floats(1e-8, 1e300) | st.floats(-1e300, -1e-8) | st.just(0.0), max_size=20))
def test_sum_is_exact(values: list[float]) -> None:
    assert sum_of(values).total == sum(map(Fraction, values))


@given(numbers, st.randoms())
def test_order_does_not_matter(values: list[float], random: object) -> None:
    shuffled = values[:]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert sum_of(shuffled).total == sum_of(values).total


@given(numbers, numbers)
def test_sums_of_parts_merge_into_the_sum_of_the_whole(first: list[float], second: list[float]) -> None:
    merged = sum_of(first)
    merged.merge(sum_of(second))
    whole = sum_of(first + second)
    assert (merged.total, merged.count) == (whole.total, whole.count)


@given(st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=20))
def test_mean_lies_between_the_smallest_and_the_largest(values: list[float]) -> None:
    mean = sum_of(values).mean
    assert mean is not None
    assert min(values) - 1e-23 <= mean <= max(values) + 1e-23


def test_mean_of_the_largest_floats_is_finite() -> None:
    largest = 1.7976931348623157e308
    assert sum_of([largest] * 3).mean == largest


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_left_out(value: float) -> None:
    total = sum_of([value, 2.0])
    assert (total.mean, total.count) == (2.0, 1)


def test_mean_of_nothing_is_absent() -> None:
    assert ExactSum().mean is None
