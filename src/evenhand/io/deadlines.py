"""One time limit for many waits, kept by a single timer: who began first is due first."""

from __future__ import annotations

import asyncio


class TimeIsUp(Exception):
    """A wait that lasted for as long as it may."""


class Deadlines:
    """Waits for futures, for each as long as for the others.

    `asyncio.timeout` makes, sorts and takes back a timer for each wait, and cancels the task that waits.
    """

    def __init__(self, seconds: float | None) -> None:
        """`seconds` that each wait may last; without end where it is None."""
        self._seconds = seconds
        self._due: dict[asyncio.Future[None], float] = {}
        self._timer: asyncio.TimerHandle | None = None

    async def wait(self, future: asyncio.Future[None]) -> None:
        """Wait until a future is done. Raises `TimeIsUp`, and leaves the future to nobody."""
        if self._seconds is None:
            await future
            return
        loop = future.get_loop()
        due = self._due[future] = loop.time() + self._seconds
        if self._timer is None:
            self._timer = loop.call_at(due, self._expire, loop)
        try:
            await future
        finally:
            del self._due[future]

    def close(self) -> None:
        """Let go of the timer. Waits that still go on are no longer limited."""
        if self._timer is not None:
            self._timer.cancel()

    def _expire(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        now = loop.time()
        for future, due in self._due.items():
            if due > now:
                self._timer = loop.call_at(due, self._expire, loop)
                return
            if not future.done():
                future.set_exception(TimeIsUp())
