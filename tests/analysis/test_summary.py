"""The summary of a run, folded result by result."""

from __future__ import annotations

import math
import random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.analysis.summary import SummaryFold
from evenhand.errors import ErrorClass
from evenhand.model.exchange import Usage
from evenhand.model.outcome import Outcome, Status
from evenhand.model.result import CaseResult, CaseStatus, Summary
from support.stored_results import a_result, a_skipped_result, an_assert, an_errored_result, counted_results
from support.vectors import row_id, rows


def fold_of(results: list[CaseResult]) -> SummaryFold:
    fold = SummaryFold()
    for result in results:
        fold.add(result)
    return fold


def summary_of(*results: CaseResult) -> Summary:
    return fold_of(list(results)).summary()


@settings(max_examples=40)
@given(st.lists(counted_results, max_size=6), st.integers())
def test_order_of_results_does_not_matter(results: list[CaseResult], seed: int) -> None:
    shuffled = results[:]
    random.Random(seed).shuffle(shuffled)
    assert fold_of(shuffled).summary() == fold_of(results).summary()


@settings(max_examples=40)
@given(st.lists(counted_results, max_size=4), st.lists(counted_results, max_size=4))
def test_folds_of_parts_merge_into_the_fold_of_the_whole(
    first: list[CaseResult], second: list[CaseResult]
) -> None:
    merged = fold_of(first)
    merged.merge(fold_of(second))
    assert merged.summary() == fold_of(first + second).summary()


@settings(max_examples=40)
@given(st.lists(counted_results, max_size=6))
def test_summary_is_the_same_after_the_results_were_stored(results: list[CaseResult]) -> None:
    decoder = msgspec.json.Decoder(CaseResult)
    stored = [decoder.decode(msgspec.json.encode(result)) for result in results]
    assert fold_of(stored).summary() == fold_of(results).summary()


@settings(max_examples=40)
@given(st.lists(counted_results, max_size=6))
def test_summary_is_finite_and_its_counts_add_up(results: list[CaseResult]) -> None:
    summary = fold_of(results).summary()
    assert summary.total == len(results)
    assert summary.total == sum(
        (summary.passed, summary.failed, summary.errored, summary.skipped, summary.xfailed, summary.xpassed)
    )
    assert sum(summary.error_counts.values()) == summary.errored
    assert set(summary.named_scores) == set(summary.named_counts)
    assert all(math.isfinite(value) for value in summary.named_scores.values())
    assert summary.mean_score is None or math.isfinite(summary.mean_score)
    assert msgspec.json.decode(msgspec.json.encode(summary), type=Summary) == summary


def test_rate_is_over_judged_cases_only() -> None:
    summary = summary_of(
        a_result(0),
        a_result(1, status=CaseStatus.FAIL),
        a_result(2, asserts=(), unchecked=True),
        an_errored_result(3),
        a_skipped_result(4),
    )
    assert (summary.total, summary.judged, summary.unchecked, summary.errored) == (5, 2, 1, 1)
    assert summary.pass_rate == 0.5
    assert summary.mean_score == 0.5
    assert (summary.pass_rate_low, summary.pass_rate_high) == pytest.approx((0.094531, 0.905469), abs=1e-6)


def test_expected_failures_were_judged_and_were_wrong() -> None:
    summary = summary_of(
        a_result(0, status=CaseStatus.XFAIL, score=0.0), a_result(1, status=CaseStatus.XPASS), a_result(2)
    )
    assert summary.judged == 3
    assert summary.pass_rate == pytest.approx(2 / 3)


def test_nothing_judged_has_no_rate_and_no_mean() -> None:
    summary = summary_of(an_errored_result())
    assert summary.pass_rate is summary.pass_rate_low is summary.mean_score is None
    assert summary.errored == 1


@pytest.mark.parametrize(
    "row", [r for r in rows("field-cases") if r["id"] == "single-cluster-stderr"], ids=row_id
)
def test_single_case_has_a_finite_interval(row: dict[str, Any]) -> None:
    summary = summary_of(*(a_result(place) for place in range(row["input"]["suite_cases"])))
    assert summary.pass_rate == summary.pass_rate_high == 1
    assert summary.pass_rate_low == pytest.approx(0.206549, abs=1e-6)


@pytest.mark.parametrize(
    "row", [r for r in rows("field-cases") if r["id"] == "nan-hidden-by-nanmean"], ids=row_id
)
def test_errors_stand_beside_the_mean_and_not_in_it(row: dict[str, Any]) -> None:
    given_counts, expected = row["input"], row["expected"]["run"]
    results = [a_result(place) for place in range(given_counts["graded_ok"])]
    results += [
        an_errored_result(100 + place, ErrorClass.GRADER_FAILED)
        for place in range(given_counts["graded_error"])
    ]
    summary = summary_of(*results)
    assert summary.mean_score == expected["mean_over_graded"]
    assert summary.errored == expected["errors"]
    assert summary.error_counts == {"grader_failed": expected["errors"]}


@pytest.mark.parametrize(
    "row", [r for r in rows("field-cases") if r["id"] == "named-scores-count"], ids=row_id
)
def test_named_scores_count_every_assertion(row: dict[str, Any]) -> None:
    asserts = tuple(an_assert(kind=a["type"], metric=a["metric"]) for a in row["input"]["asserts"])
    summary = summary_of(a_result(asserts=asserts))
    assert summary.named_scores == row["expected"]["named"]
    assert summary.named_counts == row["expected"]["named_count"]


def test_named_scores_are_means_over_judged_assertions() -> None:
    summary = summary_of(
        a_result(0, asserts=(an_assert(metric="tone", score=0.25), an_assert(metric="tone", score=0.75))),
        a_result(1, asserts=(an_assert(metric="tone"), an_assert(named_scores={"tone": 0.0, "style": 0.5}))),
        a_result(
            2, asserts=(an_assert(Status.ERROR, metric="tone"), an_assert(Status.SKIPPED, metric="tone"))
        ),
    )
    assert summary.named_scores == {"style": 0.5, "tone": 0.5}
    assert summary.named_counts == {"style": 1, "tone": 4}


def test_costs_are_exact_to_the_micro_dollar() -> None:
    summary = summary_of(*(a_result(place, cost_usd=0.1) for place in range(10)), a_result(11, cost_usd=0.2))
    assert summary.cost_usd == 1.2
    tiny = summary_of(*(a_result(place, cost_usd=0.000_000_4) for place in range(1_000)))
    assert tiny.cost_usd == 0.0004


def test_cost_of_graders_stands_apart() -> None:
    summary = summary_of(a_result(asserts=(an_assert(cost_usd=0.5), an_assert(cost_usd=0.25)), cost_usd=1.0))
    assert (summary.cost_usd, summary.grader_cost_usd) == (1.0, 0.75)


def test_unreported_cost_is_absent_and_an_absurd_one_does_not_break_the_summary() -> None:
    assert summary_of(a_result()).cost_usd is None
    assert summary_of(a_result(0, cost_usd=1e308), a_result(1, cost_usd=1e308)).cost_usd is None


def test_tokens_are_summed_with_cached_ones_in_the_prompt() -> None:
    usage = Usage(input_tokens=10, output_tokens=5, cache_read_tokens=3, cache_write_tokens=2)
    summary = summary_of(a_result(0, usage=usage), a_result(1, usage=usage), a_result(2))
    assert (summary.prompt_tokens, summary.completion_tokens) == (26, 10)
    assert (summary.cache_read_tokens, summary.cache_write_tokens) == (6, 4)


def test_unenforced_budgets_are_counted_inside_groups_too() -> None:
    budget = Outcome(status=Status.PASS, score=1.0, unenforced=True)
    inner = Outcome(status=Status.PASS, score=1.0, parts=(budget, budget))
    group = an_assert(kind="all-of", parts=(inner, budget, Outcome(status=Status.PASS, score=1.0)))
    summary = summary_of(a_result(asserts=(group, an_assert(kind="cost", unenforced=True))))
    assert summary.unenforced_budgets == 4
    assert summary.judged_assertions == 1


def test_group_of_nothing_but_unenforced_budgets_counts_them_once() -> None:
    budget = Outcome(status=Status.PASS, score=1.0, unenforced=True)
    group = an_assert(kind="all-of", parts=(budget, budget), unenforced=True)
    assert summary_of(a_result(asserts=(group,), unchecked=True)).unenforced_budgets == 2


def test_retries_count_for_calls_that_were_made() -> None:
    summary = summary_of(
        a_result(0, attempts=2), a_result(1, attempts=1), a_result(2, attempts=3, cached=True)
    )
    assert (summary.retried_cases, summary.cache_hits) == (1, 1)


def test_empty_reasons_and_skipped_assertions_are_counted() -> None:
    summary = summary_of(
        a_result(0, empty_reason="truncated"),
        a_result(1, empty_reason="truncated", asserts=(an_assert(Status.SKIPPED),)),
    )
    assert summary.empty_counts == {"truncated": 2}
    assert (summary.judged_assertions, summary.skipped_assertions) == (1, 1)


def test_latency_quantiles_are_within_one_percent() -> None:
    summary = fold_of([a_result(place, latency_ms=float(place + 1)) for place in range(1_000)]).summary(
        wall_ms=5.0
    )
    assert summary.latency_ms_p50 == pytest.approx(500, rel=0.01)
    assert summary.latency_ms_p95 == pytest.approx(950, rel=0.01)
    assert summary.wall_ms == 5.0


def test_summary_of_no_results_is_the_default() -> None:
    assert SummaryFold().summary() == Summary()
