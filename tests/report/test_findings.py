from __future__ import annotations

from collections.abc import Collection, Iterator

import pytest

from evenhand.model.result import CaseResult, CaseStatus
from evenhand.report.findings import MAX_CELLS, MAX_CLIPPED, clipped, find, unchecked
from support.results import SAMPLE_CASES, SAMPLE_RUN, assertion, cell_result, query, run_of


def test_failures_are_grouped_by_test_and_reasons_and_errors_by_class_and_message() -> None:
    findings = find(SAMPLE_RUN, query(SAMPLE_CASES))
    assert [(g.first.cell.test_id, g.count) for g in findings.failures] == [
        ("refunds/partial", 1),
        ("refunds/partial", 1),
        ("hostile/markup", 1),
        ("known/bug", 1),
        ("score/low", 1),
    ]
    assert [(g.first.error_class, g.count) for g in findings.errors] == [
        ("provider_timeout", 7),
        ("assert_failed", 1),
    ]


def test_repeats_that_fail_alike_are_one_group() -> None:
    cases = [cell_result("t", "fail", assertion("equals", "fail", "no", 0.0), repeat=n) for n in range(30)]
    [group] = find(run_of(cases), query(cases)).failures
    assert group.count == 30
    assert [key.repeat for key, _ in group.cells] == list(range(MAX_CELLS))


def test_groups_are_bounded_and_the_rest_is_counted() -> None:
    failed = [cell_result(f"f/{n}", "fail", assertion("equals", "fail", "no")) for n in range(50)]
    errored = [cell_result(f"e/{n}", "error", error=f"broke {n}") for n in range(50)]
    findings = find(run_of(failed + errored), query([*failed, *errored, *failed[:1]]), max_groups=3)
    assert (len(findings.failures), findings.more_failures) == (3, 47)
    assert (len(findings.errors), findings.more_errors) == (3, 47)
    assert findings.failures[0].count == 2


def test_a_group_keeps_only_the_beginning_of_large_texts() -> None:
    case = cell_result(
        "t", "fail", output="line\n" * 100_000, raw={"x": 1}, vars={"v": "w"}, prompt={"text": "p" * 9_000}
    )
    [group] = find(run_of([case]), query([case])).failures
    assert group.output is not None
    assert group.prompt is not None
    assert (len(group.output.head), group.output.lines) == (MAX_CLIPPED, 100_000)
    assert (len(group.prompt.head), group.prompt.lines) == (MAX_CLIPPED, 1)
    assert (group.first.output, group.first.raw, group.first.vars) == (None, None, {})


def test_a_run_in_which_everything_passed_is_not_read() -> None:
    def unread(*, statuses: Collection[CaseStatus] | None = None) -> Iterator[CaseResult]:
        raise AssertionError("read")

    run = run_of([cell_result("t", "pass")], exit_code=0)
    assert find(run, unread).failures == []
    assert unchecked(run, unread) == []


def test_a_run_that_never_ended_is_read_whatever_its_summary_says() -> None:
    run = run_of([], exit_code=None)
    assert len(find(run, query([cell_result("t", "fail")])).failures) == 1


def test_unchecked_cases_are_read_only_as_far_as_they_are_named() -> None:
    read = []

    def counting(*, statuses: Collection[CaseStatus] | None = None) -> Iterator[CaseResult]:
        for number in range(100):
            read.append(number)
            yield cell_result(f"t/{number // 2}", "pass", unchecked=True)

    run = run_of([cell_result("t", "pass", unchecked=True)])
    assert unchecked(run, counting) == ["t/0", "t/1", "t/2"]
    assert len(read) == 5


@pytest.mark.parametrize(
    ("text", "lines"), [("", 1), ("a", 1), ("a\n", 1), ("a\nb", 2), ("a\nb\n", 2), ("\n\n", 2)]
)
def test_a_line_break_at_the_end_begins_no_further_line(text: str, lines: int) -> None:
    assert clipped(text).lines == lines
