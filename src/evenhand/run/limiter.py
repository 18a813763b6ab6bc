"""Spreads calls to one provider over time."""

from __future__ import annotations

from evenhand.io.clock import Clock


class RateLimiter:
    """Lets at most so many units a second start, evenly spaced, in the order in which they ask for them."""

    def __init__(self, per_second: float, clock: Clock) -> None:
        self._interval = 1.0 / per_second
        self._clock = clock
        self._next = 0.0

    async def acquire(self, units: float = 1.0) -> None:
        """Wait until the caller may start what costs so many units."""
        now = self._clock.monotonic()
        start = max(now, self._next)
        self._next = start + self._interval * units
        if start > now:
            await self._clock.sleep(start - now)

    def correct(self, units: float) -> None:
        """Count further units for what was started, fewer where they are negative."""
        self._next += self._interval * units
