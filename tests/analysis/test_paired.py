"""Tests over paired runs."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from evenhand.analysis.paired import (
    LARGE,
    clustered_mcnemar,
    fewest_changes,
    holm,
    mean_difference,
    minimum_detectable_change,
)
from evenhand.analysis.stats import mcnemar, wilson


@pytest.mark.parametrize(
    ("only_first", "only_second"), [(0, 5), (1, 9), (2, 8), (7, 7), (10, 31), (600, 700)]
)
def test_mcnemar_and_its_mid_p_agree_with_scipy(only_first: int, only_second: int) -> None:
    pairs = only_first + only_second
    test = mcnemar(only_first, only_second)
    assert test.p_value == pytest.approx(scipy_stats.binomtest(only_first, pairs).pvalue, rel=1e-9)
    point = scipy_stats.binom.pmf(min(only_first, only_second), pairs, 0.5)
    expected = 1 - point / 2 if only_first == only_second else test.p_value - point
    assert test.mid_p == pytest.approx(expected, rel=1e-8)


def test_mid_p_is_that_of_the_published_example() -> None:
    # Fagerland et al. 2013, table 5 (airway hyper-responsiveness): 1 and 7 discordant pairs.
    assert mcnemar(1, 7).p_value == pytest.approx(0.0703, abs=5e-5)
    assert mcnemar(1, 7).mid_p == pytest.approx(0.0391, abs=5e-5)


@pytest.mark.parametrize(("passed", "total"), [(0, 7), (3, 9), (95, 100), (100, 100)])
def test_wilson_agrees_with_scipy(passed: int, total: int) -> None:
    expected = scipy_stats.binomtest(passed, total).proportion_ci(method="wilson")
    assert wilson(passed, total)[1:] == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_holm_adjusts_as_in_the_published_example() -> None:
    # Holm's step-down on 0.01, 0.04, 0.03, 0.005: 4, 3, 2 times the smallest three, never falling.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_never_lowers_a_p_value_and_keeps_their_order(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(a >= p for a, p in zip(adjusted, p_values, strict=True))
    ranked = sorted(range(len(p_values)), key=lambda i: p_values[i])
    assert all(adjusted[a] <= adjusted[b] for a, b in itertools.pairwise(ranked))


@given(st.integers(0, 30), st.integers(0, 30))
def test_moves_of_one_unit_are_mcnemars(worse: int, better: int) -> None:
    assert clustered_mcnemar({-1: worse, 1: better}) == mcnemar(worse, better)
    assert clustered_mcnemar({-3: worse, 3: better, 0: 99}) == mcnemar(worse, better)


@settings(max_examples=40)
@given(st.dictionaries(st.integers(-4, 4), st.integers(0, 2), max_size=5))
def test_moves_of_several_units_are_tested_over_all_signs(changes: dict[int, int]) -> None:
    sizes = [abs(size) for size, count in changes.items() for _ in range(count) if size]
    observed = abs(sum(size * count for size, count in changes.items()))
    sums = [
        abs(sum(s * w for s, w in zip(signs, sizes, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(sizes))
    ]
    expected = sum(total >= observed for total in sums) / len(sums)
    assert clustered_mcnemar(changes).p_value == pytest.approx(expected, abs=1e-12)


def test_many_repeated_cases_are_tested_by_the_normal_approximation_without_a_step() -> None:
    changes = {-3: 280, 1: 300, 2: 200}
    exact = clustered_mcnemar(changes).p_value
    sizes = np.array([abs(s) for s, n in changes.items() for _ in range(n)])
    z = (abs(sum(s * n for s, n in changes.items())) - 1) / np.sqrt((sizes**2).sum())
    assert exact == pytest.approx(2 * scipy_stats.norm.sf(z), rel=0.05)
    assert clustered_mcnemar({size: 50 * count for size, count in changes.items()}).p_value < exact


def test_the_bootstrap_interval_agrees_with_scipys() -> None:
    draw = random.Random(5)
    values = [draw.gauss(0.05, 0.2) for _ in range(80)]
    found = mean_difference(values)
    expected = scipy_stats.bootstrap(
        (values,), np.mean, method="percentile", n_resamples=5_000, rng=np.random.default_rng(1)
    ).confidence_interval
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.006)
    signs = scipy_stats.permutation_test(
        (values, [0.0] * 80), lambda a, b, axis: np.mean(a - b, axis=axis), permutation_type="samples",
        n_resamples=5_000, rng=np.random.default_rng(2),
    )  # fmt: skip
    assert found.p_value == pytest.approx(signs.pvalue, abs=0.02)


def test_a_large_sample_is_tested_as_a_t_test_would() -> None:
    draw = random.Random(6)
    values = [draw.gauss(0.01, 0.2) for _ in range(4 * LARGE)]
    found, expected = mean_difference(values), scipy_stats.ttest_1samp(values, 0)
    assert found.p_value == pytest.approx(expected.pvalue, abs=0.003)
    assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval()), abs=1e-4)


@given(st.lists(st.floats(-1, 1), max_size=30))
@settings(max_examples=25, deadline=None)
def test_the_mean_difference_is_deterministic_and_inside_its_bounds(values: list[float]) -> None:
    found = mean_difference(values)
    assert found == mean_difference(values)
    assert found.low <= found.mean <= found.high
    assert 0 < found.p_value <= 1


def test_a_handful_of_cases_never_gives_a_small_p_value() -> None:
    assert mean_difference([0.5]).p_value == 1
    assert mean_difference([0.5, 0.5, 0.5]).p_value == pytest.approx(0.25)
    assert mean_difference([]).p_value == mean_difference([0.0] * 9).p_value == 1


def test_the_detectable_change_is_one_that_the_test_sees_four_times_in_five() -> None:
    share, cases = 0.12, 150
    change = minimum_detectable_change(cases, share)
    assert change == pytest.approx(0.0786, abs=0.0005)
    draw = random.Random(1)
    worse = (share + change) / 2
    seen = 0
    for _ in range(1_500):
        moved = [1 if (u := draw.random()) < worse else -1 if u < share else 0 for _ in range(cases)]
        seen += mcnemar(moved.count(1), moved.count(-1)).mid_p < 0.05
    assert seen / 1_500 == pytest.approx(0.8, abs=0.05)


@given(st.integers(6, 5_000), st.floats(0, 1))
@settings(max_examples=40)
def test_more_cases_see_smaller_changes(cases: int, share: float) -> None:
    few, many = minimum_detectable_change(cases, share), minimum_detectable_change(4 * cases, share)
    assert few is not None
    assert many is not None
    assert many <= few <= 1


def test_too_few_cases_see_nothing() -> None:
    assert fewest_changes(0.05) == 6
    assert mcnemar(0, 6).significant
    assert not mcnemar(0, 5).significant
    assert minimum_detectable_change(5, 1.0) is None
    assert minimum_detectable_change(0, 0.0) is None
