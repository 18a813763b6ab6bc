"""Parquet tables of cases, read in batches; needs the extra `parquet`.

Columns mean what they mean in a CSV file. Their values keep their types; dates and times become ISO 8601 text.
"""

from __future__ import annotations

import datetime as dt
import decimal
import math
from collections.abc import Iterator
from typing import Any

from evenhand.config.raw_case import RawCase
from evenhand.config.regular_file import open_regular
from evenhand.config.sandbox import FoundFile
from evenhand.config.sources.columns import BadCell, CellFault, Columns
from evenhand.config.sources.source import FileSource, RowOrigin
from evenhand.errors import Location, Problem, SuiteError

BATCH_ROWS = 1_000
"""Rows that are held at once."""


class ParquetSource(FileSource):
    """The cases of a Parquet table; the line of a case is its row, counted from 1."""

    def __init__(self, file: FoundFile, *, is_data: bool) -> None:
        super().__init__(file, is_data=is_data)
        try:
            import pyarrow.parquet  # noqa: F401 - it is missed here, before anything is read
        except ImportError:
            hint = "install it with `python -m pip install 'evenhand[parquet]'`"
            problem = Problem("reading Parquet files needs pyarrow", (), hint, Location(file.name))
            raise SuiteError([problem]) from None

    def _read(self) -> Iterator[RawCase | Problem]:
        import pyarrow as pa

        try:
            yield from self._table()
        except (pa.ArrowException, OSError) as error:
            reason = " ".join(str(error).split())[:200]
            yield Problem(f"cannot be read as Parquet: {reason}", location=Location(self.file.name))

    def _table(self) -> Iterator[RawCase | Problem]:
        import pyarrow.parquet as pq

        with open_regular(self.file.path, self.file.name) as stream, pq.ParquetFile(stream) as table:
            columns = Columns(table.schema_arrow.names)
            for warning in columns.warnings:
                self._warn(*warning)
            if columns.faults:
                yield from (self._problem(*fault) for fault in columns.faults)
                return
            index = 0
            for batch in table.iter_batches(batch_size=BATCH_ROWS):
                for cells in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    yield from self._case(cells, columns, index)
                    index += 1
        if not index:
            self._warn("holds no cases", "write one case per row")

    def _case(self, cells: tuple[Any, ...], columns: Columns, index: int) -> Iterator[RawCase | Problem]:
        faults: list[CellFault] = []
        document = columns.document(_plain_cells(cells, columns.names, faults), faults)
        if "vars" in document:
            columns.read_marks(document["vars"], faults)
        if faults:
            for fault in faults:
                message = f"row {index + 1}, column `{fault.column}`: {fault.message}"
                yield self._problem(message, fault.hint, index + 1)
            return
        yield RawCase(
            document=document,
            auto_id=f"{self.id_prefix}/{index}",
            origin=RowOrigin(self.file.name, index + 1),
            is_data=self.is_data,
        )
        if self.is_data and not self._has_warned:
            self._warn_of_template(document, index + 1)

    def _problem(self, message: str, hint: str, line: int = 0) -> Problem:
        return Problem(message, (), hint, Location(self.file.name, line))


def _plain_cells(cells: tuple[Any, ...], names: list[str], faults: list[CellFault]) -> list[Any]:
    values = []
    for name, cell in zip(names, cells, strict=True):
        try:
            values.append(_plain(cell))
        except BadCell as error:
            faults.append(CellFault(name, error.message, error.hint))
            values.append(None)
    return values


def _plain(value: Any) -> Any:
    """The JSON value of a cell."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise BadCell(f"not a number that JSON has, found {value}", "write null")
        return value
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return str(value)
    raise BadCell(f"cannot be sent, found a value of type {type(value).__name__}", "leave the column out")
