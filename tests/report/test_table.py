from __future__ import annotations

import io
import re

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from evenhand.model.result import CaseResult
from evenhand.report import Page
from evenhand.report.table import MAX_ASSERTIONS, render, render_each
from support.golden import assert_golden
from support.results import (
    SAMPLE_CASES,
    SAMPLE_RUN,
    assertion,
    case_results,
    cell_result,
    query,
    rendered,
    run_of,
)

SGR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize("width", [60, 120])
def test_report_is_laid_out_for_the_width(width: int) -> None:
    page = Page(width=width, stored_in="~/shop/.evenhand/runs.sqlite", view_command="evenhand view")
    assert_golden(f"report/sample-{width}.txt", rendered("table", SAMPLE_RUN, SAMPLE_CASES, page))


def test_report_in_colour_differs_only_by_colours() -> None:
    colored = rendered("table", SAMPLE_RUN, SAMPLE_CASES, Page(color=True))
    assert_golden("report/sample-color.txt", colored)
    assert SGR.sub("", colored) == rendered("table", SAMPLE_RUN, SAMPLE_CASES)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_report_can_be_written_in_other_encodings(encoding: str) -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="strict", newline="")
    render(SAMPLE_RUN, query(SAMPLE_CASES), out)
    out.seek(0)
    assert_golden(f"report/sample-{encoding}.txt", out.read())


@settings(max_examples=60, deadline=None)
@given(st.lists(case_results, max_size=4), st.integers(40, 120), st.booleans())
def test_lines_fit_and_carry_no_control_characters_whatever_a_model_said(
    cases: list[CaseResult], width: int, color: bool
) -> None:
    text = rendered("table", run_of(cases), cases, Page(width=width, color=color))
    for line in SGR.sub("", text).split("\n"):
        assert line.isprintable()
        assert cell_len(line) <= width


def test_console_markup_and_escape_sequences_are_shown_as_they_are() -> None:
    case = cell_result(
        "t", "fail", assertion("contains", "fail", "[bold]no[/nope]"), output="[red]x[/red] \x1b[2J"
    )
    text = rendered("table", run_of([case]), [case], Page(color=True))
    assert "[bold]no[/nope]" in text
    assert "[red]x[/red] \\x1b[2J" in text


def test_failures_come_before_errors_and_figures_last() -> None:
    text = rendered("table", SAMPLE_RUN, SAMPLE_CASES)
    marks = [
        "FAILED refunds/partial",
        "UNEXPECTED PASS",
        "ERROR provider_timeout",
        "note  ",
        "pass rate",
        "evenhand view",
    ]
    positions = [text.index(mark) for mark in marks]
    assert positions == sorted(positions)


def test_what_does_not_fit_is_counted_with_the_command_that_shows_it() -> None:
    failed = [cell_result(f"f/{n}", "fail", assertion("equals", "fail", "no")) for n in range(25)]
    errored = [cell_result(f"e/{n}", "error", error=f"broke {n}") for n in range(21)]
    text = rendered(
        "table", run_of([*failed, *errored]), [*failed, *errored], Page(view_command="evenhand view 01J")
    )
    assert "\nand 5 more failures: evenhand view 01J --failed\n" in text
    assert "\nand 1 more error: evenhand view 01J --failed\n" in text


def test_cells_that_fail_alike_are_one_group() -> None:
    cases = [cell_result("t", "fail", assertion("equals", "fail", "no"), repeat=n) for n in range(7)]
    text = rendered("table", run_of(cases, repeat=7), cases)
    assert text.count("FAILED t") == 1
    assert "small-model · qa · #4, and 2 more\n" in text


def test_many_assertions_of_a_case_are_bounded() -> None:
    case = cell_result("t", "fail", *(assertion("equals", "fail", f"reason {n}.") for n in range(40)))
    text = rendered("table", run_of([case]), [case])
    assert f"reason {MAX_ASSERTIONS - 1}." in text
    assert f"reason {MAX_ASSERTIONS}." not in text
    assert "and 32 more assertions" in text


def test_a_passing_run_is_a_few_calm_lines() -> None:
    cases = [cell_result(f"t/{n}", "pass", assertion("equals", "pass", "yes", 1.0)) for n in range(3)]
    run = msgspec.structs.replace(run_of(cases, exit_code=0), suite="calm", suite_path="calm/evenhand.yaml")
    assert_golden("report/passed.txt", rendered("table", run, cases))


def test_every_failure_is_written_in_turn_where_all_are_asked_for() -> None:
    out = io.StringIO()
    render_each(SAMPLE_RUN, query(SAMPLE_CASES), out)
    text = out.getvalue()
    assert_golden("report/each.txt", text)
    assert text.count("ERROR ") == 8
    assert text.count("FAILED ") == 4
