from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import TextIO

from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.model.result import CaseResult, CaseStatus, CellKey
from evenhand.report.columns import columns_of, encodable
from evenhand.report.csv import guarded
from support.results import SAMPLE_CASES, SAMPLE_RUN, case_results, rendered, run_of

FORMULAS = ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "'=1", "''")


def read_rows(stream: TextIO) -> Iterator[dict[str, str]]:
    """The rows of a table as `render` writes it, by the names of its columns; a value that is absent is empty."""
    reader = csv.reader(stream)
    names = [unguarded(name) for name in next(reader, [])]
    for row in reader:
        yield dict(zip(names, map(unguarded, row), strict=False))


def unguarded(cell: str) -> str:
    """The text that `guarded` made a cell of."""
    return cell.removeprefix("'")


@given(text=st.text() | st.sampled_from(FORMULAS))
def test_any_text_reads_back_from_its_cell_and_no_cell_is_a_formula(text: str) -> None:
    assert unguarded(guarded(text)) == text
    assert not guarded(text).startswith(("=", "+", "-", "@", "\t", "\r", "\n"))


@settings(max_examples=60, deadline=None)
@given(cases=st.lists(case_results, max_size=4))
def test_a_table_reads_back_whatever_a_model_said(cases: list[CaseResult]) -> None:
    run = run_of(cases, suite="s")
    rows = list(read_rows(io.StringIO(rendered("csv", run, cases), newline="")))
    assert len(rows) == len(cases)
    for row, case in zip(rows, cases, strict=True):
        for column in columns_of(run):
            value = column.value(case)
            if column.type is str:
                assert row[encodable(column.name)] == encodable(value or "")
            elif column.type is float:
                assert (float(row[column.name]) if row[column.name] else None) == value


def test_named_scores_have_columns_of_their_own() -> None:
    rows = list(read_rows(io.StringIO(rendered("csv", SAMPLE_RUN, SAMPLE_CASES), newline="")))
    names = [name for name in rows[0] if name.startswith("score:")]
    assert names == [f"score:{name}" for name in sorted(SAMPLE_RUN.summary.named_scores)]


def test_an_output_that_is_a_formula_is_kept_from_being_one() -> None:
    cell = CellKey(provider_id="p", test_id="t")
    case = CaseResult(
        cell=cell, case_key=cell.digest(), name="t", status=CaseStatus.PASS, output='=HYPERLINK("x")'
    )
    assert "'=HYPERLINK" in rendered("csv", run_of([case]), [case])
