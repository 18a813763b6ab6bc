"""The thread that writes kept answers while the run goes on; what waits for it can be read already."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

from evenhand.cache.database import CacheError, Row, insert, translated
from evenhand.io.sqlite import is_busy, transaction

BATCH = 200
"""Answers that are committed together at most."""
GATHER_S = 0.1
"""Seconds that an answer waits for others. Each commit makes look-ups slower for a moment, since it empties what SQLite
remembers of the file."""
MAX_WAITING_BYTES = 256 << 20
"""Bytes of answers that may wait; above, `put` waits a while."""
PATIENCE_S = 30.0
"""Seconds that writing is tried while other processes write."""

_CHECKPOINT = "PRAGMA wal_checkpoint(TRUNCATE)"


class Writer:
    """Owns the writing of one store. The first failure ends it: nothing more is written, and one warning says so."""

    def __init__(self, connection: sqlite3.Connection, path: Path, on_failure: Callable[[str], None]) -> None:
        self._connection = connection
        self._path = path
        self._on_failure = on_failure
        self._queue: deque[Row] = deque()
        self._used: dict[bytes, float] = {}
        self._waiting: dict[bytes, bytes] = {}
        self._bytes_put = 0
        self._bytes_done = 0
        self._closing = threading.Event()
        self._wake = threading.Event()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self.has_failed = False

    def waiting(self, key: bytes) -> bytes | None:
        """The body of an answer that is not committed yet."""
        return self._waiting.get(key)

    def put(self, row: Row) -> None:
        """Queue an answer."""
        if self.has_failed or (row.key in self._waiting and not row.replaces):
            return
        size = len(row.body)
        if self._bytes_waiting + size > MAX_WAITING_BYTES:
            self._wait_for_room(size)
        self._bytes_put += size
        self._waiting[row.key] = row.body
        self._queue.append(row)
        self._run()

    def touch(self, key: bytes, now: float) -> None:
        """Note that an answer was used."""
        if not self.has_failed:
            self._used[key] = now
            self._run()

    def close(self) -> None:
        """Write everything that waits, put the log back into the file, and end the thread."""
        self._closing.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._loop, name="evenhand-cache", daemon=True)
            self._thread.start()
        # The thread lowers the flag before it looks into the queue: what came while it was up is found.
        if not self._wake.is_set():
            self._wake.set()

    @property
    def _bytes_waiting(self) -> int:
        # Two counters, each written by one side alone: no lock for every answer.
        return self._bytes_put - self._bytes_done

    def _wait_for_room(self, size: int) -> None:
        deadline = time.monotonic() + PATIENCE_S
        self._wake.set()
        with self._changed:
            while (waiting := self._bytes_waiting) and waiting + size > MAX_WAITING_BYTES:
                if time.monotonic() >= deadline:
                    return
                self._changed.wait(0.5)

    # The thread's side.

    def _loop(self) -> None:
        while True:
            self._wake.wait()
            self._wake.clear()
            self._closing.wait(GATHER_S)
            while self._queue or self._used:
                self._take()
            if self._closing.is_set() and not self._queue:
                break
        if not self.has_failed:
            try:
                self._connection.execute(_CHECKPOINT)
            except sqlite3.Error:
                return  # another run reads; its own end does it

    def _take(self) -> None:
        rows = [self._queue.popleft() for _ in range(min(BATCH, len(self._queue)))]
        used, self._used = self._used, {}
        try:
            if not self.has_failed:
                with translated(self._path):
                    self._commit(rows, used)
        except (CacheError, MemoryError) as error:
            self.has_failed = True
            self._on_failure(str(error))
        finally:
            for row in rows:
                if self._waiting.get(row.key) is row.body:
                    del self._waiting[row.key]
            with self._changed:
                self._bytes_done += sum(len(row.body) for row in rows)
                self._changed.notify_all()

    def _commit(self, rows: list[Row], used: dict[bytes, float]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                if rows:
                    insert(self._connection, rows)
                if used:
                    self._mark(used)
                return
            except sqlite3.OperationalError as error:
                if not is_busy(error) or time.monotonic() > deadline:
                    raise

    def _mark(self, used: dict[bytes, float]) -> None:
        with transaction(self._connection):
            self._connection.executemany(
                "UPDATE answers SET used = ? WHERE key = ?", [(moment, key) for key, moment in used.items()]
            )
