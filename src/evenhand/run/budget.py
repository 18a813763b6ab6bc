"""What a run may cost: no cell starts that could take it beyond its limit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

from evenhand.errors import TemplateError
from evenhand.model.result import CaseResult, Spending
from evenhand.model.suite import Suite
from evenhand.run.estimate import expected_calls
from evenhand.run.plan import Cell

_TOLERANCE_USD = 1e-9

Kept = Callable[[Cell], bool]
"""Whether the answer of a cell is kept, so that nobody is asked for it."""


class Budget:
    """Counts what was paid, and sets aside what cells in flight are expected to cost.

    Expected of a cell is the mean of what its provider's answers and the graders' verdicts cost so far; before the
    first one, the price of the estimated tokens. A cell that is to start is held to the dearest one so far, so that
    one answer of greater length does not break the limit. Where nobody knows what a provider costs, its first cell
    runs alone. Answers that are there already cost nothing, and what their verdicts will cost is estimated as ever.
    """

    def __init__(self, max_usd: float, suite: Suite, kept: Kept | None = None) -> None:
        """`kept` finds the answers that need not be paid for."""
        self._suite = suite
        self._kept = kept
        self._max_usd = max_usd
        self._spent_usd = 0.0
        self._set_aside: dict[int, float] = {}
        self._reserved_usd = 0.0
        self._systems: dict[str, _Costs] = {}
        self._verdicts = _Costs()
        self._first_of: dict[str, int] = {}
        self._known: set[str] = set()
        self._settled = asyncio.Event()
        self._unpriced = 0
        self._is_reached = False

    async def admits(self, cell: Cell) -> bool:
        """Whether a cell may start; what it is expected to cost is then set aside until it is settled.

        Waits where only what cells in flight may cost stands in the way. False ends the run.
        """
        is_there = self._is_there(cell)
        while not self._is_reached:
            expected, dearest = self._expected(cell, is_there=is_there)
            if expected is None and self._first_of.setdefault(cell.provider.id, cell.index) != cell.index:
                await self._settled.wait()
                continue
            needed = self._spent_usd + max(expected or 0.0, dearest)
            if needed > self._max_usd + _TOLERANCE_USD:
                self._is_reached = True
                self._wake()
            elif needed + self._reserved_usd > self._max_usd + _TOLERANCE_USD:
                await self._settled.wait()
            else:
                self._set_aside[cell.index] = expected or 0.0
                self._reserved_usd += expected or 0.0
                return True
        return False

    def settle(self, cell: Cell, result: CaseResult) -> None:
        """Count what a cell cost."""
        self.take_in(result)
        self.release(cell)

    def release(self, cell: Cell) -> None:
        """Let others have what was set aside for a cell, which is over or does not start after all."""
        self._reserved_usd -= self._set_aside.pop(cell.index, 0.0)
        if not self._set_aside:
            self._reserved_usd = 0.0
        if self._first_of.get(cell.provider.id) == cell.index:
            del self._first_of[
                cell.provider.id
            ]  # what it told is known; where that is nothing, another tries
        self._wake()

    def take_in(self, result: CaseResult) -> None:
        """Count what a cell cost for which nothing was set aside: one of the run's before it was resumed."""
        provider_id = result.cell.provider_id
        self._spent_usd += paid_usd(result)
        if not result.cached:
            self._known.add(provider_id)
        own = list(_own_costs(result))
        if own:
            self._systems.setdefault(provider_id, _Costs()).add(sum(own))
        elif result.attempts and not result.cached and result.output is not None:
            self._unpriced += 1
        for item in result.asserts:
            if item.cost_usd is not None and not item.cached:
                self._verdicts.add(item.cost_usd)

    def _wake(self) -> None:
        self._settled.set()
        self._settled = asyncio.Event()

    @property
    def is_reached(self) -> bool:
        """Whether a cell was left out, since it could have cost more than the limit."""
        return self._is_reached

    def spending(self) -> Spending:
        """What was spent, and whether the limit ended the run."""
        return Spending(
            max_cost_usd=self._max_usd,
            spent_usd=round(self._spent_usd, 6),
            is_reached=self._is_reached,
            unpriced_answers=self._unpriced,
        )

    def _expected(self, cell: Cell, *, is_there: bool) -> tuple[float | None, float]:
        """What the cell will cost, None where nothing tells; and what it costs at the dearest prices so far."""
        graded = _graded_count(cell)
        system = self._systems.get(cell.provider.id)
        if is_there:
            system = _Costs()
        mean, greatest = (system.mean, system.greatest) if system is not None else (0.0, 0.0)
        dearest = greatest + graded * self._verdicts.greatest
        if cell.provider.id in self._known or (system is not None and (not graded or self._verdicts.count)):
            return mean + graded * self._verdicts.mean, dearest
        try:
            calls = list(expected_calls(cell, self._suite))
        except TemplateError:
            return 0.0, dearest
        costs = [call.cost_usd for call in calls if call.role != "system" or system is None]
        known = [cost for cost in costs if cost is not None]
        return (sum(known) if len(known) == len(costs) else None), dearest

    def _is_there(self, cell: Cell) -> bool:
        """Whether the answer of a cell is stored or kept."""
        return cell.stored is not None or (self._kept is not None and self._kept(cell))


class _Costs:
    """Mean and maximum of costs."""

    def __init__(self) -> None:
        self.count = 0
        self.mean = 0.0
        self.greatest = 0.0

    def add(self, cost_usd: float) -> None:
        self.count += 1
        self.mean += (cost_usd - self.mean) / self.count
        self.greatest = max(self.greatest, cost_usd)


def _graded_count(cell: Cell) -> int:
    """The assertions whose results may have a cost; a group counts as one, as its cost is that of all its members."""
    return sum(assertion.tier == "graded" for assertion in cell.case.assertions)


def _own_costs(result: CaseResult) -> Iterator[float]:
    """What the answer cost, and those before it that were not used."""
    if result.cost_usd is not None and not result.cached:
        yield result.cost_usd
    for attempt in result.fallback_attempts:
        if attempt.cost_usd is not None:
            yield attempt.cost_usd


def paid_usd(result: CaseResult) -> float:
    """What a cell cost, as far as it is known: its answers and verdicts, without those from the cache."""
    graders = (item.cost_usd for item in result.asserts if item.cost_usd is not None and not item.cached)
    return sum(_own_costs(result)) + sum(graders)
