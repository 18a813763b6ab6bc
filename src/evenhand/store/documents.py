"""The stored documents of a run, or of several of which the newest has the word, found by case key."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterator, Sequence

from evenhand.errors import StoreError
from evenhand.store.reading import Blocks, Reader

_PAGE = 500
_NEXT_PAGE = f"""
    SELECT case_key, block, slot, position, number FROM results
    WHERE run = ? AND (position, number) > (?, ?) ORDER BY position, number LIMIT {_PAGE}"""  # noqa: S608

Key = bytes
"""The eight bytes of a case key."""

Row = tuple[Key, int, int]
"""A result's case key, its block and its place in the block."""


class RunDocuments:
    """Results as the JSON that they are stored as, without reading more of them than is asked for.

    Of several runs, named newest first, a case counts as the first of them has it.
    """

    def __init__(self, reader: Reader, numbers: Sequence[int]) -> None:
        self._reader = reader
        self._numbers = tuple(numbers)
        self._blocks = Blocks(reader)

    def in_order(self) -> Iterator[list[tuple[Key, bytes]]]:
        """Pages of documents, each run's in the order of its plan."""
        for page in self._pages():
            yield [(key, self._document(block, slot)) for key, block, slot in page]

    def not_in(self, other: RunDocuments) -> Iterator[list[tuple[Key, bytes]]]:
        """Pages of the documents of cells that the other one does not have."""
        for page in self._pages():
            known = other.known({key for key, _, _ in page})
            missing = [row for row in page if row[0] not in known]
            if missing:
                yield [(key, self._document(block, slot)) for key, block, slot in missing]

    def of(self, keys: Collection[Key]) -> dict[Key, bytes]:
        """The documents of at most some thousand keys, as far as there are any."""
        rows: dict[Key, Row] = {}
        for number in self._numbers:
            left = [key for key in keys if key not in rows]
            if not left:
                break
            rows.update((row[0], row) for row in self._rows(number, left))
        # Neighbours in a block are read while it is at hand.
        ordered = sorted(rows.values(), key=lambda row: row[1:])
        return {key: self._document(block, slot) for key, block, slot in ordered}

    def known(self, keys: Collection[Key]) -> set[Key]:
        """Those of the keys that have a document."""
        wanted = list(keys)
        return {row[0] for number in self._numbers for row in self._rows(number, wanted)}

    def _pages(self) -> Iterator[list[Row]]:
        for place, number in enumerate(self._numbers):
            newer = RunDocuments(self._reader, self._numbers[:place])
            after = (-1, -1)
            while rows := self._reader.rows(_NEXT_PAGE, (number, *after)):
                after = rows[-1][3:]
                overruled = newer.known({row[0] for row in rows}) if place else ()
                yield [row[:3] for row in rows if row[0] not in overruled]

    def _rows(self, number: int, keys: Sequence[Key]) -> Iterator[Row]:
        for start in range(0, len(keys), _PAGE):
            some = keys[start : start + _PAGE]
            marks = ",".join("?" * len(some))
            sql = f"SELECT case_key, block, slot FROM results WHERE run = ? AND case_key IN ({marks})"  # noqa: S608
            yield from self._reader.rows(sql, (number, *some))

    def _document(self, block: int, slot: int) -> bytes:
        try:
            return self._blocks[block][slot]
        except (zlib.error, IndexError) as error:
            raise StoreError(
                f"a result cannot be read, found {error}; the store is damaged", self._reader.path
            ) from error
