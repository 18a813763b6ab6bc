"""The run store: every run of a project with all its results, in one SQLite file."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import re
import sqlite3
import threading
import weakref
from collections.abc import Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from evenhand.errors import StoreError
from evenhand.io.sqlite import transaction
from evenhand.model.result import NOT_PASSING, CaseResult, Run, RunStatus
from evenhand.store.database import connect
from evenhand.store.documents import RunDocuments
from evenhand.store.key_set import KeySet
from evenhand.store.presence import Presence, goes_on
from evenhand.store.reading import Order, Reader
from evenhand.store.redaction import EnvironmentRedactor, Redactor
from evenhand.store.run_index import LATEST, RunIndex
from evenhand.store.run_writer import RunWriter, insert_run
from evenhand.store.writer import Action, Channel, WriterThread

T = TypeVar("T")

CASE_KEY = re.compile(r"[0-9a-f]{16}")
"""What the key of a cell looks like."""

__all__ = ["LATEST", "RunStore", "RunWriter", "open_store"]


def open_store(path: Path | None) -> RunStore:
    """Open the store at `path`, created with its folder where there is none; None is a store in memory.

    Raises `StoreError` where the file cannot be used, is something else, or is of a newer version.
    """
    return RunStore(path)


class RunStore:
    """Runs and their results. Usable from several threads, and a file by several processes at once.

    It closes itself when nobody needs it any more: not the store, nor a writer or an iterator that it returned.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._held = _Held(connect(path))
        self._lock = threading.RLock()
        self._reader = Reader(self._held.connection, path, self._lock)
        self._index = RunIndex(self._reader)
        self._release = weakref.finalize(self, self._held.release)

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

        presence = self._presence_of(run.run_id)  # first: whoever sees the run sees that it goes on
        self._thread().do(insert)
        return RunWriter(self._thread(), channel, run, store=self, presence=presence)

    def reopen(self, run_id: str, *, redactor: Redactor | None = None) -> RunWriter:
        """A writer that adds to a run which is in the store already."""
        number = self._index.number(run_id)
        run = self.find(run_id)
        channel = Channel(number, redactor or _default_redactor())
        presence = self._presence_of(run_id)
        return RunWriter(self._thread(), channel, run, store=self, presence=presence)

    def delete(self, run_id: str) -> None:
        """Remove a run with all its results, and give the space back."""
        self._delete([self._index.number(run_id)])

    def prune(
        self, *, keep_days: float | None = None, keep: int | None = None, now: dt.datetime | None = None
    ) -> int:
        """Remove old runs and return how many.

        Those go that were begun more than `keep_days` days ago, and all but the newest `keep`.
        """
        old = self._index.outdated(keep_days=keep_days, keep=keep, now=now or dt.datetime.now(dt.UTC))
        self._delete(old)
        return len(old)

    # Runs

    def runs(
        self, *, suite: str | None = None, status: RunStatus | None = None, limit: int | None = None
    ) -> Iterator[Run]:
        """Runs, the one begun last first. `suite` is a suite's name or the path of its file."""
        return self._while_open(self._index.runs(suite=suite, status=status, limit=limit))

    def find(self, reference: str, *, suite_path: str | Path | None = None) -> Run:
        """The run that a person means: its id, at least four characters of the id's beginning, or `latest`.

        `suite_path` narrows `latest` to the runs of one suite. Raises `UsageError` where no run or several match.
        """
        return self._index.find(reference, None if suite_path is None else str(suite_path))

    def unfinished(self, suite_path: str | Path) -> Run | None:
        """The run of a suite, the one begun last, that did not get to its end; None where all did."""
        return self._index.unfinished(str(suite_path))

    def goes_on(self, run_id: str) -> bool | None:
        """Whether a process writes the run at this moment; None where nobody can know."""
        return goes_on(self.path, run_id)

    def status_counts(self, run_id: str) -> dict[str, int]:
        """How many of a run's committed results ended in each way."""
        sql = "SELECT status, count(*) FROM results WHERE run = ? GROUP BY status"
        return dict(self._reader.rows(sql, (self._index.number(run_id),)))

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

        `test_glob` is a test id, or a shell pattern over them in which `*` crosses `/`. The order is that of the plan
        (`cell`), or the one in which they were added (`finished`).
        """
        number = self._index.number(run_id)
        return self._while_open(self._reader.results(number, statuses, test_glob, order))

    def result(self, run_id: str, case_key: str) -> CaseResult | None:
        """The committed result of one cell; None where there is none, or `case_key` is no key."""
        if not CASE_KEY.fullmatch(case_key):
            return None
        return self._reader.result(self._index.number(run_id), case_key)

    def results_after(self, run_id: str, after: int) -> Iterator[tuple[int, CaseResult]]:
        """What was committed behind the result with the number `after` (0 is before all), with each one's number."""
        return self._while_open(self._reader.results_after(self._index.number(run_id), after))

    def finished_keys(self, run_id: str) -> AbstractSet[str]:
        """The case keys of all results of a run."""
        return self._keys(run_id, "", ())

    def failed_keys(self, run_id: str) -> AbstractSet[str]:
        """The case keys of a run's results that are `fail`, `error` or `xpass`."""
        marks = ",".join("?" * len(NOT_PASSING))
        return self._keys(run_id, f" AND status IN ({marks})", NOT_PASSING)

    def documents(self, run_ids: Sequence[str]) -> RunDocuments:
        """The stored documents of runs, the newest first, found by case key. The store must stay open meanwhile."""
        return RunDocuments(self._reader, [self._index.number(run_id) for run_id in run_ids])

    # Ends

    def close(self) -> None:
        """Write what waits, and let go of the file. Called again it does nothing."""
        self._release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Helpers

    def _while_open(self, items: Iterator[T]) -> Iterator[T]:
        """The items; whoever still iterates over them keeps the store open."""
        yield from items

    def _presence_of(self, run_id: str) -> Presence | None:
        return None if self.path is None else Presence(self.path, run_id)

    def _thread(self) -> WriterThread:
        """The thread that writes; a store that is only read has none."""
        held = self._held
        with self._lock:
            if not self._release.alive:
                raise StoreError("the store was closed; open it again", self.path)
            if held.writer is None:
                if self.path is None:
                    held.writer = WriterThread(held.connection, None, self._lock)
                else:
                    held.writing_connection = connect(self.path)
                    held.writer = WriterThread(held.writing_connection, self.path, contextlib.nullcontext())
            return held.writer

    def _keys(self, run_id: str, condition: str, values: tuple[object, ...]) -> KeySet:
        sql = f"SELECT case_key FROM results WHERE run = ?{condition} ORDER BY case_key"  # noqa: S608
        return KeySet(self._reader.stream(sql, (self._index.number(run_id), *values)))

    def _delete(self, numbers: Collection[int]) -> None:
        for number in numbers:
            self._thread().do(_deletion(number))


class _Held:
    """What a store must let go of at its end. It does not know the store, which may be gone by then."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.writing_connection: sqlite3.Connection | None = None
        self.writer: WriterThread | None = None

    def release(self) -> None:
        if self.writer is not None:
            self.writer.close()
        for connection in (self.writing_connection, self.connection):
            if connection is not None:
                with contextlib.suppress(sqlite3.Error):
                    connection.close()


def _deletion(number: int) -> Action:
    def delete(connection: sqlite3.Connection) -> None:
        with transaction(connection):
            connection.execute("DELETE FROM results WHERE run = ?", (number,))
            connection.execute("DELETE FROM runs WHERE number = ?", (number,))
        # `execute` would take one step, which frees one page; a script is stepped to its end.
        connection.executescript("PRAGMA incremental_vacuum")

    return delete


def _default_redactor() -> Redactor:
    return EnvironmentRedactor(os.environ)
