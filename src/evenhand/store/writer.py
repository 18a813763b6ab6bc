"""The thread that writes results while the run goes on.

One thread per open store does all writing, so that the event loop only appends to a queue. It collects what comes
within some milliseconds, encodes and compresses it, and commits it as one transaction: a result is in the store 50 ms
or 200 results after it was added, whichever comes first. Should it fall behind, `add` waits: memory stays bounded.
"""

from __future__ import annotations

import contextlib
import sqlite3
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path

from evenhand.errors import StoreError
from evenhand.io.sqlite import transaction
from evenhand.model.result import CaseResult
from evenhand.store.blocks import blocks_of, insert_block, insert_rows
from evenhand.store.database import translated
from evenhand.store.redaction import Redactor

BATCH = 200
"""Results that are committed together at most."""

GATHER_S = 0.03
"""How long a result waits for others; leaves time to write within 50 ms."""

MAX_BACKLOG = 1_000
"""Results that may wait; at that number `add` blocks until half of them are written."""

LARGE_OUTPUT = 64 << 10
"""Outputs of more characters than this may make up `MAX_LARGE_OUTPUT` characters of the backlog."""

MAX_LARGE_OUTPUT = 64 << 20

_SWITCH_INTERVAL_S = 0.0005

Action = Callable[[sqlite3.Connection], None]


class Channel:
    """One run's way to the writer thread: where its results go, and what became of them."""

    def __init__(self, number: int, redactor: Redactor) -> None:
        self.number = number
        self.redactor = redactor
        self.added = 0
        self.done = 0
        """Results that were committed, or dropped after a failure."""
        self.failure: StoreError | None = None
        """Why nothing of this run is written any more."""


class Task:
    """Something that the thread does in its turn, after the results before it were committed."""

    def __init__(self, action: Action, channel: Channel | None = None) -> None:
        self._action = action
        self._channel = channel
        self._finished = threading.Event()
        self._failure: Exception | None = None

    def run(self, connection: sqlite3.Connection, path: Path | None) -> None:
        """Do it. A failure is kept for the one who waits, and ends the channel if one was given."""
        try:
            with translated(path):
                self._action(connection)
        except Exception as error:  # noqa: BLE001  (whatever it is, the one who waits raises it)
            self._failure = error
            if self._channel is not None:
                self._channel.failure = _as_store_error(error, path)
        finally:
            self._finished.set()

    def wait(self, is_alive: Callable[[], bool]) -> None:
        """Wait until it was done, and raise what it raised."""
        while not self._finished.wait(1.0):
            if not is_alive():
                raise _closed(None)
        if self._failure is not None:
            raise self._failure


class WriterThread:
    """Owns the connection that writes; everything that changes the store passes through its queue in order."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path | None,
        lock: contextlib.AbstractContextManager[object],
    ) -> None:
        self._connection = connection
        self._path = path
        self._lock = lock
        self._queue: deque[tuple[Channel, CaseResult] | Task] = deque()
        self._tasks = 0
        self._large_output = 0
        self._idle = False
        self._closing = False
        self._wake = threading.Event()
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._loop, name="evenhand-store", daemon=True)
        self._thread.start()

    def put(self, channel: Channel, result: CaseResult) -> None:
        """Queue one result. Blocks only while too much waits."""
        if self._closing:
            raise _closed(self._path)
        output = result.output
        if output.__class__ is str and len(output) > LARGE_OUTPUT:
            self._make_room_for(len(output))
        queue = self._queue
        queue.append((channel, result))
        waiting = len(queue)
        if self._idle or waiting == BATCH:
            self._wake.set()
        elif waiting >= MAX_BACKLOG:
            self._wait_while(lambda: len(queue) >= MAX_BACKLOG // 2)

    def do(self, action: Action) -> None:
        """Queue an action, wait for it, and raise what it raises."""
        task = Task(action)
        self._put_task(task)
        task.wait(self._thread.is_alive)

    def do_later(self, action: Action, channel: Channel) -> None:
        """Queue an action whose failure is the channel's."""
        self._put_task(Task(action, channel))

    def close(self) -> None:
        """Write everything that waits, then end the thread."""
        self._closing = True
        self._wake.set()
        # A store that nobody needs may be collected in any thread, this one included.
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _put_task(self, task: Task) -> None:
        if self._closing or not self._thread.is_alive():
            raise _closed(self._path)
        with self._changed:
            self._tasks += 1
        self._queue.append(task)
        self._wake.set()

    def _make_room_for(self, length: int) -> None:
        self._wait_while(lambda: self._large_output > max(0, MAX_LARGE_OUTPUT - length))
        with self._changed:
            self._large_output += length

    def _wait_while(self, crowded: Callable[[], bool]) -> None:
        self._wake.set()
        with self._changed:
            while crowded():
                if not self._thread.is_alive():
                    raise _closed(self._path)
                self._changed.wait(1.0)

    # The thread's side.

    def _loop(self) -> None:
        with _eager_switching():
            while True:
                self._idle = True
                if not self._queue:
                    if self._closing:
                        return
                    self._wake.wait()
                self._idle = False
                self._wake.clear()
                while self._queue:
                    self._gather()
                    self._take()

    def _gather(self) -> None:
        """Give further results a moment to come, unless someone waits."""
        deadline = time.monotonic() + GATHER_S
        while len(self._queue) < BATCH and not self._tasks and not self._closing:
            remaining = deadline - time.monotonic()
            if remaining <= 0 or self._large_output:
                return
            self._wake.wait(remaining)
            self._wake.clear()

    def _take(self) -> None:
        """Do the task that is next, or commit the results of one run that are."""
        first = self._queue[0]
        if isinstance(first, Task):
            self._queue.popleft()
            with self._lock:
                first.run(self._connection, self._path)
            with self._changed:
                self._tasks -= 1
            return
        channel = first[0]
        results: list[CaseResult] = []
        large = 0
        while self._queue and len(results) < BATCH and large <= MAX_LARGE_OUTPUT:
            item = self._queue[0]
            if isinstance(item, Task) or item[0] is not channel:
                break
            self._queue.popleft()
            results.append(item[1])
            large += _length_if_large(item[1])
        try:
            if channel.failure is None:
                self._commit(channel, results)
        except Exception as error:  # noqa: BLE001  (raised to the one who adds or flushes)
            channel.failure = _as_store_error(error, self._path)
        finally:
            channel.done += len(results)
            with self._changed:
                self._large_output -= large
                self._changed.notify_all()

    def _commit(self, channel: Channel, results: list[CaseResult]) -> None:
        blocks = list(blocks_of(results, channel.redactor))
        with self._lock, translated(self._path), transaction(self._connection):
            rows: list[object] = []
            for body, inside in blocks:
                rows += insert_block(self._connection, channel.number, body, inside)
            # One statement for all rows: each statement gives up the interpreter's lock several times, and a busy
            # event loop keeps it for as long as the switch interval.
            self._connection.execute(insert_rows(len(results)), rows)


def _length_if_large(result: CaseResult) -> int:
    output = result.output
    return len(output) if output.__class__ is str and len(output) > LARGE_OUTPUT else 0


def _closed(path: Path | None) -> StoreError:
    return StoreError("the store was closed; open it again", path)


def _as_store_error(error: Exception, path: Path | None) -> StoreError:
    if isinstance(error, StoreError):
        return error
    return StoreError(f"a result could not be stored, found {type(error).__name__}: {error}", path)


@contextlib.contextmanager
def _eager_switching() -> Iterator[None]:
    """Let threads change over ten times sooner than Python's default while a store is written.

    An event loop that never waits would otherwise keep the writer from the interpreter's lock for 5 ms at each of its
    steps, some twenty to a batch, and leave a long run uncommitted until its end.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, _SWITCH_INTERVAL_S))
    during = sys.getswitchinterval()
    try:
        yield
    finally:
        if sys.getswitchinterval() == during:
            sys.setswitchinterval(before)
