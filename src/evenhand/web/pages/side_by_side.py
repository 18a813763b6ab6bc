"""Several runs side by side: the cases that did not come to the same in all of them."""

from __future__ import annotations

import msgspec

from evenhand.errors import UsageError
from evenhand.model.result import Run
from evenhand.web.case_index import CaseIndex
from evenhand.web.pages.runs import RunRow, run_row

MAX_RUNS = 8
"""Runs that fit beside each other."""

SHOWN = 200
"""Cases on one page."""


class SideCell(msgspec.Struct, frozen=True, kw_only=True):
    """What a case came to in one run."""

    status: str
    score: float | None


class SideRow(msgspec.Struct, frozen=True, kw_only=True):
    """One case; None where a run has no such case."""

    case_key: str
    test_id: str
    provider: str
    prompt: str
    cells: tuple[SideCell | None, ...]


class SidePage(msgspec.Struct, frozen=True, kw_only=True):
    """The cases whose status differs among the runs, in the order of the first that has them."""

    runs: tuple[RunRow, ...]
    rows: tuple[SideRow, ...]
    total: int
    offset: int
    is_indexed: bool


def side_page(index: CaseIndex, runs: list[Run], offset: int, *, is_indexed: bool) -> SidePage:
    """The page of some runs, of which the index holds what it holds. Raises `UsageError` for too many."""
    if not 2 <= len(runs) <= MAX_RUNS:
        raise UsageError(f"2 to {MAX_RUNS} runs stand side by side, found {len(runs)}; name each as `run=ID`")
    numbers = [index.number(run.run_id) for run in runs]
    marks = ", ".join("?" * len(numbers))
    differing = (
        f"SELECT case_key, min(position) AS place FROM cases WHERE run IN ({marks}) GROUP BY case_key "  # noqa: S608
        "HAVING count(DISTINCT status) > 1 OR count(*) < ?"
    )
    values = (*numbers, len(numbers))
    ((total,),) = index.rows(f"SELECT count(*) FROM ({differing})", values)  # noqa: S608
    keys = [
        row["case_key"]
        for row in index.rows(
            f"{differing} ORDER BY place, case_key LIMIT ? OFFSET ?", (*values, SHOWN, offset)
        )
    ]
    return SidePage(
        runs=tuple(map(run_row, runs)),
        rows=tuple(_row(index, numbers, key) for key in keys),
        total=total,
        offset=offset,
        is_indexed=is_indexed,
    )


def _row(index: CaseIndex, numbers: list[int], case_key: str) -> SideRow:
    marks = ", ".join("?" * len(numbers))
    found = {
        row["run"]: row
        for row in index.rows(
            "SELECT run, test_id, provider, prompt, status, score FROM cases "  # noqa: S608
            f"WHERE case_key = ? AND run IN ({marks})",
            (case_key, *numbers),
        )
    }
    first = next(iter(found.values()))
    cells = (found.get(number) for number in numbers)
    return SideRow(
        case_key=case_key,
        test_id=first["test_id"],
        provider=first["provider"],
        prompt=first["prompt"],
        cells=tuple(
            None if each is None else SideCell(status=each["status"], score=each["score"]) for each in cells
        ),
    )
