"""Async functions called on an event loop of their own, in a thread of their own.

Code under test may block its loop, stop it, swallow a cancellation or cancel every task it finds. None of that may
reach the loop that runs the suite: time limits and Ctrl-C must hold whatever a coroutine does. Python cannot stop a
thread: a loop that is blocked is left to itself, and another one takes its place.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable
from typing import Any

from evenhand.io.deadlines import Deadlines, TimeIsUp
from evenhand.io.gathering import Gathering
from evenhand.io.threads import MAX_STUCK, CodeRaised, TooManyStuck

NOTICE_S = 0.25
"""Seconds that a loop gets to take notice of a cancellation; one that does not is blocked."""
CLOSE_S = 1.0
"""Seconds that what still runs on a loop gets to end when it is closed."""


class _Call:
    """One call: what to run, where the result goes, and how far it has come."""

    __slots__ = (
        "abandoned",
        "argument",
        "begun",
        "error",
        "finished",
        "function",
        "future",
        "lane",
        "result",
        "task",
    )

    def __init__(
        self,
        function: Callable[[Any], Awaitable[Any]],
        argument: Any,
        future: asyncio.Future[None],
        lane: _Lane,
    ) -> None:
        self.function = function
        self.argument = argument
        self.future = future
        self.lane = lane
        self.task: asyncio.Task[None] | None = None
        self.result: Any = None
        self.error: BaseException | None = None
        self.begun = False
        self.abandoned = False
        self.finished = False

    async def run(self) -> None:
        self.begun = True
        try:
            self.result = await self.function(self.argument)
        except BaseException as error:  # noqa: BLE001  (whatever it is, the caller must hear of it)
            self.error = error
        self.lane.end(self)


class _Lane:
    """A loop and its thread, for calls from another loop."""

    def __init__(self, name: str, caller: asyncio.AbstractEventLoop) -> None:
        self.is_blocked = False
        self._caller = caller
        self._loop = asyncio.new_event_loop()
        self._closing = False
        self._running = 0
        self._asked: Gathering[_Call] = Gathering(caller, self._send)
        self._answered: Gathering[_Call] = Gathering(self._loop, self._send_back)
        # A daemon, so that a coroutine that never returns cannot keep the process alive.
        self.thread = threading.Thread(target=self._work, name=name, daemon=True)
        self.thread.start()

    def start(self, call: _Call) -> int:
        """Begin a call soon; returns how many now wait for that."""
        return self._asked.put(call)

    def start_all(self) -> None:
        """Begin those that wait, since no more will come for now."""
        self._asked.flush()

    def cancel(self, call: _Call, noticed: asyncio.Future[None]) -> None:
        """Cancel a call, and tell when this loop has come to do so."""

        def stop() -> None:
            if call.task is not None:
                call.task.cancel()
            _call_in(self._caller, _set_done, noticed)

        _call_in(self._loop, stop)

    def close(self) -> None:
        self._asked.flush()
        self._closing = True
        _call_in(self._loop, self._loop.stop)

    def is_usable(self) -> bool:
        return not self.is_blocked and not self._loop.is_closed()

    def _send(self, calls: list[_Call]) -> None:
        _call_in(self._loop, self._begin, calls)

    def _send_back(self, calls: list[_Call]) -> None:
        _call_in(self._caller, _deliver, calls)

    def end(self, call: _Call) -> None:
        """Take in that a call has come to an end."""
        call.finished = True
        call.task = None
        self._running -= 1
        if not call.abandoned:
            self._answered.put(call)
        if not self._running:
            self._answered.flush()

    def _begin(self, calls: list[_Call]) -> None:
        self._running += len(calls)
        for call in calls:
            if call.abandoned:
                self.end(call)
            else:
                call.task = self._loop.create_task(call.run())
        # Comes after the first step of each.
        self._loop.call_soon(self._end_cancelled, calls)

    def _end_cancelled(self, calls: list[_Call]) -> None:
        """End the calls whose tasks were cancelled, by others that found them, before their first step."""
        for call in calls:
            if not call.begun and not call.finished:
                call.error = asyncio.CancelledError()
                self.end(call)

    def _work(self) -> None:
        asyncio.set_event_loop(self._loop)
        # Code under test may stop the loop; a task of its own that raises `SystemExit` does so too.
        while not self._closing and not self._loop.is_closed():
            with contextlib.suppress(BaseException):
                self._loop.run_forever()
        self._finish()

    def _finish(self) -> None:
        """End what still runs, and close the loop.

        A coroutine that ignores its cancellation is run on until it ends by itself, or with the process: dropped, it
        would ignore that too, for ever, in whichever thread the collector happens to run.
        """
        with contextlib.suppress(BaseException):
            self._loop.set_exception_handler(_say_nothing)
            tasks = asyncio.all_tasks(self._loop)
            for task in tasks:
                task.cancel()
            if tasks:
                self._loop.run_until_complete(asyncio.wait(tasks))
            self._answered.flush()
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        with contextlib.suppress(BaseException):
            self._loop.close()


class CallLoop:
    """Runs async calls for one event loop on another, which is started with the first call."""

    def __init__(self, name: str, *, size: int | None = None, timeout_s: float | None = None) -> None:
        """`size` is the number of calls in flight at most, where it is known, `timeout_s` the time of each."""
        self._size = size
        self._name = name
        self._lane: _Lane | None = None
        self._lanes = 0
        self._abandoned: list[_Call] = []
        self._deadlines = Deadlines(timeout_s)

    async def call(self, function: Callable[[Any], Awaitable[Any]], argument: Any) -> Any:
        """What the awaited `function(argument)` returns. Cancelling cancels the call and does not wait for its end.

        Raises `CodeRaised` with whatever the function raised, `TimeIsUp` and `TooManyStuck`.
        """
        loop = asyncio.get_running_loop()
        lane = self._usable_lane(loop)
        call = _Call(function, argument, loop.create_future(), lane)
        if lane.start(call) == self._size:
            lane.start_all()
        try:
            await self._deadlines.wait(call.future)
        except (asyncio.CancelledError, TimeIsUp):
            await self._give_up(call, loop)
            raise
        if call.error is not None:
            raise CodeRaised(call.error)
        return call.result

    def close(self) -> None:
        """End the loop, and with it whatever still runs on it. What blocks it ends by itself, or with the process."""
        lane, self._lane = self._lane, None
        if lane is not None:
            lane.close()
            lane.thread.join(CLOSE_S)
        self._deadlines.close()

    async def _give_up(self, call: _Call, loop: asyncio.AbstractEventLoop) -> None:
        call.abandoned = True
        self._abandoned.append(call)
        noticed = loop.create_future()
        call.lane.cancel(call, noticed)
        done, _ = await asyncio.wait([noticed], timeout=NOTICE_S)
        if not done:
            call.lane.is_blocked = True

    def _usable_lane(self, caller: asyncio.AbstractEventLoop) -> _Lane:
        if self._abandoned:
            self._abandoned = [call for call in self._abandoned if not call.finished]
            if len(self._abandoned) >= MAX_STUCK:
                raise TooManyStuck
        if self._lane is None or not self._lane.is_usable():
            if self._lane is not None:
                self._lane.close()
            self._lanes += 1
            self._lane = _Lane(f"{self._name}-{self._lanes}", caller)
        return self._lane


def _call_in(loop: asyncio.AbstractEventLoop, function: Callable[..., None], *arguments: Any) -> None:
    """Have a loop of another thread call a function. One that is closed has nobody waiting."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(function, *arguments)


def _deliver(calls: list[_Call]) -> None:
    for call in calls:
        _set_done(call.future)


def _set_done(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _say_nothing(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """What breaks while a loop is taken down is nobody's result."""
