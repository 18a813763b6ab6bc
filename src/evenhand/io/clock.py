"""Time as the engine sees it, so that tests can wait without waiting."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """A monotonic clock and a way to wait."""

    def monotonic(self) -> float:
        """Seconds since some fixed moment; never goes back."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait; other work goes on meanwhile."""
        ...


class SystemClock:
    """The machine's own clock."""

    def monotonic(self) -> float:
        """Seconds since some fixed moment."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait on the running event loop."""
        await asyncio.sleep(seconds)
