"""CSV and TSV: a header, then one case per row, streamed.

A row is numbered as a spreadsheet does it, the header being row 1; the line is where the row begins in the file.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from evenhand.config.raw_case import RawCase
from evenhand.config.regular_file import open_utf8
from evenhand.config.sources.columns import CellFault, Columns
from evenhand.config.sources.source import FileSource, RowOrigin
from evenhand.errors import Location, Problem

MAX_ROW_BYTES = 16 * 1024 * 1024
"""Bytes of one row, the line breaks in its cells included."""

MAX_HEADER_BYTES = 1024 * 1024
"""Bytes that are looked at for the header's end."""

_DELIMITERS = ",;\t"
_NAMES = {",": "`,`", ";": "`;`", "\t": "a tab"}
_QUOTED = re.compile(r'"(?:[^"]|"")*"?')


class DelimitedSource(FileSource):
    """The cases of a table. The delimiter of a `.csv` file is the one its header uses; a `.tsv` file has tabs."""

    def _read(self) -> Iterator[RawCase | Problem]:
        name, prefix, is_data = self.file.name, self.id_prefix, self.is_data
        with open_utf8(self.file.path, name) as stream:
            delimiter = "\t" if self.file.extension == ".tsv" else _delimiter_of(stream)
            table = _Table(stream, name, delimiter)
            columns = self._columns(table)
            if not isinstance(columns, Columns):
                yield from columns
                return
            index = 0
            while (cells := table.next_row()) is not None:
                if isinstance(cells, Problem):
                    yield cells
                else:
                    faults: list[CellFault] = []
                    document = columns.document(cells, faults)
                    if table.takes_braces():
                        self._look_into(document, columns, table.line, faults)
                    if faults:
                        yield from (
                            table.problem(fault.message, fault.hint, fault.column) for fault in faults
                        )
                    else:
                        yield RawCase(
                            document=document,
                            auto_id=f"{prefix}/{index}",
                            origin=RowOrigin(name, table.line),
                            is_data=is_data,
                        )
                index += 1
        if not index:
            self._warn("holds no cases", "write one case per row below the header")

    def _columns(self, table: _Table) -> Columns | list[Problem]:
        header = table.next_row()
        if header is None:
            return [
                Problem(
                    "has no header row", (), "name the columns in the first row", Location(self.file.name)
                )
            ]
        if isinstance(header, Problem):
            return [header]
        columns = Columns(header)
        for warning in columns.warnings:
            self._warn(*warning, line=table.line)
        if self.file.extension == ".tsv" and len(header) == 1 and any(sign in header[0] for sign in ",;|"):
            self._warn(
                f"no tab divides its header, so that it has one column, {header[0][:80]!r}",
                "divide the cells by tabs, or name the file `.csv`",
                line=table.line,
            )
        table.use(columns.names)
        return [table.problem(*fault) for fault in columns.faults] or columns

    def _look_into(
        self, document: dict[str, Any], columns: Columns, line: int, faults: list[CellFault]
    ) -> None:
        """What braces in a row may mean: a mark, or a template that is none."""
        if "vars" in document:
            columns.read_marks(document["vars"], faults)
        if self.is_data:
            self._warn_of_template(document, line)


class _Table:
    """The rows of a table, each as its cells or as the problem that stands in its place."""

    def __init__(self, stream: BinaryIO, file: str, delimiter: str) -> None:
        # The limit is the process's own; a larger one that somebody else has set stays.
        csv.field_size_limit(max(csv.field_size_limit(), MAX_ROW_BYTES))
        self._file = file
        self._delimiter = delimiter
        self._lines = _Lines(stream)
        self._reader = csv.reader(self._lines, delimiter=delimiter, strict=True)
        self._names: list[str] = []
        self._width: int | None = None
        self._ended = False
        self.line = 0
        self.row = 0

    def use(self, names: list[str]) -> None:
        """Hold the rows that follow against the header's names."""
        self._names = names
        self._width = len(names)

    def next_row(self) -> list[str] | Problem | None:
        """The next row that is not blank, or None at the end."""
        lines = self._lines
        while not self._ended:
            self.line = lines.number + 1
            self.row += 1
            lines.row_bytes = 0
            try:
                cells = next(self._reader)
            except StopIteration:
                return None
            except csv.Error as error:
                return self._misquoted(str(error))
            except _BadLine as error:
                self._ended = error.is_last
                return Problem(
                    error.message, (), error.hint, Location(self._file, lines.number, error.column)
                )
            if len(cells) == self._width or (cells and self._width is None):
                return cells
            if cells:
                return self._ragged(cells)
        return None

    def takes_braces(self) -> bool:
        """Whether the lines since the last call hold a `{`."""
        found = self._lines.have_braces
        self._lines.have_braces = False
        return found

    def problem(self, message: str, hint: str, column: str = "") -> Problem:
        """A problem of the present row."""
        where = f"row {self.row}, column `{column}`" if column else f"row {self.row}"
        return Problem(f"{where}: {message}", (), hint, Location(self._file, self.line))

    def _ragged(self, cells: list[str]) -> Problem:
        delimiter = _NAMES[self._delimiter]
        counts = f"{_number(cells, 'cell')} where the header has {_number(self._names, 'column')}"
        if len(cells) < len(self._names):
            hint = f"column `{self._names[len(cells)]}` and what follows is missing; cells are divided by {delimiter}"
        else:
            extra = cells[len(self._names)][:40]
            hint = f"{extra!r} is one too many; quote cells that hold {delimiter}"
        return self.problem(counts, hint)

    def _misquoted(self, message: str) -> Problem:
        if "unexpected end" in message:
            return self.problem(
                "a quote is opened and never closed", "close it, or double quotes inside quotes"
            )
        if "expected after" in message:
            return self.problem(
                "text stands after a closing quote", 'double the quotes inside a quoted cell: `""`'
            )
        if "new-line character" in message:
            return self.problem(
                "a bare carriage return ends a line", "save the file with LF or CRLF line ends"
            )
        return self.problem(message, "")


class _BadLine(Exception):
    """A line that cannot be read; with `is_last`, reading cannot go on behind it."""

    def __init__(self, message: str, hint: str, column: int = 0, *, is_last: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.column = column
        self.is_last = is_last


class _Lines:
    """The lines of a file as text, for the csv module; not a generator, which would end at the first bad line."""

    def __init__(self, stream: BinaryIO) -> None:
        self._readline = stream.readline
        self.number = 0
        self.row_bytes = 0
        self.have_braces = False

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self._readline(MAX_ROW_BYTES + 1)
        if not line:
            raise StopIteration
        self.number += 1
        self.row_bytes += len(line)
        if self.row_bytes > MAX_ROW_BYTES:
            message = f"the row that ends here is longer than {MAX_ROW_BYTES // 1024**2} MiB"
            raise _BadLine(message, "close its quotes, or keep large values in files", is_last=True)
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            column = len(line[: error.start].decode(errors="replace")) + 1
            found = f"the file is not UTF-8, found byte 0x{line[error.start]:02x}"
            raise _BadLine(found, "save it as UTF-8", column) from None
        if "\0" in text:
            raise _BadLine("found a NUL character", "save the file as UTF-8 text", text.index("\0") + 1)
        if "{" in text:
            self.have_braces = True
        return text


def _delimiter_of(stream: BinaryIO) -> str:
    """The delimiter that stands most often in the header outside quotes; `,` where none or several do equally."""
    start = stream.tell()
    header = b""
    while len(header) < MAX_HEADER_BYTES and (line := stream.readline(MAX_HEADER_BYTES)):
        header += line
        if header.strip() and header.count(b'"') % 2 == 0:
            break
    stream.seek(start)
    plain = _QUOTED.sub("", header.decode(errors="replace"))
    return max(_DELIMITERS, key=plain.count)


def _number(things: list[str], noun: str) -> str:
    return f"{len(things)} {noun}" if len(things) == 1 else f"{len(things)} {noun}s"
