"""Things that come up one by one in an event loop and are handed to another thread together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Gathering(Generic[T]):
    """Hands over what is put into it, once a round of the loop has brought nothing more.

    Whoever wakes another thread goes on working, and both then want the interpreter's lock at once, which costs more
    than the calls that are handed over. So the other one is woken when this loop has come to the end of its work.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, hand_over: Callable[[list[T]], None]) -> None:
        self._loop = loop
        self._hand_over = hand_over
        self._items: list[T] = []
        self._seen = 0

    def put(self, item: T) -> int:
        """Hand an item over soon; returns how many now wait for that. Only for the loop's own thread."""
        self._items.append(item)
        waiting = len(self._items)
        if waiting == 1:
            self._seen = 1
            self._loop.call_soon(self._look)
        return waiting

    def flush(self) -> None:
        """Hand over what there is, since no more will come for now."""
        if self._items:
            items, self._items = self._items, []
            self._hand_over(items)

    def drop(self) -> None:
        """Forget what has not been handed over."""
        self._items = []

    def _look(self) -> None:
        if len(self._items) > self._seen:
            self._seen = len(self._items)
            self._loop.call_soon(self._look)
        else:
            self.flush()
