"""Many cells at once on one machine."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from evenhand.io.fake import FakeClock, FakeSession
from evenhand.model.exchange import Request
from evenhand.model.provider import RateLimit
from evenhand.model.result import CaseResult
from evenhand.model.suite import Case, Runner, Suite
from evenhand.run.local import LocalExecutor
from evenhand.run.plan import Plan
from evenhand.run.services import Services
from support.assertions import built
from support.suites import suite

CHECK = (built({"type": "equals", "value": ""}),)


def cases(count: int) -> list[Case]:
    return [Case(id=f"case-{number}", assertions=CHECK) for number in range(count)]


async def run_all(
    loaded: Suite,
    session: FakeSession,
    concurrency: int,
    *,
    stop_after: int = 10**9,
    clock: FakeClock | None = None,
) -> list[CaseResult]:
    results: list[CaseResult] = []

    def consume(result: CaseResult) -> bool:
        results.append(result)
        return len(results) < stop_after

    async with Services(loaded, loaded.providers, sessions={"one": session}, clock=clock) as services:
        await LocalExecutor(concurrency).run(Plan(loaded), services, consume)
    return results


@pytest.mark.parametrize("concurrency", [1, 7, 500])
def test_every_cell_yields_exactly_one_result(concurrency: int, tmp_path: Path) -> None:
    loaded = suite(tmp_path, cases(100))
    results = asyncio.run(run_all(loaded, FakeSession(lambda _: ""), concurrency))
    assert sorted(result.cell.test_id for result in results) == sorted(case.id for case in cases(100))


def test_no_more_cells_are_in_flight_than_asked_for(tmp_path: Path) -> None:
    in_flight = highest = 0

    async def answer(_: Request) -> str:
        nonlocal in_flight, highest
        in_flight += 1
        highest = max(highest, in_flight)
        await asyncio.sleep(0)
        in_flight -= 1
        return ""

    asyncio.run(run_all(suite(tmp_path, cases(50)), FakeSession(answer), 4))
    assert highest == 4


def test_one_stuck_cell_does_not_hold_up_the_others(tmp_path: Path) -> None:
    async def answer(request: Request) -> str:
        if request.test.id == "case-3":
            await asyncio.sleep(3_600)
        return ""

    loaded = suite(tmp_path, cases(69), runner=Runner(timeout_ms=200))
    results = asyncio.run(run_all(loaded, FakeSession(answer), 4))
    assert [r.cell.test_id for r in results if r.status == "error"] == ["case-3"]
    assert len(results) == 69


def test_run_ends_early_when_the_consumer_says_so(tmp_path: Path) -> None:
    results = asyncio.run(run_all(suite(tmp_path, cases(1_000)), FakeSession(lambda _: ""), 4, stop_after=10))
    assert 10 <= len(results) < 20


def test_cancelling_ends_the_cells_in_flight(tmp_path: Path) -> None:
    async def work() -> list[CaseResult]:
        session = FakeSession(["", "", *([""] * 10)], delay_s=3_600)
        task = asyncio.create_task(run_all(suite(tmp_path, cases(10)), session, 2))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert session.closed
        return []

    asyncio.run(work())


def test_calls_keep_to_the_rate_in_the_order_in_which_they_ask(tmp_path: Path) -> None:
    clock = FakeClock()
    started: list[float] = []

    def answer(_: Request) -> str:
        started.append(clock.now)
        return ""

    loaded = suite(tmp_path, cases(5), runner=Runner(rate_limit=RateLimit(rps=10)))
    asyncio.run(run_all(loaded, FakeSession(answer), 5, clock=clock))
    assert started == pytest.approx([0.0, 0.1, 0.2, 0.3, 0.4])
