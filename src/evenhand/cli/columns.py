"""Rows of text in columns, for lists that may be longer than memory."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from evenhand.report.visible import visible

MEASURED_ROWS = 500
"""Rows that decide how wide the columns are."""

WIDEST_COLUMN = 60


def print_columns(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> int:
    """Print rows under their headings as they come, and return their number; nothing at all where there is none."""
    rows = iter(rows)
    first = [[visible(cell) for cell in row] for row in itertools.islice(rows, MEASURED_ROWS)]
    if not first:
        return 0
    widths = [min(max(map(len, column)), WIDEST_COLUMN) for column in zip(headings, *first, strict=True)]
    print(_line(headings, widths))
    count = 0
    for count, row in enumerate(itertools.chain(first, rows), start=1):
        print(_line(row if count <= len(first) else [visible(cell) for cell in row], widths))
    return count


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def print_json_array(values: Iterable[object]) -> None:
    """Print a JSON array, one value a line, as the values come."""
    from evenhand.report.encode import json_line

    separator = "[\n  "
    for value in values:
        print(separator, json_line(value), sep="", end="")
        separator = ",\n  "
    print("[]" if separator.startswith("[") else "\n]")
