"""The event loop of a run: it takes few events at a time, so that answers that come together do not wait for all.

A loop that takes everything that is ready reads all answers first, then goes on with all cells, then sends all further
questions: a burst of a few hundred answers stays one, and the other side waits for as long as the whole burst takes.
"""

from __future__ import annotations

import asyncio
import selectors
import sys
from collections import deque
from collections.abc import Coroutine
from typing import Any, TypeVar

EVENTS_AT_ONCE = 8
"""Events for each turn of the loop. What they start comes before the next ones.

A turn of one event costs a quarter more for each, since the processor goes through all of the code for it alone.
"""

T = TypeVar("T")

Event = tuple[selectors.SelectorKey, int]


class FewAtOnce(selectors.DefaultSelector):
    """The platform's selector, which hands out what is ready in small groups, in the order in which it was found."""

    def __init__(self) -> None:
        super().__init__()
        self._held: deque[Event] = deque()

    def select(self, timeout: float | None = None) -> list[Event]:
        """Up to `EVENTS_AT_ONCE` events; waits only where none is left from before."""
        held = self._held
        if not held:
            found = super().select(timeout)
            if len(found) <= EVENTS_AT_ONCE:
                return found
            held.extend(found)
        ready: list[Event] = []
        watched = self.get_map()
        while held and len(ready) < EVENTS_AT_ONCE:
            key, events = held.popleft()
            # What was changed or closed meanwhile is found again if it is still ready.
            if watched.get(key.fd) is key:
                ready.append((key, events))
        return ready


def new_event_loop() -> asyncio.AbstractEventLoop:
    """An event loop for a run. Windows has one of another kind, which needs no selector."""
    if sys.platform == "win32":
        return asyncio.new_event_loop()
    return asyncio.SelectorEventLoop(FewAtOnce())


def run_on_loop(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end on a new event loop, as `asyncio.run` does."""
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(work)
