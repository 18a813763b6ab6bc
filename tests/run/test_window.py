"""The limit on calls in flight: what cuts it, what lets it grow, and that nobody slips past it."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.io.fake import FakeClock
from evenhand.run.window import Window


def window(ceiling: int = 8, *, adapts: bool = True) -> Window:
    return Window(ceiling, FakeClock(), adapts=adapts)


def fill(limit: Window) -> int:
    """Enter until there is no place; the number of calls in flight."""
    while limit.enter_at_once():
        pass
    return limit.in_flight


def test_one_wave_of_refusals_is_one_cut() -> None:
    limit = window(8)
    fill(limit)
    for _ in range(8):
        limit.cut(0, "provider_rate_limit")
        limit.leave()
    assert (limit.limit, limit.cut_count, limit.refused) == (4.0, 1, 8)
    assert fill(limit) == 4
    limit.cut(1, "provider_rate_limit")
    assert (limit.limit, limit.lowest, [(c.before, c.after) for c in limit.cuts]) == (
        2.0,
        2,
        [(8, 4), (4, 2)],
    )


def test_a_cut_starts_from_what_was_in_flight() -> None:
    limit = window(64)
    for _ in range(6):
        limit.enter_at_once()
    limit.cut(0, "provider_rate_limit")
    assert limit.limit == 3.0


def test_a_round_of_successes_adds_about_one_call() -> None:
    limit = window(8)
    fill(limit)
    limit.cut(0, "x")
    for _ in range(5):
        limit.grow()
    assert 5 <= limit.limit < 5.5
    for _ in range(1_000):
        limit.grow()
    assert limit.limit == 8


def test_a_limit_that_does_not_adapt_only_counts() -> None:
    limit = window(8, adapts=False)
    limit.cut(0, "x")
    assert (limit.limit, limit.refused) == (8.0, 1)


@given(st.integers(1, 50), st.lists(st.sampled_from(["enter", "leave", "cut", "grow"]), max_size=200))
def test_the_limit_stays_between_one_and_its_ceiling(ceiling: int, steps: list[str]) -> None:
    limit = window(ceiling)
    for step in steps:
        before = limit.in_flight
        if step == "enter" and limit.enter_at_once():
            assert before + 1 <= limit.limit
        elif step == "leave" and before:
            limit.leave()
        elif step == "cut":
            limit.cut(limit.cut_count, "x")
        elif step == "grow":
            limit.grow()
        assert 1 <= limit.limit <= ceiling
    assert limit.lowest >= 1


def test_calls_enter_in_the_order_in_which_they_ask() -> None:
    async def work() -> list[int]:
        limit = window(1)
        order: list[int] = []

        async def one(number: int) -> None:
            if not limit.enter_at_once():
                await limit.enter()
            order.append(number)
            await asyncio.sleep(0)
            limit.leave()

        await asyncio.gather(*(one(number) for number in range(5)))
        assert limit.in_flight == 0
        return order

    assert asyncio.run(work()) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("passes", range(4))
def test_a_place_is_not_lost_where_its_waiter_is_cancelled(passes: int) -> None:
    async def work() -> None:
        limit = window(1)
        limit.enter_at_once()
        waiters = [asyncio.ensure_future(limit.enter()) for _ in range(3)]
        await asyncio.sleep(0)
        limit.leave()
        for _ in range(passes):
            await asyncio.sleep(0)
        waiters[0].cancel()
        await asyncio.gather(waiters[0], return_exceptions=True)
        if not waiters[0].cancelled():
            limit.leave()
        await waiters[1]
        limit.leave()
        await waiters[2]
        limit.leave()
        assert limit.in_flight == 0
        assert limit.enter_at_once()

    asyncio.run(asyncio.wait_for(work(), 10))


def test_a_hold_keeps_every_call_back_until_it_ends() -> None:
    async def work() -> list[float]:
        clock = FakeClock()
        limit = Window(4, clock)
        limit.hold(5)
        limit.hold(3)
        started: list[float] = []

        async def one() -> None:
            if not limit.enter_at_once():
                await limit.enter()
            started.append(clock.now)
            limit.leave()

        await asyncio.gather(*(one() for _ in range(6)))
        assert limit.enter_at_once()
        return started

    assert asyncio.run(asyncio.wait_for(work(), 10)) == [5.0] * 6
