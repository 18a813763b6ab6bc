"""Plain functions called from an event loop, each call in a thread of a small set.

`loop.run_in_executor` pays for a wake-up of the loop with every single result; here, results that are ready
together are delivered together. Python cannot stop a thread: a call that is given up on runs on, its result is
dropped, and another thread takes the place of the one that it keeps busy.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

MAX_STUCK = 64
"""Calls that were given up on and still run; as long as there are that many, further calls are refused."""
JOIN_S = 1.0
"""Seconds that idle threads get to end when the set is closed."""


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


class CallThreads:
    """Up to `size` threads, started as they are needed, that run calls for one event loop."""

    def __init__(self, size: int, name: str) -> None:
        self._size = size
        self._name = name
        self._waiting: SimpleQueue[_Call | None] = SimpleQueue()
        self._done: deque[_Call] = deque()
        self._delivery_is_due = False
        self._threads: list[threading.Thread] = []
        self._in_flight = 0
        self._abandoned: list[_Call] = []
        self._loop: asyncio.AbstractEventLoop | None = None

    async def call(self, function: Callable[[Any], Any], argument: Any) -> Any:
        """What `function(argument)` returns. Cancelling gives the call up.

        Raises `CodeRaised` with whatever the function raised, and `TooManyStuck`.
        """
        self._loop = asyncio.get_running_loop()
        call = _Call(function, argument, self._loop.create_future())
        self._in_flight += 1
        try:
            self._provide_thread()
            self._waiting.put(call)
            await call.future
        except asyncio.CancelledError:
            call.abandoned = True
            self._abandoned.append(call)
            raise
        finally:
            self._in_flight -= 1
        if call.error is not None:
            raise CodeRaised(call.error)
        return call.result

    def close(self) -> None:
        """End every thread that is idle. Those that are stuck in a call end with it, or with the process."""
        for _ in self._threads:
            self._waiting.put(None)
        if not self._stuck():
            for thread in self._threads:
                thread.join(JOIN_S / len(self._threads))
        self._threads.clear()

    def _provide_thread(self) -> None:
        stuck = self._stuck()
        if stuck >= MAX_STUCK:
            raise TooManyStuck
        if len(self._threads) < min(self._in_flight, self._size) + stuck:
            name = f"{self._name}-{len(self._threads) + 1}"
            # A daemon, so that a call that never returns cannot keep the process alive.
            thread = threading.Thread(target=self._work, name=name, daemon=True)
            self._threads.append(thread)
            thread.start()

    def _stuck(self) -> int:
        if self._abandoned:
            self._abandoned = [call for call in self._abandoned if not call.finished]
        return sum(call.started for call in self._abandoned)

    def _work(self) -> None:
        while (call := self._waiting.get()) is not None:
            call.run()
            if not call.abandoned:
                self._done.append(call)
                self._announce()

    def _announce(self) -> None:
        # `_deliver` lowers the flag before it empties the queue: a call that was queued while the flag was up is
        # still found by the delivery that is due.
        if self._delivery_is_due or self._loop is None:
            return
        self._delivery_is_due = True
        try:
            self._loop.call_soon_threadsafe(self._deliver)
        except RuntimeError:
            # The loop was closed: nobody waits any more.
            return

    def _deliver(self) -> None:
        self._delivery_is_due = False
        while self._done:
            future = self._done.popleft().future
            if not future.done():
                future.set_result(None)
