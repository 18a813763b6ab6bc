"""A run in a notebook: a small table, and a data frame."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Sequence
from typing import Any

from evenhand.errors import UsageError
from evenhand.model.outcome import Status
from evenhand.model.result import NOT_PASSING, CaseResult, CaseStatus, Run
from evenhand.report.columns import Column, columns_of, encodable
from evenhand.report.figures import headline, rate, tallies
from evenhand.report.formats import Cases
from evenhand.report.html import as_text
from evenhand.report.labels import kind_label

MAX_ROWS = 20
"""Cells that a notebook shows, those that did not pass first."""

TYPES = {
    "pandas": {str: "string", int: "Int64", float: "float64", bool: "boolean"},
    "polars": {str: "String", int: "Int64", float: "Float64", bool: "Boolean"},
}
"""Libraries for data frames, the one to take first, and what each calls the types of columns: all may hold nothing."""


def data_frame(run: Run, cases: Cases) -> Any:
    """The cells as a frame of the first library that is installed. Raises `UsageError` where none is."""
    columns = columns_of(run)
    for name, types in TYPES.items():
        try:
            library = importlib.import_module(name)
        except ImportError:
            continue
        values = _values(columns, cases)
        if name == "polars":
            schema = {column.name: getattr(library, types[column.type]) for column in columns}
            return library.DataFrame(values, schema=schema)
        series = {c.name: library.Series(values[c.name], dtype=types[c.type]) for c in columns}
        return library.DataFrame(series)
    raise UsageError("a data frame needs pandas or polars; install one with `python -m pip install pandas`")


def _values(columns: Sequence[Column], cases: Cases) -> dict[str, list[Any]]:
    """What stands in each column, of the column's type: libraries guess from what they see first, and break later."""
    values: dict[str, list[Any]] = {column.name: [] for column in columns}
    for case in cases():
        for column in columns:
            value = column.value(case)
            if isinstance(value, str):
                value = encodable(str(value))
            values[column.name].append(None if value is None else column.type(value))
    return values


def notebook_table(run: Run, cases: Cases) -> str:
    """The run as a piece of HTML; text from outside is escaped."""
    verdict = headline(run)
    counts = ", ".join(f"{count:,} {what}" for what, count in tallies(run.summary))
    passing = [status for status in CaseStatus if status not in NOT_PASSING]
    ordered = itertools.chain(cases(statuses=NOT_PASSING), cases(statuses=passing))
    rows = "".join(map(_row, itertools.islice(ordered, MAX_ROWS)))
    left = run.summary.total - MAX_ROWS
    more = f"<p>and {left:,} more cells</p>" if left > 0 else ""
    return (
        f"<p><b>{verdict.word}</b> {counts}</p><p>{as_text(rate(run.summary))}</p>"
        f"<table><tr><th>test</th><th>provider</th><th>status</th><th>score</th><th>reason</th></tr>{rows}</table>{more}"
    )


def _row(case: CaseResult) -> str:
    score = "" if case.score is None else f"{case.score:.3g}"
    cells = (case.cell.test_id, case.cell.provider_id, case.status.value, score, _why(case))
    return "<tr>" + "".join(f"<td>{as_text(cell)}</td>" for cell in cells) + "</tr>"


def _why(case: CaseResult) -> str:
    if case.error:
        return case.error
    failed = next((each for each in case.asserts if each.status is Status.FAIL), None)
    return f"{kind_label(failed)}: {failed.reason}" if failed else ""
