"""Runs a plan's cells on this machine, a bounded number at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator

import msgspec

from evenhand.model.result import CaseResult, RepeatDecision
from evenhand.run.cell import run_cell
from evenhand.run.plan import Cell, Plan, Tally
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
    ) -> bool:
        """Run every cell; each yields exactly one result, in any order. Returns whether any was left out.

        `keep_up` is awaited now and then and may wait until whoever takes the results has caught up. Cancelling
        ends the cells in flight, which then yield no result.
        """
        cells = plan.cells()
        end = _End()
        async with asyncio.TaskGroup() as group:
            for _ in range(self.concurrency):
                group.create_task(_work(plan, cells, services, consume, end, keep_up))
        return end.is_reached and (end.leaves_out or next(cells, None) is not None)


class _End:
    """Whether a run is to end before its last cell, and whether a cell was left out that had its turn."""

    __slots__ = ("is_reached", "leaves_out")

    def __init__(self) -> None:
        self.is_reached = False
        self.leaves_out = False


async def _work(
    plan: Plan,
    cells: Iterator[Cell],
    services: Services,
    consume: Consume,
    end: _End,
    keep_up: Callable[[], Awaitable[None]] | None,
) -> None:
    for count, cell in enumerate(cells, start=1):
        if cell.tally is not None:
            await _until_decided(plan, cell, services, consume, end)
        else:
            result = await _run_within_budget(cell, services, end)
            if result is not None and not consume(result):
                end.is_reached = True
        if end.is_reached:
            return
        if count % YIELD_EVERY == 0:
            await (keep_up() if keep_up else asyncio.sleep(0))


async def _run_within_budget(cell: Cell, services: Services, end: _End) -> CaseResult | None:
    """The result of a cell; None where the budget has no room for it or the run has ended meanwhile."""
    budget = services.budget
    if budget is not None and not await budget.admits(cell):
        end.is_reached = True
    if end.is_reached:
        end.leaves_out = True
        if budget is not None:
            budget.release(cell)
        return None
    result = await run_cell(cell, services)
    if budget is not None:
        budget.settle(cell, result)
    return result


async def _until_decided(plan: Plan, cell: Cell, services: Services, consume: Consume, end: _End) -> None:
    """Repeat one case until it is decided; its last result says what was found."""
    following: Cell | None = cell
    while following is not None and following.tally is not None and not end.is_reached:
        result = await _run_within_budget(following, services, end)
        if result is None:
            return
        tally = following.tally.with_result(result)
        following = plan.following(following, tally)
        if following is None:
            result = _decided(result, tally)
        if not consume(result):
            end.is_reached = True
        await asyncio.sleep(0)
    if following is not None:
        end.leaves_out = True


def _decided(result: CaseResult, tally: Tally) -> CaseResult:
    asked = result.cell.repeat + 1
    return msgspec.structs.replace(
        result,
        repeats=asked,
        decision=RepeatDecision(
            verdict=tally.verdict.value,
            passed=tally.passed,
            failed=tally.failed,
            calls_saved=tally.rule.max - asked,
        ),
    )
