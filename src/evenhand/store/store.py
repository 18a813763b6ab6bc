"""The run store: every run of a project with all its results, in one SQLite file."""

from __future__ import annotations

import atexit
import contextlib
import datetime as dt
import os
import sqlite3
import threading
import zlib
from collections.abc import Collection, Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from evenhand.errors import StoreError, UsageError
from evenhand.model.result import RESULT_SCHEMA_VERSION, CaseResult, CaseStatus, Run, RunStatus
from evenhand.registry import nearest
from evenhand.store.database import connect, transaction
from evenhand.store.encoding import unpack_run
from evenhand.store.key_set import KeySet
from evenhand.store.reading import Order, Reader
from evenhand.store.redaction import Redactor, secret_values
from evenhand.store.run_writer import RunWriter, insert_run
from evenhand.store.writer import Action, Channel, WriterThread

__all__ = ["LATEST", "RunStore", "RunWriter", "open_store"]

LATEST = "latest"
"""Reference to the run that was begun last."""

SHORTEST_PREFIX = 4

FAILED_STATUSES = (CaseStatus.FAIL, CaseStatus.ERROR, CaseStatus.XPASS)
"""How the cells ended that keep a run from exit code 0."""

_RUNS_IN_A_PAGE = 50
_NEWEST_RUNS = 500


def open_store(path: Path | None) -> RunStore:
    """Open the store at `path`, created with its folder where there is none; None is a store in memory.

    Raises `StoreError` where the file cannot be used, is something else, or is of a newer version.
    """
    return RunStore(path)


class RunStore:
    """Runs and their results. Usable from several threads, and a file by several processes at once."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._connection = connect(path)
        self._lock = threading.RLock()
        self._reader = Reader(self._connection, path, self._lock)
        self._writer: WriterThread | None = None
        self._writing_connection: sqlite3.Connection | None = None
        self._closed = False
        atexit.register(self.close)

    # Writing

    def begin(self, run: Run, *, redactor: Redactor | None = None) -> RunWriter:
        """Add a run and return its writer.

        Every document is cleaned by `redactor` before it is stored; left out, it knows the secrets of this process's
        environment.
        """
        channel = Channel(0, redactor or _default_redactor())

        def insert(connection: sqlite3.Connection) -> None:
            with transaction(connection):
                insert_run(connection, channel, run)

        self._thread().do(insert)
        return RunWriter(self._thread(), channel, run)

    def reopen(self, run_id: str, *, redactor: Redactor | None = None) -> RunWriter:
        """A writer that adds to a run which is in the store already."""
        number = self._number(run_id)
        run = self.find(run_id)
        return RunWriter(self._thread(), Channel(number, redactor or _default_redactor()), run)

    def delete(self, run_id: str) -> None:
        """Remove a run with all its results, and give the space back."""
        self._delete([self._number(run_id)])

    def prune(
        self, *, keep_days: float | None = None, keep: int | None = None, now: dt.datetime | None = None
    ) -> int:
        """Remove old runs and return how many.

        Those go that were begun more than `keep_days` days ago, and all but the newest `keep`.
        """
        if keep_days is None and keep is None:
            raise UsageError("nothing says which runs to keep; give a number of days or of runs")
        limit = (now or dt.datetime.now(dt.UTC)) - dt.timedelta(days=keep_days or 0)
        old: list[int] = []
        rows = self._reader.rows("SELECT number, started_at FROM runs ORDER BY number DESC")
        for place, (number, started_at) in enumerate(rows):
            if (keep is not None and place >= keep) or (
                keep_days is not None and _is_before(started_at, limit)
            ):
                old.append(number)
        self._delete(old)
        return len(old)

    # Runs

    def runs(
        self, *, suite: str | None = None, status: RunStatus | None = None, limit: int | None = None
    ) -> Iterator[Run]:
        """Runs, the one begun last first. `suite` is a suite's name or the path of its file."""
        condition, values = "", []
        if suite is not None:
            condition += " AND (suite = ? OR suite_path = ?)"
            values += [suite, suite]
        if status is not None:
            condition += " AND status = ?"
            values.append(status.value)
        return self._runs(condition, tuple(values), limit)

    def find(self, reference: str, *, suite_path: str | Path | None = None) -> Run:
        """The run that a person means: its id, at least four characters of the id's beginning, or `latest`.

        `suite_path` narrows `latest` to the runs of one suite. Raises `UsageError` where no run or several match.
        """
        if reference == LATEST:
            return self._latest(suite_path)
        runs = self._runs(" AND run_id = ?", (reference,), 1)
        if (run := next(runs, None)) is not None:
            return run
        if 0 < len(reference) < SHORTEST_PREFIX:
            raise UsageError(
                f"{reference!r} is too short for a run; give at least {SHORTEST_PREFIX} characters of its id, or "
                f"`{LATEST}`"
            )
        begins = " AND ? <> '' AND substr(run_id, 1, ?) = ? COLLATE NOCASE"
        matching = list(self._runs(begins, (reference, len(reference), reference), 4))
        if len(matching) == 1:
            return matching[0]
        if matching:
            ids = ", ".join(f"`{run.run_id}`" for run in matching)
            raise UsageError(f"run {reference!r} is not unique, found {ids}; give more of the id")
        raise UsageError(self._not_found(reference))

    def unfinished(self, suite_path: str | Path) -> Run | None:
        """The run of a suite, the one begun last, that did not get to its end; None where all did."""
        condition = " AND suite_path = ? AND status <> ?"
        return next(self._runs(condition, (str(suite_path), RunStatus.FINISHED.value), 1), None)

    # Results

    def results(
        self,
        run_id: str,
        *,
        statuses: Collection[str] | None = None,
        test_glob: str | None = None,
        order: Order = "cell",
    ) -> Iterator[CaseResult]:
        """The committed results of a run, read in pages.

        `test_glob` is a shell pattern over test ids in which `*` crosses `/`. The order is that of the plan (`cell`),
        or the one in which they were added (`finished`).
        """
        return self._reader.results(self._number(run_id), statuses, test_glob, order)

    def finished_keys(self, run_id: str) -> AbstractSet[str]:
        """The case keys of all results of a run."""
        return self._keys(run_id, "", ())

    def failed_keys(self, run_id: str) -> AbstractSet[str]:
        """The case keys of a run's results that are `fail`, `error` or `xpass`."""
        marks = ",".join("?" * len(FAILED_STATUSES))
        return self._keys(run_id, f" AND status IN ({marks})", FAILED_STATUSES)

    # Ends

    def close(self) -> None:
        """Write what waits, and let go of the file. Called again it does nothing."""
        if self._closed:
            return
        self._closed = True
        atexit.unregister(self.close)
        if self._writer is not None:
            self._writer.close()
        for connection in (self._writing_connection, self._connection):
            if connection is not None:
                with contextlib.suppress(sqlite3.Error):
                    connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Helpers

    def _thread(self) -> WriterThread:
        """The thread that writes; a store that is only read has none."""
        with self._lock:
            if self._closed:
                raise StoreError("the store was closed; open it again", self.path)
            if self._writer is None:
                if self.path is None:
                    self._writer = WriterThread(self._connection, None, self._lock)
                else:
                    self._writing_connection = connect(self.path)
                    self._writer = WriterThread(self._writing_connection, self.path, contextlib.nullcontext())
            return self._writer

    def _number(self, run_id: str) -> int:
        rows = self._reader.rows("SELECT number FROM runs WHERE run_id = ?", (run_id,))
        if not rows:
            raise UsageError(self._not_found(run_id))
        return int(rows[0][0])

    def _runs(self, condition: str, values: tuple[object, ...], limit: int | None) -> Iterator[Run]:
        before = None
        left = limit
        while left is None or left > 0:
            size = _RUNS_IN_A_PAGE if left is None else min(left, _RUNS_IN_A_PAGE)
            rows = self._reader.rows(
                f"SELECT document, number FROM runs WHERE (? IS NULL OR number < ?){condition}"  # noqa: S608
                " ORDER BY number DESC LIMIT ?",
                (before, before, *values, size),
            )
            yield from map(self._run_of, rows)
            if len(rows) < size:
                return
            before = rows[-1][1]
            left = None if left is None else left - len(rows)

    def _latest(self, suite_path: str | Path | None) -> Run:
        if suite_path is None:
            run = next(self._runs("", (), 1), None)
        else:
            run = next(self._runs(" AND suite_path = ?", (str(suite_path),), 1), None)
        if run is None:
            of_suite = f" of {str(suite_path)!r}" if suite_path is not None else ""
            raise UsageError(f"there is no run{of_suite} yet; start one with `evenhand run`")
        return run

    def _run_of(self, row: tuple[Any, ...]) -> Run:
        try:
            run = unpack_run(row[0])
        except (zlib.error, msgspec.MsgspecError) as error:
            raise StoreError(
                f"a run cannot be read, found {error}; the store is damaged, or was written by a newer evenhand",
                self.path,
            ) from error
        if run.schema_version > RESULT_SCHEMA_VERSION:
            raise StoreError(
                f"run {run.run_id!r} was written by a newer evenhand, found `schema_version` {run.schema_version} "
                f"where this one knows up to {RESULT_SCHEMA_VERSION}; upgrade with `pip install --upgrade evenhand`",
                self.path,
            )
        return run

    def _not_found(self, reference: str) -> str:
        rows = self._reader.rows("SELECT run_id FROM runs ORDER BY number DESC LIMIT ?", (_NEWEST_RUNS,))
        ids = [str(run_id) for (run_id,) in rows]
        if not ids:
            return f"there is no run {reference!r}, found an empty store; start a run with `evenhand run`"
        meant = nearest(reference, [LATEST, *ids])
        hint = (
            f"did you mean {meant!r}?" if meant else f"`evenhand runs` lists them, the newest is {ids[0]!r}"
        )
        return f"there is no run {reference!r}; {hint}"

    def _keys(self, run_id: str, condition: str, values: tuple[object, ...]) -> KeySet:
        sql = f"SELECT case_key FROM results WHERE run = ?{condition} ORDER BY case_key"  # noqa: S608
        return KeySet(self._reader.stream(sql, (self._number(run_id), *values)))

    def _delete(self, numbers: Collection[int]) -> None:
        for number in numbers:
            self._thread().do(_deletion(number))


def _deletion(number: int) -> Action:
    def delete(connection: sqlite3.Connection) -> None:
        with transaction(connection):
            connection.execute("DELETE FROM results WHERE run = ?", (number,))
            connection.execute("DELETE FROM runs WHERE number = ?", (number,))
        # `execute` would take one step, which frees one page; a script is stepped to its end.
        connection.executescript("PRAGMA incremental_vacuum")

    return delete


def _is_before(started_at: str, limit: dt.datetime) -> bool:
    """Whether a run began before the limit; one whose time cannot be read is kept."""
    try:
        started = dt.datetime.fromisoformat(started_at)
    except ValueError:
        return False
    if started.tzinfo is None:
        started = started.replace(tzinfo=dt.UTC)
    return started < limit


def _default_redactor() -> Redactor:
    return Redactor(secret_values(os.environ))
