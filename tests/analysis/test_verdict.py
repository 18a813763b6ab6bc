"""What counts and classes add up to."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.analysis.summary import SummaryFold
from evenhand.analysis.verdict import Delta, collapse, delta, exit_code
from evenhand.errors import ErrorClass, ExitCode
from evenhand.model.outcome import Status
from evenhand.model.result import CaseResult, CaseStatus, Summary
from support.stored_results import a_result, a_skipped_result, an_assert, an_errored_result
from support.vectors import row_id, rows, topic


def summary_of(*results: CaseResult) -> Summary:
    fold = SummaryFold()
    for result in results:
        fold.add(result)
    return fold.summary()


def result_with(status: str, place: int, **fields: Any) -> CaseResult:
    """A result of a status as the vectors write it: `pass`, or `error:<class>`."""
    name, _, error_class = status.partition(":")
    if name == "error":
        return an_errored_result(place, error_class or None)
    if name == "skip":
        return a_skipped_result(place)
    return a_result(place, status=CaseStatus(name), **fields)


@pytest.mark.parametrize("row", topic("gate"), ids=row_id)
def test_exit_code_is_as_tabled(row: dict[str, Any]) -> None:
    fragment = row["suite_fragment"]
    statuses = [s for s, count in fragment.get("case_statuses", {}).items() for _ in range(count)]
    by_fallback = fragment.get("answered_by_fallback", 0)
    results = [
        result_with(status, place, **({"answered_by_provider_id": "other"} if place < by_fallback else {}))
        for place, status in enumerate(statuses)
    ]
    code = exit_code(
        summary_of(*results),
        allow_empty=fragment.get("allow_empty", False),
        allow_unchecked=fragment.get("allow_unchecked", False),
        baseline_missing=fragment.get("baseline") == "unresolved",
        newly_failing=fragment.get("newly_failing", 0),
    )
    assert code == row["expected"]["exit_code"]


@pytest.mark.parametrize(
    "row", [r for r in rows("field-cases") if r["id"] == "exit-error-beats-fail"], ids=row_id
)
def test_error_beats_failure(row: dict[str, Any]) -> None:
    results = [result_with(status, place) for place, status in enumerate(row["input"]["cases"])]
    assert exit_code(summary_of(*results)) == row["expected"]["exit"]


def test_run_without_a_judged_assertion_is_the_suites_fault_unless_allowed() -> None:
    unchecked = summary_of(a_result(asserts=(), unchecked=True))
    assert exit_code(unchecked) is ExitCode.SUITE
    assert exit_code(unchecked, allow_unchecked=True) is ExitCode.OK


def test_run_that_held_only_unenforced_budgets_is_unchecked() -> None:
    budget = an_assert(kind="cost", unenforced=True)
    assert exit_code(summary_of(a_result(asserts=(budget,), unchecked=True))) is ExitCode.SUITE


def test_one_judged_case_among_unchecked_ones_is_enough() -> None:
    results = (a_result(0, asserts=(), unchecked=True), a_result(1))
    assert exit_code(summary_of(*results)) is ExitCode.OK


def test_skipped_runs_stay_the_suites_fault_when_unchecked_ones_are_allowed() -> None:
    assert exit_code(summary_of(a_skipped_result()), allow_unchecked=True) is ExitCode.SUITE


def test_expected_failures_are_green_and_unexpected_passes_red() -> None:
    assert exit_code(summary_of(result_with("xfail", 0))) is ExitCode.OK
    assert exit_code(summary_of(result_with("xpass", 0))) is ExitCode.FAILED


def test_errored_case_without_a_class_is_the_machinerys_fault() -> None:
    assert exit_code(summary_of(an_errored_result(error_class=None))) is ExitCode.HARNESS
    assert exit_code(Summary(total=1, errored=1)) is ExitCode.HARNESS


every_status = st.sampled_from(
    [*(s for s in CaseStatus if s is not CaseStatus.ERROR), "error:assert_failed", "error:exec_failed"]
)


@given(st.lists(every_status, min_size=1, max_size=6))
def test_exit_code_follows_the_ladder(statuses: list[str]) -> None:
    code = exit_code(summary_of(*(result_with(s, place) for place, s in enumerate(statuses))))
    if "error:exec_failed" in statuses:
        assert code is ExitCode.HARNESS
    elif "error:assert_failed" in statuses or set(statuses) == {CaseStatus.SKIP}:
        assert code is ExitCode.SUITE
    elif CaseStatus.FAIL in statuses or CaseStatus.XPASS in statuses:
        assert code is ExitCode.FAILED
    elif set(statuses) <= {CaseStatus.PASS, CaseStatus.XFAIL, CaseStatus.SKIP}:
        assert code is ExitCode.OK


@pytest.mark.parametrize("row", topic("error-collapse"), ids=row_id)
def test_error_classes_collapse_as_tabled(row: dict[str, Any]) -> None:
    classes = row["suite_fragment"]["assert_error_classes"]
    assert collapse(classes) == row["expected"]["case_error_class"]


@given(st.lists(st.sampled_from(ErrorClass), min_size=1, max_size=6))
def test_collapsed_class_leads_to_the_greatest_exit_code(classes: list[ErrorClass]) -> None:
    from evenhand.errors import exit_code_of

    assert collapse(classes) in classes
    assert exit_code_of(collapse(classes)) == max(map(exit_code_of, classes))


def test_first_of_equal_classes_stays() -> None:
    assert collapse([ErrorClass.PROVIDER_AUTH, ErrorClass.CACHE_MISS]) is ErrorClass.PROVIDER_AUTH
    assert collapse(["render_failed", "something_new"]) == "something_new"


def test_collapsing_nothing_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="no error class"):
        collapse([])


@pytest.mark.parametrize("row", topic("diff"), ids=row_id)
def test_delta_is_as_tabled(row: dict[str, Any]) -> None:
    base, head = row["suite_fragment"]["base"], row["suite_fragment"]["head"]
    found = delta(base and CaseStatus(base), head and CaseStatus(head))
    assert found == row["expected"]["delta"]


@pytest.mark.parametrize(
    ("base", "head", "expected"),
    [
        (CaseStatus.XPASS, CaseStatus.XFAIL, Delta.NEWLY_FAILING),
        (CaseStatus.PASS, CaseStatus.ERROR, Delta.NEWLY_FAILING),
        (CaseStatus.SKIP, CaseStatus.XPASS, Delta.NEWLY_PASSING),
        (CaseStatus.ERROR, CaseStatus.XFAIL, Delta.STILL_FAILING),
        (CaseStatus.XPASS, CaseStatus.PASS, Delta.UNCHANGED),
        (CaseStatus.FAIL, None, Delta.REMOVED),
    ],
)
def test_delta_counts_only_pass_and_xpass_as_passing(
    base: CaseStatus | None, head: CaseStatus | None, expected: Delta
) -> None:
    assert delta(base, head) is expected


def test_delta_needs_the_case_in_one_run() -> None:
    with pytest.raises(ValueError, match="neither run"):
        delta(None, None)


def test_status_skipped_of_an_assertion_is_no_judgement() -> None:
    result = a_result(asserts=(an_assert(Status.SKIPPED),), unchecked=True)
    assert exit_code(summary_of(result)) is ExitCode.SUITE


def test_what_was_judged_in_a_skipped_case_alone_is_not_enough() -> None:
    unchecked = a_result(1, asserts=(), unchecked=True)
    skipped = a_result(0, status=CaseStatus.SKIP)
    assert exit_code(summary_of(skipped, unchecked)) is ExitCode.SUITE
    assert exit_code(summary_of(skipped, unchecked), allow_unchecked=True) is ExitCode.OK
