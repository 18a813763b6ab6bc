"""Results of a stored run, page by page: memory stays flat, and no page keeps writers from the file."""

from __future__ import annotations

import contextlib
import sqlite3
import zlib
from collections import OrderedDict
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from evenhand.errors import StoreError
from evenhand.model.result import CaseResult
from evenhand.store.database import translated
from evenhand.store.encoding import result_of, unpack

Order = Literal["cell", "finished"]

_PAGE = 500
_CACHE_BYTES = 8 << 20

Row = tuple[int, int, int, int]
"""A result's position in the plan, its own number, its block and its place in the block."""


class Reader:
    """A connection that only reads. Usable from any thread."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path | None,
        lock: contextlib.AbstractContextManager[object],
    ) -> None:
        self._connection = connection
        self.path = path
        self._lock = lock

    def rows(self, sql: str, parameters: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        """All rows of a small query."""
        with self._lock, translated(self.path):
            return self._connection.execute(sql, parameters).fetchall()

    def stream(self, sql: str, parameters: tuple[object, ...] = ()) -> Iterator[Any]:
        """The only column of a large query, read to its end in one go."""
        with self._lock, translated(self.path):
            for (value,) in self._connection.execute(sql, parameters):
                yield value

    def results(
        self, run: int, statuses: Collection[str] | None, test_glob: str | None, order: Order
    ) -> Iterator[CaseResult]:
        """The chosen results of the run with that number."""
        blocks = Blocks(self)
        pages = self._pages_by_cell if order == "cell" else self._pages_by_number
        for page in pages(run, *_condition(statuses, test_glob)):
            for _, number, block, slot in page:
                yield self._result(blocks, number, block, slot)

    def result(self, run: int, case_key: str) -> CaseResult | None:
        """The result of one cell; None where the run has none yet."""
        rows = self.rows(
            "SELECT number, block, slot FROM results WHERE run = ? AND case_key = ?",
            (run, bytes.fromhex(case_key)),
        )
        return self._result(Blocks(self), *rows[0]) if rows else None

    def results_after(self, run: int, after: int) -> Iterator[tuple[int, CaseResult]]:
        """What was added to a run behind the result with the number `after`, each with its own number."""
        ((last,),) = self.rows("SELECT max(number) FROM results WHERE run = ?", (run,))
        blocks = Blocks(self)
        while isinstance(last, int) and after < last:
            page = self._page("number > ? AND number <= ? AND +run = ? ORDER BY number", (after, last, run))
            for _, number, block, slot in page:
                yield number, self._result(blocks, number, block, slot)
            after = page[-1][1]

    def _pages_by_cell(self, run: int, condition: str, values: tuple[object, ...]) -> Iterator[list[Row]]:
        after = (-1, -1)
        while page := self._page(
            f"run = ? AND (position, number) > (?, ?){condition} ORDER BY position, number",
            (run, *after, *values),
        ):
            yield page
            after = page[-1][:2]

    def _pages_by_number(self, run: int, condition: str, values: tuple[object, ...]) -> Iterator[list[Row]]:
        ((first, last),) = self.rows("SELECT min(number), max(number) FROM results WHERE run = ?", (run,))
        if not isinstance(first, int):
            return
        after = first - 1
        while page := self._page(
            f"number > ? AND number <= ? AND +run = ?{condition} ORDER BY number", (after, last, run, *values)
        ):
            yield page
            after = page[-1][1]

    def _page(self, where: str, parameters: tuple[object, ...]) -> list[Row]:
        sql = f"SELECT position, number, block, slot FROM results WHERE {where} LIMIT {_PAGE}"  # noqa: S608
        return self.rows(sql, parameters)

    def _result(self, blocks: Blocks, number: int, block: int, slot: int) -> CaseResult:
        try:
            return result_of(blocks[block][slot])
        except (zlib.error, msgspec.MsgspecError, IndexError) as error:
            # A block that is damaged or a document that this version cannot read: the rest may still be good.
            raise StoreError(
                f"result {number} cannot be read, found {error}; the store is damaged, or was written by a newer "
                "evenhand",
                self.path,
            ) from error


class Blocks:
    """The documents of the blocks read last: neighbouring results share a block."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._documents: OrderedDict[int, list[bytes]] = OrderedDict()
        self._bytes = 0

    def __getitem__(self, number: int) -> list[bytes]:
        documents = self._documents.get(number)
        if documents is None:
            documents = self._documents[number] = self._read(number)
            self._bytes += sum(map(len, documents))
            while self._bytes > _CACHE_BYTES and len(self._documents) > 1:
                _, dropped = self._documents.popitem(last=False)
                self._bytes -= sum(map(len, dropped))
        else:
            self._documents.move_to_end(number)
        return documents

    def _read(self, number: int) -> list[bytes]:
        rows = self._reader.rows("SELECT body FROM blocks WHERE number = ?", (number,))
        if not rows:
            raise StoreError("the run was deleted while it was read; choose another with `evenhand runs`")
        return unpack(rows[0][0])


def _condition(statuses: Collection[str] | None, test_glob: str | None) -> tuple[str, tuple[object, ...]]:
    """What narrows a query down, and its values."""
    condition, values = "", []
    if statuses is not None:
        condition += f" AND status IN ({','.join('?' * len(statuses))})"
        values += [str(status) for status in statuses]
    if test_glob is not None:
        condition += " AND (test_id = ? OR test_id GLOB ?)"
        values += [test_glob, test_glob.replace("[!", "[^")]
    return condition, tuple(values)
