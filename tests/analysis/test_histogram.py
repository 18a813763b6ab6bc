"""Quantiles in bounded memory."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.analysis.histogram import RELATIVE_ERROR, LogHistogram

latencies = st.lists(st.floats(1e-3, 1e9), min_size=1, max_size=100)


def histogram_of(values: list[float]) -> LogHistogram:
    histogram = LogHistogram()
    for value in values:
        histogram.add(value)
    return histogram


@given(latencies, st.floats(0, 1))
def test_quantile_is_within_the_stated_error_of_the_nearest_rank(values: list[float], share: float) -> None:
    exact = sorted(values)[max(1, math.ceil(share * len(values))) - 1]
    assert histogram_of(values).quantile(share) == pytest.approx(exact, rel=RELATIVE_ERROR + 1e-9)


@given(latencies, latencies)
def test_histograms_of_parts_merge_into_that_of_the_whole(first: list[float], second: list[float]) -> None:
    merged = histogram_of(first)
    merged.merge(histogram_of(second))
    whole = histogram_of(second + first)
    for share in (0, 0.1, 0.5, 0.95, 1):
        assert merged.quantile(share) == whole.quantile(share)


@given(st.floats(-1e300, 1e300))
def test_quantiles_of_one_measurement_are_that_measurement(value: float) -> None:
    assert histogram_of([value]).quantile(0.5) == value


def test_a_million_different_measurements_take_a_bounded_number_of_buckets() -> None:
    histogram = LogHistogram()
    for exponent in range(-3_000, 9_000):
        histogram.add(10 ** (exponent / 1_000) * 1e-3)
    histogram.add(1e300)
    histogram.add(5e-324)
    histogram.add(0.0)
    histogram.add(-1.0)
    assert len(histogram._buckets) < 1_500


def test_what_is_not_finite_is_no_measurement() -> None:
    histogram = histogram_of([math.nan, math.inf, -math.inf])
    assert histogram.count == 0
    assert histogram.quantile(0.5) is None
