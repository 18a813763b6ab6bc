"""Runs a plan's cells on this machine, a bounded number at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator

from evenhand.model.result import CaseResult
from evenhand.run.cell import run_cell
from evenhand.run.plan import Cell, Plan
from evenhand.run.services import Services

Consume = Callable[[CaseResult], bool]
"""Takes a finished result; False ends the run: cells in flight finish, no further one starts."""

YIELD_EVERY = 16
"""Cells after which a worker lets others run: a provider that never waits would starve signals and progress."""


class LocalExecutor:
    """A fixed number of workers that pull cells from the plan as they become free; nothing is held for later."""

    def __init__(self, concurrency: int) -> None:
        self.concurrency = concurrency

    async def run(
        self,
        plan: Plan,
        services: Services,
        consume: Consume,
        *,
        keep_up: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """Run every cell; each yields exactly one result, in any order.

        `keep_up` is awaited now and then and may wait until whoever takes the results has caught up. Cancelling
        ends the cells in flight, which then yield no result.
        """
        cells = plan.cells()
        stop = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            for _ in range(self.concurrency):
                group.create_task(_work(cells, services, consume, stop, keep_up))


async def _work(
    cells: Iterator[Cell],
    services: Services,
    consume: Consume,
    stop: asyncio.Event,
    keep_up: Callable[[], Awaitable[None]] | None,
) -> None:
    budget = services.budget
    for count, cell in enumerate(cells, start=1):
        if budget is not None and not await budget.admits(cell):
            stop.set()
        if stop.is_set():
            return
        result = await run_cell(cell, services)
        if budget is not None:
            budget.settle(cell, result)
        if not consume(result):
            stop.set()
        if stop.is_set():
            return
        if count % YIELD_EVERY == 0:
            await (keep_up() if keep_up else asyncio.sleep(0))
