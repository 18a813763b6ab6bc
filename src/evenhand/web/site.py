"""What the pages are made from: the run store, the index over it, and the thread that keeps the index up to date."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from evenhand.cache.opening import cache_directory
from evenhand.errors import EvenhandError
from evenhand.model.result import Run
from evenhand.store.store import RunStore
from evenhand.web.case_index import CaseIndex

T = TypeVar("T")

READY_S = 0.05
"""How long a page waits for the index; then it shows what is there and says that more is coming."""

log = logging.getLogger("evenhand")


class Site:
    """One viewer. Queries run on one thread and indexing on another, so that neither keeps the loop waiting."""

    def __init__(self, store: RunStore, index: CaseIndex, state: Path) -> None:
        """`state` is the folder in which verdicts of people are kept."""
        self.store = store
        self.state = state
        self.index = index
        self.kept_answers = cache_directory(None, os.environ, state) or state
        """The folder of the answers that are kept."""
        self._reading = ThreadPoolExecutor(1, "evenhand-view-read")
        self._indexing = ThreadPoolExecutor(1, "evenhand-view-index")
        self._at_work: dict[str, asyncio.Future[int]] = {}

    async def ask(self, query: Callable[[], T]) -> T:
        """The answer to a query, computed away from the loop."""
        return await asyncio.get_running_loop().run_in_executor(self._reading, query)

    async def run(self, reference: str) -> Run:
        """The run that an address names. Raises `UsageError`."""
        return await self.ask(lambda: self.store.find(reference))

    async def indexed(self, run: Run) -> bool:
        """Whether the index holds all that the run has committed; what is missing is taken in meanwhile."""
        at_work = self._at_work.get(run.run_id)
        if at_work is None or at_work.done():
            at_work = asyncio.get_running_loop().run_in_executor(
                self._indexing, self.index.bring_up_to_date, self.store, run.run_id
            )
            at_work.add_done_callback(_told)
            self._at_work[run.run_id] = at_work
        with contextlib.suppress(TimeoutError, EvenhandError):
            await asyncio.wait_for(asyncio.shield(at_work), READY_S)
            return True
        return False

    def close(self) -> None:
        """Let go of the index; the store belongs to whoever opened it."""
        self._reading.shutdown(wait=True, cancel_futures=True)
        self._indexing.shutdown(wait=True, cancel_futures=True)
        self.index.close()


def _told(done: asyncio.Future[int]) -> None:
    if not done.cancelled() and (error := done.exception()) is not None:
        log.warning("the viewer's index cannot be brought up to date: %s", error)
