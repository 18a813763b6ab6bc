"""The pass rate of repeated cases."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.analysis.clustered import ClusteredRate
from evenhand.analysis.stats import wilson

cases = st.lists(st.integers(1, 8).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), max_size=40)


def rate_of(counts: list[tuple[int, int]]) -> ClusteredRate:
    rate = ClusteredRate()
    for passed, cells in counts:
        rate.add(passed, cells)
    return rate


@given(st.lists(st.booleans(), max_size=60))
def test_with_one_cell_a_case_the_interval_is_wilsons(passes: list[bool]) -> None:
    assert rate_of([(int(p), 1) for p in passes]).interval() == wilson(sum(passes), len(passes))


@given(cases)
def test_the_interval_is_never_narrower_than_that_over_cells(counts: list[tuple[int, int]]) -> None:
    passed, cells = sum(p for p, _ in counts), sum(n for _, n in counts)
    clustered, plain = rate_of(counts).interval(), wilson(passed, cells)
    assert clustered.low <= plain.low + 1e-12
    assert clustered.high >= plain.high - 1e-12
    assert 0 <= clustered.low <= clustered.rate <= clustered.high <= 1


@given(cases, cases)
def test_merging_counts_everything(first: list[tuple[int, int]], second: list[tuple[int, int]]) -> None:
    merged = rate_of(first)
    merged.merge(rate_of(second))
    assert merged.interval() == rate_of(first + second).interval()


def test_repeats_that_all_agree_count_as_one_case_each() -> None:
    repeated = rate_of([(5, 5)] * 12 + [(0, 5)] * 8)
    assert repeated.effective_size == pytest.approx(19)
    assert repeated.interval().low == pytest.approx(wilson(12, 20).low, abs=0.01)


def test_repeats_that_scatter_like_single_throws_count_in_full() -> None:
    throws = random.Random(3)
    counts = [(sum(throws.random() < 0.6 for _ in range(5)), 5) for _ in range(2_000)]
    assert rate_of(counts).effective_size == pytest.approx(10_000, rel=0.1)


def test_the_interval_covers_the_true_rate_where_repeats_of_a_case_hang_together() -> None:
    draw = random.Random(11)
    covered = plain_covered = 0
    for _ in range(400):
        counts = []
        for _ in range(40):
            chance = draw.betavariate(0.7, 0.3)
            counts.append((sum(draw.random() < chance for _ in range(5)), 5))
        interval = rate_of(counts).interval()
        covered += interval.low <= 0.7 <= interval.high
        plain = wilson(sum(p for p, _ in counts), 200)
        plain_covered += plain.low <= 0.7 <= plain.high
    assert covered >= 0.92 * 400
    assert plain_covered < 0.85 * 400
