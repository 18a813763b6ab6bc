"""How many calls to one provider may be in flight: cut where it is overloaded, grown back where it copes."""

from __future__ import annotations

import asyncio
from collections import deque

from evenhand.io.clock import Clock
from evenhand.model.result import LimitCut

SHARE_AFTER_CUT = 0.5
"""What a cut leaves of the calls in flight: halved, as in TCP's congestion control (RFC 5681)."""
MAX_CUTS_KEPT = 100


class Window:
    """A limit on calls in flight between 1 and a ceiling, where it starts. Calls enter in the order in which they ask.

    One wave of refusals is one cut: what was sent before a cut says nothing about the limit after it. Each success
    lets the limit grow by its share of one, so that a whole round of them adds one call.
    """

    def __init__(
        self, ceiling: int, clock: Clock, *, adapts: bool = True, began: float | None = None
    ) -> None:
        """`began` is the moment on the clock from which cuts are dated: now, unless the run began before."""
        self.ceiling = ceiling
        self.limit = float(ceiling)
        self.lowest = ceiling
        self.refused = 0
        """Calls that were turned away because there were too many."""
        self.cuts: list[LimitCut] = []
        self.cut_count = 0
        self.in_flight = 0
        self._adapts = adapts
        self._clock = clock
        self._began = clock.monotonic() if began is None else began
        self._held_until = 0.0
        self._waiting: deque[asyncio.Future[None]] = deque()

    def enter_at_once(self) -> bool:
        """Take a place if there is one and nothing holds calls back."""
        if self._held_until or self._waiting or self.in_flight + 1 > self.limit:
            return False
        self.in_flight += 1
        return True

    async def enter(self) -> None:
        """Wait for a place, and in it for the end of a hold."""
        if self._waiting or self.in_flight + 1 > self.limit:
            place = asyncio.get_running_loop().create_future()
            self._waiting.append(place)
            try:
                await place
            except asyncio.CancelledError:
                if place.done() and not place.cancelled():
                    self.leave()
                raise
        else:
            self.in_flight += 1
        try:
            while (wait := self._held_until - self._clock.monotonic()) > 0:
                await self._clock.sleep(wait)
        except asyncio.CancelledError:
            self.leave()
            raise
        self._held_until = 0.0

    def leave(self) -> None:
        """Give the place back."""
        self.in_flight -= 1
        if self._waiting:
            self._admit()

    def hold(self, seconds: float) -> None:
        """Let no call start before so many seconds have passed."""
        self._held_until = max(self._held_until, self._clock.monotonic() + seconds)

    def grow(self) -> None:
        """Take in a success."""
        if self.limit < self.ceiling:
            self.limit = min(float(self.ceiling), self.limit + 1.0 / self.limit)
            if self._waiting:
                self._admit()

    def cut(self, sent_after: int, reason: str) -> None:
        """Take in a refusal of a call that was sent after so many cuts."""
        self.refused += 1
        if not self._adapts or sent_after != self.cut_count:
            return
        before = int(self.limit)
        self.limit = max(1.0, min(self.limit, self.in_flight) * SHARE_AFTER_CUT)
        self.cut_count += 1
        self.lowest = min(self.lowest, int(self.limit))
        if len(self.cuts) < MAX_CUTS_KEPT:
            at_ms = round((self._clock.monotonic() - self._began) * 1_000, 3)
            self.cuts.append(LimitCut(at_ms=at_ms, before=before, after=int(self.limit), reason=reason))

    def _admit(self) -> None:
        while self._waiting and self.in_flight + 1 <= self.limit:
            place = self._waiting.popleft()
            if not place.done():
                self.in_flight += 1
                place.set_result(None)
