"""Stand-ins for the outside world, shipped for tests of suites' tools and of evenhand itself.

`FakeProvider` answers from a list or a function instead of calling anything; `FakeClock` lets hours pass at once.
"""

from __future__ import annotations

import asyncio
import heapq
import inspect
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from evenhand.errors import ErrorClass, ProviderError
from evenhand.io.clock import Clock, SystemClock
from evenhand.model.exchange import Request, Response
from evenhand.model.provider import Provider, ProviderContext

Replies = Sequence[Any] | Callable[[Request], Any]
"""What a fake answers with, in turn, or a function that makes the answer (it may be async).

An answer is a `Response`, an exception to raise, or an output.
"""


class FakeSession:
    """A provider in use that answers from `replies`, each after `delay_s` seconds of `clock`.

    `requests` lists what was asked, `closed` says whether it was closed. Asked more often than it has replies, it
    raises `ProviderError`.
    """

    def __init__(self, replies: Replies, *, delay_s: float = 0.0, clock: Clock | None = None) -> None:
        self.requests: list[Request] = []
        self.closed = False
        self._replies = replies
        self._delay_s = delay_s
        self._clock = clock or SystemClock()

    async def complete(self, request: Request) -> Response:
        """The next reply."""
        self.requests.append(request)
        asked = len(self.requests)
        if self._delay_s:
            await self._clock.sleep(self._delay_s)
        reply = self._replies(request) if callable(self._replies) else self._in_turn(asked)
        if inspect.isawaitable(reply):
            reply = await reply
        if isinstance(reply, BaseException):
            raise reply
        return reply if isinstance(reply, Response) else Response(output=reply)

    async def close(self) -> None:
        """Remember that the session was closed."""
        self.closed = True

    def _in_turn(self, asked: int) -> Any:
        assert not callable(self._replies)  # noqa: S101
        if asked <= len(self._replies):
            return self._replies[asked - 1]
        message = f"the fake was asked {asked} times and has {len(self._replies)} replies"
        return ProviderError(message, ErrorClass.PROVIDER_REQUEST)


class FakeProvider(Provider, tag="fake", frozen=True, kw_only=True):
    """A provider for suites that are built in code; suite files cannot name it."""

    id: str = "fake"
    replies: Any = ()
    """See `Replies`."""
    delay_s: float = 0.0
    clock: Any = None
    """The `Clock` that the delay is waited on; the real one by default."""

    def open(self, context: ProviderContext) -> FakeSession:
        """A session with the replies from the first one on."""
        return FakeSession(self.replies, delay_s=self.delay_s, clock=self.clock)


class FakeClock:
    """A clock that moves only when everybody sleeps, and then at once to the moment when the first one wakes.

    `slept` lists the waits that were asked for. Waits are woken in the order of their time.
    """

    PASSES = 20
    """Passes of the event loop without a new wait after which everybody counts as asleep."""

    def __init__(self, now: float = 0.0) -> None:
        self.now = now
        self.slept: list[float] = []
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = itertools.count()
        self._watching = False

    def monotonic(self) -> float:
        """The seconds that have passed on this clock."""
        return self.now

    async def sleep(self, seconds: float) -> None:
        """Return when the clock has moved on by that much."""
        self.slept.append(seconds)
        loop = asyncio.get_running_loop()
        awake = loop.create_future()
        heapq.heappush(self._sleepers, (self.now + max(0.0, seconds), next(self._order), awake))
        if not self._watching:
            self._watching = True
            loop.call_soon(self._watch, loop, len(self.slept), self.PASSES)
        await awake

    def _watch(self, loop: asyncio.AbstractEventLoop, seen: int, passes: int) -> None:
        if len(self.slept) != seen:
            seen, passes = len(self.slept), self.PASSES
        if passes:
            loop.call_soon(self._watch, loop, seen, passes - 1)
            return
        self._wake_first()
        if self._sleepers:
            loop.call_soon(self._watch, loop, len(self.slept), self.PASSES)
        else:
            self._watching = False

    def _wake_first(self) -> None:
        while self._sleepers:
            moment, _, awake = heapq.heappop(self._sleepers)
            if not awake.done():
                self.now = max(self.now, moment)
                awake.set_result(None)
                return
