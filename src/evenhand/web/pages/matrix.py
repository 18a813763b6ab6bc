"""One run as a grid: tests down, what they were asked with across."""

from __future__ import annotations

import msgspec

from evenhand.model.result import Run
from evenhand.web.case_index import CaseIndex
from evenhand.web.pages.runs import RunRow, run_row

TESTS = 100
"""Tests on one page."""

MAX_COLUMNS = 30
"""Combinations of provider and prompt that fit on a page."""


class MatrixCell(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one test asked in one way: over its repeats, how many passed, and one of them to look at."""

    status: str
    passed: int
    total: int
    score: float | None
    case_key: str


class MatrixRow(msgspec.Struct, frozen=True, kw_only=True):
    """One test; None where it was not asked in that way."""

    test_id: str
    cells: tuple[MatrixCell | None, ...]


class MatrixPage(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the grid. `columns` are pairs of provider and prompt."""

    run: RunRow
    columns: tuple[tuple[str, str], ...]
    columns_left_out: int
    rows: tuple[MatrixRow, ...]
    offset: int
    total: int
    is_indexed: bool


_WORST_FIRST = ("error", "fail", "xpass", "skip", "xfail", "pass")


def matrix_page(index: CaseIndex, run: Run, offset: int, *, is_indexed: bool) -> MatrixPage:
    """The grid from the test at the place `offset` on."""
    number = index.number(run.run_id)
    columns = [
        (row["provider"], row["prompt"])
        for row in index.rows(
            "SELECT DISTINCT provider, prompt FROM cases WHERE run = ? ORDER BY provider, prompt", (number,)
        )
    ]
    ((total,),) = index.rows("SELECT count(DISTINCT test_id) FROM cases WHERE run = ?", (number,))
    tests = index.rows(
        "SELECT test_id, min(position) AS place FROM cases WHERE run = ? GROUP BY test_id "
        "ORDER BY place LIMIT ? OFFSET ?",
        (number, TESTS, offset),
    )
    rows = tuple(_row(index, number, test["test_id"], columns[:MAX_COLUMNS]) for test in tests)
    return MatrixPage(
        run=run_row(run),
        columns=tuple(columns[:MAX_COLUMNS]),
        columns_left_out=max(0, len(columns) - MAX_COLUMNS),
        rows=rows,
        offset=offset,
        total=total,
        is_indexed=is_indexed,
    )


def _row(index: CaseIndex, run: int, test_id: str, columns: list[tuple[str, str]]) -> MatrixRow:
    found: dict[tuple[str, str], list[tuple[str, float | None, str]]] = {}
    cases = index.rows(
        "SELECT provider, prompt, status, score, case_key FROM cases WHERE run = ? AND test_id = ?",
        (run, test_id),
    )
    for case in cases:
        key = (case["provider"], case["prompt"])
        found.setdefault(key, []).append((case["status"], case["score"], case["case_key"]))
    return MatrixRow(test_id=test_id, cells=tuple(map(_cell, map(found.get, columns))))


def _cell(cases: list[tuple[str, float | None, str]] | None) -> MatrixCell | None:
    if not cases:
        return None
    status, _, case_key = min(cases, key=lambda case: _WORST_FIRST.index(case[0]))
    scores = [score for _, score, _ in cases if score is not None]
    return MatrixCell(
        status=status,
        passed=sum(each in ("pass", "xpass") for each, *_ in cases),
        total=len(cases),
        score=sum(scores) / len(scores) if scores else None,
        case_key=case_key,
    )
