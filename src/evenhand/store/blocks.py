"""Results on their way into the tables: packed into blocks, a narrow row for each."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from evenhand.model.result import CaseResult
from evenhand.store.encoding import document_of, pack, without_secrets
from evenhand.store.rebuilding import without_surrogates
from evenhand.store.redaction import Redactor

BLOCK_BYTES = 128 << 10
"""About how many bytes of documents are compressed together: a window of zlib is 32 KB."""

_COLUMNS = "run, case_key, position, status, test_id, block, slot"

Block = tuple[bytes, list[CaseResult]]
"""Packed documents, and the results in them as they may be stored."""


def blocks_of(results: list[CaseResult], redactor: Redactor) -> Iterator[Block]:
    """The results in blocks of about `BLOCK_BYTES`, packed, without secrets."""
    documents: list[bytes] = []
    inside: list[CaseResult] = []
    size = 0
    for result in results:
        document = document_of(result)
        documents.append(document)
        inside.append(result)
        size += len(document)
        if size >= BLOCK_BYTES:
            yield _block(documents, inside, redactor)
            documents, inside, size = [], [], 0
    if inside:
        yield _block(documents, inside, redactor)


def _block(documents: list[bytes], results: list[CaseResult], redactor: Redactor) -> Block:
    if not redactor.found_in(b"\n".join(documents)):
        return pack(documents), results
    cleaned = [without_secrets(document, redactor) for document in documents]
    return pack([document for document, _ in cleaned]), [result for _, result in cleaned]


def insert_block(
    connection: sqlite3.Connection, run: int, body: bytes, results: list[CaseResult]
) -> list[object]:
    """Add a block and return the values of its results' rows, one after the other, for `insert_rows`."""
    block = connection.execute("INSERT INTO blocks (run, body) VALUES (?, ?)", (run, body)).lastrowid
    values: list[object] = []
    for slot, result in enumerate(results):
        test_id = result.cell.test_id
        values += (
            run,
            bytes.fromhex(result.case_key),
            result.index,
            result.status.value,
            test_id if test_id.isascii() else without_surrogates(test_id),
            block,
            slot,
        )
    return values


def insert_rows(count: int) -> str:
    """The statement that adds so many rows; a cell that has one already keeps it."""
    rows = ",".join(["(?,?,?,?,?,?,?)"] * count)
    return f"INSERT OR IGNORE INTO results ({_COLUMNS}) VALUES {rows}"  # noqa: S608
