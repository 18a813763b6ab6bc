"""Plain functions called from an event loop, in a small set of threads.

Each thread that is woken asks for the interpreter's lock, and so does the loop each time that a result wakes it. Where
functions return at once, that costs many times what they do; so calls and results travel together where they can.
Python cannot stop a thread: a call that is given up on runs on, its result is dropped, and another thread takes the
place of the one that it keeps busy.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from typing import Any, Protocol

from evenhand.io.deadlines import Deadlines, TimeIsUp
from evenhand.io.gathering import Gathering

MAX_STUCK = 64
"""Calls that were given up on and still run; as long as there are that many, further calls are refused."""
JOIN_S = 1.0
"""Seconds that idle threads get to end when the set is closed."""
QUICK_S = 0.001
"""Seconds for which calls wait for the one before them to return."""
QUICK_IN_A_ROW = 32
"""Calls that must return within that time after one that did not, before calls wait for each other again."""


class CodeRaised(Exception):
    """What a called function raised. It may be anything, `KeyboardInterrupt` too, and must not be taken for ours."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(type(error).__name__)
        self.error = error


class TooManyStuck(Exception):
    """Calls that were given up on keep so many threads busy that no further one is started."""


class _Call:
    """One call: what to run, where the result goes, and how far it has come."""

    __slots__ = ("abandoned", "argument", "error", "finished", "function", "future", "result", "started")

    def __init__(self, function: Callable[[Any], Any], argument: Any, future: asyncio.Future[None]) -> None:
        self.function = function
        self.argument = argument
        self.future = future
        self.result: Any = None
        self.error: BaseException | None = None
        self.started = False
        self.finished = False
        self.abandoned = False

    def run(self) -> None:
        self.started = True
        if not self.abandoned:
            try:
                self.result = self.function(self.argument)
            except BaseException as error:  # noqa: BLE001  (whatever it is, the caller must hear of it)
                self.error = error
        self.finished = True


class _Bell(Protocol):
    """What wakes a thread: True to look for calls, False to end."""

    def put(self, go_on: bool, /) -> None: ...

    def get(self) -> bool: ...


class _Pipe:
    """A bell that takes two file descriptors.

    Who waits for a lock (a `SimpleQueue` has one) is given the processor at once, only to find that the one who rang
    still holds the interpreter's lock. Linux lets those who write to a pipe go on until they wait themselves.
    """

    def __init__(self) -> None:
        self._out, self._in = os.pipe()

    def put(self, go_on: bool, /) -> None:
        os.write(self._in, b"+" if go_on else b"-")

    def get(self) -> bool:
        if os.read(self._out, 1) == b"+":
            return True
        os.close(self._in)
        os.close(self._out)
        return False


class _Worker:
    """A thread that takes calls when its bell rings, until there are none left."""

    def __init__(self, waiting: deque[_Call], take_all: Callable[[], None], bell: _Bell, name: str) -> None:
        self._waiting = waiting
        self._take_all = take_all
        self._bell = bell
        self.is_idle = False
        self.is_waking = False
        # A daemon, so that a call that never returns cannot keep the process alive.
        self.thread = threading.Thread(target=self._work, name=name, daemon=True)

    def wake(self) -> None:
        self.is_idle, self.is_waking = False, True
        self._bell.put(True)

    def end(self) -> None:
        self._bell.put(False)

    def _work(self) -> None:
        while self._bell.get():
            self.is_waking = False
            self._take_all()
            self.is_idle = True
            # What came while this thread was not yet seen to be idle has nobody else to look for it.
            if self._waiting:
                self.wake()


class CallThreads:
    """Up to `size` threads, started as they are needed, that run calls for one event loop.

    Calls that come together are run by one thread, one after the other, for as long as they return at once. As soon
    as one takes longer, those behind it get threads of their own, and so do the ones after them for a while.
    """

    def __init__(self, size: int, name: str, timeout_s: float | None = None) -> None:
        """`timeout_s` is the time that each call has."""
        self._size = size
        self._name = name
        self._waiting: deque[_Call] = deque()
        self._done: deque[_Call] = deque()
        self._workers: list[_Worker] = []
        self._abandoned: list[_Call] = []
        self._in_flight = 0
        self._quick_in_a_row = QUICK_IN_A_ROW
        self._loop: asyncio.AbstractEventLoop | None = None
        self._asked: Gathering[_Call] | None = None
        self._next_look: asyncio.TimerHandle | None = None
        self._delivery_is_due = False
        self._deadlines = Deadlines(timeout_s)

    async def call(self, function: Callable[[Any], Any], argument: Any) -> Any:
        """What `function(argument)` returns. Cancelling gives the call up.

        Raises `CodeRaised` with whatever the function raised, `TimeIsUp` and `TooManyStuck`.
        """
        if self._abandoned and self._stuck() >= MAX_STUCK:
            raise TooManyStuck
        loop = asyncio.get_running_loop()
        if self._asked is None:
            self._loop = loop
            self._asked = Gathering(loop, partial(self._start, loop))
        call = _Call(function, argument, loop.create_future())
        self._in_flight += 1
        if self._asked.put(call) == self._size:
            self._asked.flush()
        try:
            await self._deadlines.wait(call.future)
        except (asyncio.CancelledError, TimeIsUp):
            call.abandoned = True
            self._abandoned.append(call)
            self._wake(len(self._waiting))
            raise
        finally:
            self._in_flight -= 1
        if call.error is not None:
            raise CodeRaised(call.error)
        return call.result

    def close(self) -> None:
        """End every thread that is idle. Those that are stuck in a call end with it, or with the process."""
        self._deadlines.close()
        if self._asked is not None:
            self._asked.drop()
        if self._next_look is not None:
            self._next_look.cancel()
        for worker in self._workers:
            worker.end()
        if not self._stuck():
            for worker in self._workers:
                worker.thread.join(JOIN_S / len(self._workers))
        self._workers.clear()

    def _stuck(self) -> int:
        if self._abandoned:
            self._abandoned = [call for call in self._abandoned if not call.finished]
        return sum(call.started for call in self._abandoned)

    def _start(self, loop: asyncio.AbstractEventLoop, calls: list[_Call]) -> None:
        """Have calls run, and look after them in a while."""
        if self._next_look is not None:
            self._next_look.cancel()
        self._waiting.extend(calls)
        self._next_look = loop.call_later(QUICK_S, self._look_after)
        self._wake(1 if self._quick_in_a_row >= QUICK_IN_A_ROW else len(calls))
        self._deliver()

    def _look_after(self) -> None:
        """Where calls still wait, the one before them takes long: they need threads of their own."""
        self._next_look = None
        self._deliver()
        self._wake(len(self._waiting) - sum(worker.is_waking for worker in self._workers))

    def _wake(self, count: int) -> None:
        """Have so many threads look for calls. Where fewer are idle and there are enough, one is about to be."""
        idle = [worker for worker in self._workers if worker.is_idle][:count]
        for worker in idle:
            worker.wake()
        enough = min(self._in_flight, self._size) + self._stuck()
        for _ in range(min(count - len(idle), enough - len(self._workers))):
            self._add_worker().wake()

    def _add_worker(self) -> _Worker:
        """Start a thread. The first one is the one that runs quick calls."""
        bell: _Bell = SimpleQueue() if self._workers else _Pipe()
        worker = _Worker(self._waiting, self._take_all, bell, f"{self._name}-{len(self._workers) + 1}")
        self._workers.append(worker)
        worker.thread.start()
        return worker

    # The side of the threads.

    def _take_all(self) -> None:
        """Run calls until none waits."""
        while self._waiting:
            try:
                call = self._waiting.popleft()
            except IndexError:  # Another thread was faster.
                break
            began = time.perf_counter()
            call.run()
            is_quick = time.perf_counter() - began < QUICK_S
            self._quick_in_a_row = self._quick_in_a_row + 1 if is_quick else 0
            if not call.abandoned:
                self._done.append(call)
                # Else the result goes with that of the next call, or when the loop looks after the calls.
                if self._quick_in_a_row < QUICK_IN_A_ROW or self._next_look is None:
                    self._announce()
        if self._done:
            self._announce()

    def _announce(self) -> None:
        # `_deliver` lowers the flag before it empties the queue: a call that was queued while the flag was up is
        # still found by the delivery that is due.
        if self._delivery_is_due or self._loop is None:
            return
        self._delivery_is_due = True
        # A loop that is closed has nobody waiting.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._deliver)

    def _deliver(self) -> None:
        self._delivery_is_due = False
        while self._done:
            future = self._done.popleft().future
            if not future.done():
                future.set_result(None)
