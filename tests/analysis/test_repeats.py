"""What repeats of the same questions show."""

from __future__ import annotations

import random

import pytest

from evenhand.analysis.stats import pass_at_k, pass_hat_k, wilson
from evenhand.analysis.summary import SummaryFold
from evenhand.model.result import CaseResult, CaseStatus, CellKey, RepeatDecision
from support.stored_results import a_result

PASS, FAIL, ERROR = CaseStatus.PASS, CaseStatus.FAIL, CaseStatus.ERROR


def repeats(test: str, *statuses: CaseStatus, count: int | None = None) -> list[CaseResult]:
    return [
        a_result(
            status=status,
            cell=CellKey(provider_id="p", test_id=test, repeat=number),
            repeats=count or len(statuses),
        )
        for number, status in enumerate(statuses)
    ]


def fold_of(*results: CaseResult) -> SummaryFold:
    fold = SummaryFold()
    for result in results:
        fold.add(result)
    return fold


MIXED = [
    *repeats("steady", PASS, PASS, PASS),
    *repeats("flaky", PASS, FAIL, PASS),
    *repeats("broken", FAIL, FAIL, FAIL),
    *repeats("errored", PASS, ERROR, FAIL),
]


def test_flaky_cases_are_named_with_their_rate_and_interval() -> None:
    found = fold_of(*MIXED).summary().repeats
    assert found is not None
    assert (found.cases, found.flaky) == (4, 2)
    assert [(case.test_id, case.passed, case.judged) for case in found.flaky_cases] == [
        ("errored", 1, 2),
        ("flaky", 2, 3),
    ]
    assert (found.flaky_cases[1].low, found.flaky_cases[1].high) == wilson(2, 3)[1:]


def test_pass_at_k_and_pass_hat_k_are_means_over_cases_with_enough_repeats() -> None:
    found = fold_of(*MIXED).summary().repeats
    assert found is not None
    counts = [(3, 3), (3, 2), (3, 0), (2, 1)]
    assert found.cases_at_k == {"1": 4, "2": 4, "3": 3}
    for k in (1, 2, 3):
        enough = [(n, p) for n, p in counts if n >= k]
        assert found.pass_at_k[str(k)] == pytest.approx(
            sum(pass_at_k(n, p, k) for n, p in enough) / len(enough)
        )
        assert found.pass_hat_k[str(k)] == pytest.approx(
            sum(pass_hat_k(n, p, k) for n, p in enough) / len(enough)
        )


def test_the_interval_of_the_pass_rate_counts_cases_and_not_cells() -> None:
    cells = [result for i in range(10) for result in repeats(f"t{i}", *[PASS if i else FAIL] * 5)]
    summary = fold_of(*cells).summary()
    assert (summary.judged, summary.pass_rate) == (50, 0.9)
    assert summary.pass_rate_low is not None
    assert summary.pass_rate_low == pytest.approx(wilson(9, 10).low, abs=0.03)
    assert summary.pass_rate_low < wilson(45, 50).low


def test_cases_asked_once_stand_beside_repeated_ones() -> None:
    summary = fold_of(a_result(0), a_result(1, status=FAIL), *repeats("t", PASS, PASS)).summary()
    assert summary.pass_rate == 0.75
    assert fold_of(a_result(0), a_result(1)).summary().repeats is None


def test_order_and_parts_do_not_matter() -> None:
    shuffled = list(MIXED)
    random.Random(4).shuffle(shuffled)
    merged = fold_of(*shuffled[:5])
    merged.merge(fold_of(*shuffled[5:]))
    assert merged.summary() == fold_of(*MIXED).summary()


def test_a_run_that_ended_early_counts_the_repeats_that_it_has() -> None:
    fold = fold_of(*repeats("t", PASS, FAIL, count=5))
    assert fold.summary().repeats == fold.summary().repeats
    found = fold.summary().repeats
    assert found is not None
    assert (found.cases, found.flaky, found.pass_at_k) == (1, 1, {"1": 0.5, "2": 1.0})


def test_no_question_is_held_beyond_its_last_repeat() -> None:
    fold = SummaryFold()
    for i in range(500):
        for result in repeats(f"t{i}", PASS, FAIL, PASS):
            fold.add(result)
    assert fold._repeats is not None
    assert not fold._repeats._open
    assert len(fold._repeats._flaky) <= 20


def test_decisions_and_calls_saved_are_added_up() -> None:
    last = a_result(repeats=8, decision=RepeatDecision(verdict="passing", passed=8, failed=0, calls_saved=12))
    found = fold_of(last).summary().repeats
    assert found is not None
    assert (found.passing, found.failing, found.undecided, found.calls_saved) == (1, 0, 0, 12)
