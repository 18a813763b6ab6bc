from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from evenhand.errors import ErrorClass, ProviderError
from evenhand.io.clock import SystemClock
from evenhand.io.fake import FakeClock, FakeProvider, FakeSession
from evenhand.model.exchange import Response
from evenhand.model.provider import PROVIDERS, ProviderContext
from support.programs import ask, request, run

BUSY = ProviderError("busy", ErrorClass.PROVIDER_UNAVAILABLE, retriable=True)


def test_a_fake_gives_its_replies_in_turn():
    replies = ["text", {"a": 1}, None, Response(output="x", model="m"), BUSY]
    answers = ask(FakeProvider(replies=replies), Path(), *[request()] * 5)
    assert answers == [
        Response(output="text"),
        Response(output={"a": 1}),
        Response(output=None),
        Response(output="x", model="m"),
        BUSY,
    ]


def test_a_fake_that_has_run_out_of_replies_says_so():
    (error,) = ask(FakeProvider(replies=[]), Path())
    assert isinstance(error, ProviderError)
    assert error.message == "the fake was asked 1 times and has 0 replies"


def test_a_fake_can_compute_its_replies():
    async def later(asked):
        return asked.prompt.upper()

    assert ask(FakeProvider(replies=later), Path())[0] == Response(output="HELLO")
    assert ask(FakeProvider(replies=lambda asked: asked.prompt * 2), Path())[0] == Response(
        output="hellohello"
    )


def test_a_fake_remembers_what_happened_to_it():
    async def body() -> FakeSession:
        session = FakeProvider(replies=["a"]).open(ProviderContext(directory=Path()))
        await session.complete(request("one"))
        await session.close()
        return session

    session = run(body())
    assert [asked.text for asked in session.requests] == ["one"]
    assert session.closed


def test_suite_files_cannot_name_a_fake():
    assert PROVIDERS.find("fake") is None


def test_the_delay_of_a_fake_passes_on_its_clock():
    async def body() -> tuple[float, list[float]]:
        clock = FakeClock()
        session = FakeSession(["a", "b"], delay_s=3600, clock=clock)
        await session.complete(request())
        await session.complete(request())
        return clock.monotonic(), clock.slept

    assert run(body()) == (7200.0, [3600, 3600])


def test_sleepers_wake_in_the_order_of_their_time():
    async def body() -> list[tuple[str, float]]:
        clock = FakeClock(now=100.0)
        woken: list[tuple[str, float]] = []

        async def sleeper(name: str, *seconds: float) -> None:
            for each in seconds:
                await clock.sleep(each)
                woken.append((name, clock.monotonic()))

        await asyncio.gather(sleeper("a", 10), sleeper("b", 1, 1, 20), sleeper("c", 0, -5))
        return woken

    assert run(body()) == [("c", 100), ("c", 100), ("b", 101), ("b", 102), ("a", 110), ("b", 122)]


def test_a_cancelled_sleeper_does_not_move_the_clock():
    async def body() -> float:
        clock = FakeClock()
        sleeper = asyncio.create_task(clock.sleep(1000))
        await asyncio.sleep(0)
        sleeper.cancel()
        await clock.sleep(1)
        return clock.monotonic()

    assert run(body()) == 1.0


def test_time_limits_and_fakes_work_together():
    async def body() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await FakeSession(["a"], delay_s=60).complete(request())

    run(body())


def test_the_system_clock_moves_by_itself():
    async def body() -> float:
        clock = SystemClock()
        before = clock.monotonic()
        await clock.sleep(0.001)
        return clock.monotonic() - before

    assert run(body()) > 0
    assert abs(SystemClock().monotonic() - time.monotonic()) < 60
