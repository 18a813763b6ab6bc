from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import ErrorClass
from evenhand.model.result import Filters, RunStatus, Summary
from evenhand.report import figures
from support.results import SAMPLE_RUN, run_of


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0%"),
        (1, "100%"),
        (0.5, "50.0%"),
        (0.9999, "99.9%"),
        (0.0001, "0.1%"),
        (0.979, "97.9%"),
        (1.0, "100%"),
    ],
)
def test_only_all_reads_as_100_percent(share: float, text: str) -> None:
    assert figures.percent(share) == text


@given(st.floats(0, 1, exclude_min=True, exclude_max=True))
def test_a_share_between_none_and_all_never_reads_as_either(share: float) -> None:
    assert figures.percent(share) not in ("0%", "0.0%", "100%", "100.0%")


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (0, "0.0 ms"),
        (0.12, "0.1 ms"),
        (12.4, "12 ms"),
        (999.4, "999 ms"),
        (999.6, "1.0 s"),
        (12_400, "12.4 s"),
        (59_960, "1 min 00 s"),
        (125_000, "2 min 05 s"),
        (3_720_000, "1 h 02 min"),
    ],
)
def test_a_time_is_written_in_the_unit_that_suits_it(milliseconds: float, text: str) -> None:
    assert figures.duration(milliseconds) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0, "$0"),
        (12.345, "$12.35"),
        (1234.5, "$1,234.50"),
        (0.5, "$0.500"),
        (0.0123, "$0.0123"),
        (0.00001, "$0.0000100"),
    ],
)
def test_money_has_as_many_decimals_as_it_needs(amount: float, text: str) -> None:
    assert figures.dollars(amount) == text


def test_every_error_class_says_what_to_do() -> None:
    assert set(figures.REMEDIES) == set(ErrorClass)
    assert figures.remedy("from-a-later-version") == ""
    assert figures.remedy(None) == ""


@pytest.mark.parametrize(
    ("exit_code", "summary", "word", "explanation"),
    [
        (None, Summary(), "UNFINISHED", "the run did not reach its end"),
        (0, Summary(total=1, passed=1), "PASSED", ""),
        (1, Summary(total=1, failed=1), "FAILED", ""),
        (2, Summary(), "NOT JUDGED", "there was nothing to run"),
        (
            2,
            Summary(total=1, errored=1, error_counts={"render_failed": 1}),
            "NOT JUDGED",
            "something in the suite",
        ),
        (2, Summary(total=1, skipped=1), "NOT JUDGED", "every case was skipped"),
        (2, Summary(total=1, passed=1, unchecked=1), "NOT JUDGED", "no assertion was judged"),
        (2, Summary(total=1, passed=1, judged_assertions=1), "NOT JUDGED", "does not carry a verdict"),
        (3, Summary(total=1, errored=1), "ERROR", "the machinery failed"),
        (130, Summary(), "INTERRUPTED", "what was finished is kept"),
    ],
)
def test_the_headline_follows_the_exit_code(
    exit_code: int | None, summary: Summary, word: str, explanation: str
) -> None:
    run = msgspec.structs.replace(SAMPLE_RUN, exit_code=exit_code, summary=summary)
    found = figures.headline(run)
    assert found.word == word
    assert explanation in found.explanation
    assert found.good == (exit_code == 0)


def test_a_run_of_nothing_names_the_filters_that_left_nothing() -> None:
    filters = Filters(tags=("smoke",), filters=("billing/*",))
    run = msgspec.structs.replace(SAMPLE_RUN, exit_code=2, summary=Summary(), filters=filters)
    assert figures.headline(run).explanation == (
        "there was nothing to run: no case is left by --tag 'smoke' --filter 'billing/*'"
    )


def test_no_rate_is_printed_without_the_count_of_errors_beside_it() -> None:
    summary = Summary(
        total=10, passed=5, errored=5, judged=5, pass_rate=1.0, pass_rate_low=0.5655, pass_rate_high=1.0
    )
    assert (
        figures.rate(summary) == "pass rate 100%, 95% interval 56.5% to 100%, over 5 judged cases; 5 errored"
    )


def test_a_rate_without_interval_is_printed_alone() -> None:
    summary = Summary(total=2, passed=1, failed=1, judged=2, pass_rate=0.5)
    assert figures.rate(summary) == "pass rate 50.0%, over 2 judged cases; 0 errored"


def test_no_rate_is_printed_where_nothing_was_judged() -> None:
    assert figures.rate(Summary(total=3, errored=3)) == ""


def test_notes_tell_of_what_did_not_run() -> None:
    run = run_of([], planned_cells=10)
    run = msgspec.structs.replace(
        run, status=RunStatus.STOPPED, summary=Summary(total=4, unenforced_budgets=1)
    )
    assert figures.notes(run) == [
        "the run was ended early by its limit on failures",
        "4 of 10 planned cells ran",
        "1 budget could not be enforced: the provider reported no cost or tokens",
    ]


def test_names_invented_by_programs_are_bounded() -> None:
    counts = {f"reason-{number:03}": 1 for number in range(500)} | {"often": 7}
    shown = figures.most_frequent(counts)
    assert shown[0] == ("often", 7)
    assert len(shown) == 10


def test_the_effort_line_leaves_out_what_is_unknown() -> None:
    assert figures.effort(Summary()) == []
    assert figures.effort(SAMPLE_RUN.summary) == [
        "12.4 s",
        "calls p50 310 ms, p95 912 ms",
        "7 cases retried",
        "12,345 tokens in, 2,345 out",
        "$0.0123",
    ]
    assert figures.effort(Summary(grader_cost_usd=0.5)) == ["$0.500 for graders"]
