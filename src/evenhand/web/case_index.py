"""What the viewer searches, filters and sorts by: one narrow row for each result, and the words of its texts.

The index is a file of its own beside the run store, made of what the store holds: it may be deleted at any time, and
a file that cannot be read is made anew. Results are added in the order in which they were committed, so that a run
in progress is followed by asking again.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Hashable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

from evenhand.model.outcome import Status
from evenhand.model.result import CaseResult
from evenhand.report.labels import kind_label, output_text
from evenhand.store.store import RunStore

T = TypeVar("T")

VERSION = 3
"""Version of the tables: a file with another one is made anew."""

MAX_WORDS = 64_000
"""Characters of one result's texts that are searched."""

MAX_EXCERPT = 240
"""Characters of an output or a reason that a list shows."""

MAX_KEPT = 200
"""Answers over whole runs that are kept."""

BATCH = 100
"""Results that are committed together; readers wait no longer than one batch takes."""

_TABLES = """
    CREATE TABLE runs (number INTEGER PRIMARY KEY, run_id TEXT NOT NULL UNIQUE, last INTEGER NOT NULL);
    CREATE TABLE cases (
        id INTEGER PRIMARY KEY, run INTEGER NOT NULL, position INTEGER NOT NULL, case_key TEXT NOT NULL,
        test_id TEXT NOT NULL, name TEXT NOT NULL, provider TEXT NOT NULL, prompt TEXT NOT NULL,
        repeat INTEGER NOT NULL, tags TEXT NOT NULL, status TEXT NOT NULL,
        score REAL, latency_ms REAL, cost_usd REAL, error_class TEXT,
        cached INTEGER NOT NULL, unchecked INTEGER NOT NULL, reason TEXT NOT NULL, excerpt TEXT NOT NULL
    );
    CREATE INDEX cases_in_plan_order ON cases (run, position);
    CREATE INDEX cases_by_status ON cases (run, status, position);
    CREATE INDEX cases_over_runs ON cases (case_key);
    CREATE INDEX cases_by_test ON cases (run, test_id);
    CREATE VIRTUAL TABLE words USING fts5 (text, content='', tokenize='unicode61', prefix='2 3');
"""
_CASE = f"INSERT INTO cases VALUES ({', '.join('?' * 19)})"  # noqa: S608


class CaseIndex:
    """The index of one state folder. Usable from any thread; `bring_up_to_date` takes as long as a run is large."""

    def __init__(self, path: Path | None) -> None:
        """`path` is the file, created where it is missing; None keeps the index in memory."""
        self._lock = threading.RLock()
        self._connection = _opened(path)
        self._kept: dict[tuple[str, Hashable], tuple[int, Any]] = {}

    def bring_up_to_date(self, store: RunStore, run_id: str) -> int:
        """Take in what a run has committed since the last time; returns how many results were new."""
        number, last = self._run(run_id)
        added = 0
        for batch in _batches(store.results_after(run_id, last)):
            with self._lock, _transaction(self._connection):
                for place, result in batch:
                    row = self._connection.execute(_CASE, _row(number, result)).lastrowid
                    self._connection.execute(
                        "INSERT INTO words (rowid, text) VALUES (?, ?)", (row, words(result))
                    )
                    last = place
                self._connection.execute("UPDATE runs SET last = ? WHERE number = ?", (last, number))
            added += len(batch)
        return added

    def number(self, run_id: str) -> int:
        """The number of a run in this index."""
        return self._run(run_id)[0]

    def rows(self, sql: str, parameters: tuple[object, ...] = ()) -> list[sqlite3.Row]:
        """All rows of a query."""
        with self._lock:
            return self._connection.execute(sql, parameters).fetchall()

    def remembered(self, run_id: str, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` computes over a whole run, kept until the run has grown."""
        _, last = self._run(run_id)
        kept = self._kept.get((run_id, key))
        if kept is None or kept[0] != last:
            kept = self._kept[run_id, key] = (last, make())
            while len(self._kept) > MAX_KEPT:
                self._kept.pop(next(iter(self._kept)))
        return cast(T, kept[1])

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._connection.close()

    def _run(self, run_id: str) -> tuple[int, int]:
        with self._lock:
            self._connection.execute("INSERT OR IGNORE INTO runs (run_id, last) VALUES (?, 0)", (run_id,))
            row = self._connection.execute(
                "SELECT number, last FROM runs WHERE run_id = ?", (run_id,)
            ).fetchone()
        return int(row["number"]), int(row["last"])


def _opened(path: Path | None) -> sqlite3.Connection:
    if path is None:
        return _prepared(sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False))
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(sqlite3.DatabaseError):
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
        try:
            return _prepared(connection)
        except BaseException:
            connection.close()
            raise
    # Of another version, damaged or no database at all: everything in it can be had again.
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    return _prepared(sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30))


def _prepared(connection: sqlite3.Connection) -> sqlite3.Connection:
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("PRAGMA cache_size = -32768")
    with _transaction(connection):
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if version != VERSION and tables:
            raise sqlite3.DatabaseError(f"version {version} of the index")
        if not tables:
            for statement in _TABLES.split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {VERSION}")
    return connection


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def _batches(results: Iterator[tuple[int, CaseResult]]) -> Iterator[list[tuple[int, CaseResult]]]:
    batch: list[tuple[int, CaseResult]] = []
    for item in results:
        batch.append(item)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _row(run: int, case: CaseResult) -> tuple[object, ...]:
    cell = case.cell
    return (
        None,
        run,
        case.index,
        case.case_key,
        cell.test_id,
        case.name,
        cell.provider_id,
        cell.prompt_id or "",
        cell.repeat,
        f"\n{tags}\n" if (tags := "\n".join(case.tags)) else "",
        case.status.value,
        case.score,
        case.latency_ms,
        case.cost_usd,
        case.error_class,
        case.cached,
        case.unchecked,
        why(case)[:MAX_EXCERPT],
        output_text(case)[:MAX_EXCERPT] if case.output is not None else "",
    )


def why(case: CaseResult) -> str:
    """What a list says of a case that did not pass: its error, or its first failed assertion."""
    if case.error:
        return case.error
    failed = next((each for each in case.asserts if each.status is Status.FAIL), None)
    return f"{kind_label(failed)}: {failed.reason}" if failed else ""


def words(case: CaseResult) -> str:
    """What of a result can be searched: its names, its output, its reasons and its error."""
    parts = [case.cell.test_id, case.name if case.name != case.cell.test_id else "", case.error or ""]
    parts += [each.reason for each in case.asserts[:MAX_EXCERPT] if each.status is not Status.PASS]
    parts.append(output_text(case)[:MAX_WORDS] if case.output is not None else "")
    parts += [each.reason for each in case.asserts[:MAX_EXCERPT] if each.status is Status.PASS]
    return "\n".join(filter(None, parts))[:MAX_WORDS]
