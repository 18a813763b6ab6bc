"""Spreads calls to one provider over time."""

from __future__ import annotations

from evenhand.io.clock import Clock


class RateLimiter:
    """Lets at most `rps` calls a second start, evenly spaced, in the order in which they ask."""

    def __init__(self, rps: float, clock: Clock) -> None:
        self._interval = 1.0 / rps
        self._clock = clock
        self._next = 0.0

    async def acquire(self) -> None:
        """Wait until the caller's call may start."""
        now = self._clock.monotonic()
        start = max(now, self._next)
        self._next = start + self._interval
        if start > now:
            await self._clock.sleep(start - now)
