from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from evenhand.model.result import CaseResult
from evenhand.report.md import MAX_CELL, cell, code
from evenhand.report.visible import visible
from support.results import (
    SAMPLE_CASES,
    SAMPLE_RUN,
    assertion,
    case_results,
    cell_result,
    hostile_text,
    rendered,
    run_of,
)

READER = MarkdownIt("commonmark", {"html": True}).enable("table")


def inline_tokens(text: str) -> list[Token]:
    return [child for token in READER.parse(text) for child in token.children or []]


def rows(text: str) -> list[int]:
    """Cells of each table row, as a Markdown reader sees them."""
    found: list[int] = []
    for token in READER.parse(text):
        if token.type == "tr_open":
            found.append(0)
        found[-1:] = [found[-1] + 1] if token.type in ("td_open", "th_open") else found[-1:]
    return found


@settings(max_examples=80, deadline=None)
@given(st.lists(case_results, max_size=4))
def test_tables_keep_their_columns_whatever_a_model_said(cases: list[CaseResult]) -> None:
    text = rendered("md", run_of(cases), cases)
    assert set(rows(text)) <= {4}
    assert {token.type for token in inline_tokens(text)} <= {
        "text",
        "code_inline",
        "html_inline",
        "softbreak",
    }
    assert {token.content for token in inline_tokens(text) if token.type == "html_inline"} <= {"<br>"}


@given(hostile_text)
def test_any_text_reads_back_from_its_code_span(text: str) -> None:
    shown = visible(text.strip())
    spans = [token.content for token in inline_tokens(f"x {code(text)} y") if token.type == "code_inline"]
    assert spans == ([shown] if shown else [])


@given(hostile_text)
def test_any_text_reads_back_from_a_table_cell(text: str) -> None:
    table = f"| a | b |\n| --- | --- |\n| {cell(text)} | y |\n"
    spans = [token.content for token in inline_tokens(table) if token.type == "code_inline"]
    shown = visible(text.strip())
    assert spans == ([shown] if shown else [])


@pytest.mark.parametrize("text", ["`", "``", "a`b", "`a`", "a``b`c", " ` "])
def test_backticks_do_not_end_a_code_span(text: str) -> None:
    assert [t.content for t in inline_tokens(code(text)) if t.type == "code_inline"] == [text.strip()]


def test_long_text_is_cut() -> None:
    assert code("x" * 10_000) == f"`{'x' * MAX_CELL}…`"
    assert code("\x00" * 200) == f"`{(chr(92) + 'x00') * (MAX_CELL // 4)}…`"


def test_headline_counts_and_rate_lead() -> None:
    lines = rendered("md", SAMPLE_RUN, SAMPLE_CASES).splitlines()
    assert lines[0] == "## ❌ ERROR: `support-quality`"
    assert lines[2].startswith("- 6 passed, 4 failed, 8 errored, 1 skipped")
    assert lines[4] == "- pass rate 58.3%, 95% interval 31.9% to 80.7%, over 12 judged cases; 8 errored"


def test_a_passing_run_has_no_tables() -> None:
    text = rendered("md", run_of([cell_result("t", "pass")], exit_code=0), [cell_result("t", "pass")])
    assert text.startswith("## ✅ PASSED: `evenhand`\n")
    assert "|" not in text


def test_tables_are_bounded_and_say_what_is_left_out() -> None:
    failed = [cell_result(f"f/{n}", "fail", assertion("equals", "fail", "no")) for n in range(60)]
    errored = [cell_result(f"e/{n}", "error", error=f"broke {n}") for n in range(60)]
    text = rendered("md", run_of([*failed, *errored]), [*failed, *errored])
    assert "and 40 more failures: `evenhand view --failed`" in text
    assert "and 40 more errors: `evenhand view --failed`" in text


def test_cells_that_fail_alike_are_one_row() -> None:
    cases = [cell_result("t", "fail", assertion("equals", "fail", "no"), repeat=n) for n in range(7)]
    text = rendered("md", run_of(cases, repeat=7), cases)
    assert "`small-model · qa · #4` and 2 more |" in text


def test_many_failed_assertions_of_a_case_are_bounded() -> None:
    case = cell_result("t", "fail", *(assertion("equals", "fail", f"no {n}", 0.0) for n in range(9)))
    assert "<br>and 4 more |" in rendered("md", run_of([case]), [case])
