"""Comma-separated values (RFC 4180): one row a cell, for spreadsheets and data tools.

A spreadsheet runs what looks like a formula, and outputs are written by models: such a text gets an apostrophe in
front, which spreadsheets show as text. So that reading gives back exactly what was written, a text that begins with an
apostrophe gets one too.
"""

from __future__ import annotations

import csv
from typing import Any, TextIO

from evenhand.model.result import Run
from evenhand.report.columns import columns_of, encodable
from evenhand.report.formats import Cases

_GUARD = "'"
_GUARDED = ("=", "+", "-", "@", "\t", "\r", "\n", _GUARD)


def render(run: Run, cases: Cases, out: TextIO) -> None:
    """Write the table, one case at a time."""
    columns = columns_of(run)
    writer = csv.writer(out)
    writer.writerow([guarded(encodable(column.name)) for column in columns])
    for case in cases():
        writer.writerow([_cell(column.value(case)) for column in columns])


def guarded(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"{_GUARD}{text}" if text.startswith(_GUARDED) else text


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return guarded(encodable(value)) if isinstance(value, str) else repr(value)
