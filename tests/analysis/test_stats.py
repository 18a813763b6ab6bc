"""Formulas over counts."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.analysis.stats import mcnemar, pass_at_k, pass_hat_k, wilson
from support.vectors import row_id, topic

totals = st.integers(0, 2_000_000)
shares = st.tuples(totals, st.floats(0, 1)).map(lambda pair: (round(pair[0] * pair[1]), pair[0]))


@pytest.mark.parametrize("row", topic("stats-wilson"), ids=row_id)
def test_wilson_interval_is_as_tabled(row: dict[str, Any]) -> None:
    given_counts, expected = row["suite_fragment"], row["expected"]
    interval = wilson(given_counts["passed"], given_counts["total"])
    wanted = (expected["rate"], expected["lower"], expected["upper"])
    assert interval == pytest.approx(wanted, abs=expected["tolerance"])


@given(shares)
def test_wilson_interval_lies_in_the_unit_interval_and_holds_the_rate(counts: tuple[int, int]) -> None:
    rate, low, high = wilson(*counts)
    assert 0 <= low <= rate <= high <= 1


@given(shares)
def test_wilson_interval_of_failures_mirrors_that_of_passes(counts: tuple[int, int]) -> None:
    passed, total = counts
    if total:
        assert wilson(total - passed, total).low == pytest.approx(1 - wilson(passed, total).high, abs=1e-12)


def test_wilson_interval_of_nothing_is_zero_and_of_one_case_is_wide() -> None:
    assert wilson(0, 0) == (0, 0, 0)
    assert wilson(1, 1) == pytest.approx((1, 0.206549, 1), abs=1e-6)
    assert wilson(0, 1) == pytest.approx((0, 0, 0.793451), abs=1e-6)


@given(st.integers(1, 200))
def test_wilson_bounds_solve_the_equation_that_defines_them(total: int) -> None:
    z = 1.959963984540054
    for passed in {0, 1, total // 2, total}:
        rate, low, high = wilson(passed, total)
        for bound in (low, high):
            distance = abs(rate - bound)
            if 0 < bound < 1:
                assert distance == pytest.approx(z * math.sqrt(bound * (1 - bound) / total), rel=1e-6)


@pytest.mark.parametrize("row", topic("stats-mcnemar"), ids=row_id)
def test_mcnemar_is_as_tabled(row: dict[str, Any]) -> None:
    given_counts, expected = row["suite_fragment"], row["expected"]
    test = mcnemar(given_counts["b"], given_counts["c"])
    assert test.p_value == pytest.approx(expected["p_value"], abs=expected["tolerance"])
    assert test.significant is expected["significant"]


@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemar_is_the_two_sided_binomial_test(only_first: int, only_second: int) -> None:
    pairs, smaller = only_first + only_second, min(only_first, only_second)
    tail = sum(Fraction(math.comb(pairs, i), 2**pairs) for i in range(smaller + 1))
    assert mcnemar(only_first, only_second).p_value == pytest.approx(float(min(1, 2 * tail)), rel=1e-12)


@given(st.integers(0, 10**7), st.integers(0, 10**7))
def test_mcnemar_is_finite_and_blind_to_the_order_of_the_runs(only_first: int, only_second: int) -> None:
    test = mcnemar(only_first, only_second)
    assert 0 <= test.p_value <= 1
    assert test == mcnemar(only_second, only_first)


@settings(max_examples=20)
@given(st.integers(1, 100))
def test_mcnemar_has_no_step_where_the_method_changes(difference: int) -> None:
    # One pair more on either side hardly changes the probability: compare both methods at their border.
    exact = mcnemar(500 + difference, 500 - difference).p_value
    approximate = mcnemar(501 + difference, 501 - difference).p_value
    assert approximate == pytest.approx(exact, rel=0.05)


@settings(max_examples=20)
@given(st.integers(1_001, 1_500), st.floats(0.4, 0.5))
def test_mcnemar_of_many_pairs_agrees_with_whole_numbers(pairs: int, share: float) -> None:
    smaller = int(pairs * share)
    tail = Fraction(sum(math.comb(pairs, i) for i in range(smaller + 1)), 2**pairs)
    found = mcnemar(smaller, pairs - smaller).p_value
    assert found == pytest.approx(float(min(1, 2 * tail)), rel=1e-8)


@pytest.mark.parametrize("row", topic("stats-pass-at-k"), ids=row_id)
def test_pass_at_k_is_as_tabled(row: dict[str, Any]) -> None:
    given_counts, expected = row["suite_fragment"], row["expected"]
    value = pass_at_k(given_counts["n"], given_counts["passed"], given_counts["k"])
    assert value == pytest.approx(expected["value"], abs=expected["tolerance"])


@given(st.integers(1, 7), st.data())
def test_pass_at_k_and_pass_hat_k_count_the_draws(samples: int, data: st.DataObject) -> None:
    passed = data.draw(st.integers(0, samples))
    k = data.draw(st.integers(1, samples))
    draws = list(itertools.combinations([True] * passed + [False] * (samples - passed), k))
    assert pass_at_k(samples, passed, k) == pytest.approx(sum(map(any, draws)) / len(draws), abs=1e-12)
    assert pass_hat_k(samples, passed, k) == pytest.approx(sum(map(all, draws)) / len(draws), abs=1e-12)


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 60))
def test_repeated_sampling_stays_in_the_unit_interval_for_every_count(
    samples: int, more: int, k: int
) -> None:
    passed = min(samples, more)
    assert 0 <= pass_hat_k(samples, passed, k) <= 1
    assert 0 <= pass_at_k(samples, passed, k) <= 1
    if k and samples:
        assert pass_hat_k(samples, passed, k) <= pass_at_k(samples, passed, k) + 1e-12


def test_repeated_sampling_beyond_the_samples_asks_for_any_or_all() -> None:
    assert pass_at_k(3, 1, 5) == 1
    assert pass_at_k(3, 0, 5) == 0
    assert pass_hat_k(3, 3, 5) == 1
    assert pass_hat_k(3, 2, 5) == 0
    assert pass_at_k(0, 0, 1) == pass_hat_k(0, 0, 1) == 0
