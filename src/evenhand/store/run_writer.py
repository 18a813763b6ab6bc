"""Writing one run while it goes on."""

from __future__ import annotations

import contextlib
import sqlite3

from evenhand.errors import StoreError
from evenhand.io.sqlite import transaction
from evenhand.model.result import CaseResult, Run
from evenhand.store.database import BUSY_TIMEOUT_S
from evenhand.store.encoding import pack_run
from evenhand.store.presence import Presence
from evenhand.store.writer import Action, Channel, WriterThread


class RunWriter:
    """Takes the results of one run. Results are committed on their own; nothing has to be called for that.

    A write that failed shows as `StoreError` at the next call of any method, and every later one.
    """

    def __init__(
        self,
        thread: WriterThread,
        channel: Channel,
        run: Run,
        *,
        store: object = None,
        presence: Presence | None = None,
    ) -> None:
        """`store` is kept open for as long as the writer lives; `presence` says meanwhile that the run goes on."""
        self.run = run
        """The run's header as it was last given."""
        self._thread = thread
        self._channel = channel
        self._finished = False
        self._store = store
        self._presence = presence

    def add(self, result: CaseResult) -> None:
        """Store one result, soon. The first result of a cell stays; a second one for the same cell is dropped.

        Costs the caller about a microsecond. It blocks only where results come faster than they can be written for
        longer, which bounds the memory.
        """
        channel = self._channel
        if channel.failure is not None or self._finished:
            self._check()
        self._thread.put(channel, result)
        channel.added += 1

    @property
    def backlog(self) -> int:
        """Results that were added and are not committed yet."""
        # The writer may be done with a result before `add` has counted it.
        return max(0, self._channel.added - self._channel.done)

    def flush(self) -> None:
        """Wait until everything added so far is committed."""
        self._check()
        self._thread.do(_nothing)
        self._check()

    def update(self, run: Run) -> None:
        """Store another header for the run, soon."""
        self._check()
        self._thread.do_later(self._writing(run), self._channel)

    def finish(self, run: Run) -> None:
        """Commit everything added and the final header; nothing can be added afterwards."""
        self.flush()
        self._thread.do(self._writing(run))
        self._finished = True
        if self._presence is not None:
            self._presence.end()
        self._thread.do(_checkpoint)

    def _writing(self, run: Run) -> Action:
        if run.run_id != self.run.run_id:
            raise ValueError(f"this writer is of run {self.run.run_id!r}, found {run.run_id!r}")
        self.run = run

        def write(connection: sqlite3.Connection) -> None:
            with transaction(connection):
                update_run(connection, self._channel, run)

        return write

    def _check(self) -> None:
        if self._channel.failure is not None:
            raise self._channel.failure
        if self._finished:
            raise StoreError(f"run {self.run.run_id!r} is finished; reopen it to add results")


def insert_run(connection: sqlite3.Connection, channel: Channel, run: Run) -> None:
    """Add the row of a new run and give its number to the channel."""
    document, cleaned = pack_run(run, channel.redactor)
    (channel.number,) = connection.execute(
        "INSERT INTO runs (run_id, suite, suite_path, status, started_at, document) VALUES (?,?,?,?,?,?)"
        " RETURNING number",
        (run.run_id, cleaned.suite, cleaned.suite_path, run.status.value, run.started_at, document),
    ).fetchone()


def update_run(connection: sqlite3.Connection, channel: Channel, run: Run) -> None:
    """Replace the header of a run."""
    document, cleaned = pack_run(run, channel.redactor)
    changed = connection.execute(
        "UPDATE runs SET suite=?, suite_path=?, status=?, started_at=?, document=? WHERE number=?",
        (cleaned.suite, cleaned.suite_path, run.status.value, run.started_at, document, channel.number),
    ).rowcount
    if not changed:
        raise StoreError(f"run {run.run_id!r} was deleted while it was written; start it again")


def _nothing(connection: sqlite3.Connection) -> None:
    """Come to an end only after what was queued before."""


def _checkpoint(connection: sqlite3.Connection) -> None:
    """Empty the write-ahead log. Others at work can keep it from that; then the last to close the store does it."""
    connection.execute("PRAGMA busy_timeout = 500")
    with contextlib.suppress(sqlite3.Error):
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_S * 1_000:.0f}")
