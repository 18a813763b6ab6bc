from __future__ import annotations

import asyncio

import pytest

from evenhand.io.deadlines import Deadlines, TimeIsUp
from support.programs import run

HANG_S = 60.0


def test_a_wait_ends_when_its_time_is_up():
    async def main() -> None:
        deadlines = Deadlines(0.01)
        with pytest.raises(TimeIsUp):
            await deadlines.wait(asyncio.get_running_loop().create_future())

    run(main())


def test_a_wait_without_a_limit_goes_on():
    async def main() -> bool:
        future = asyncio.get_running_loop().create_future()
        waiting = asyncio.create_task(Deadlines(None).wait(future))
        await asyncio.wait([waiting], timeout=0.05)
        still = not waiting.done()
        future.set_result(None)
        await waiting
        return still

    assert run(main())


def test_every_wait_ends_and_who_began_first_is_first():
    async def main() -> list[int]:
        deadlines = Deadlines(0.05)
        ended: list[int] = []

        async def wait(number: int) -> None:
            with pytest.raises(TimeIsUp):
                await deadlines.wait(asyncio.get_running_loop().create_future())
            ended.append(number)

        async def later(number: int) -> None:
            await asyncio.sleep(0.02 * number)
            await wait(number)

        await asyncio.wait_for(asyncio.gather(*(later(number) for number in range(4))), HANG_S)
        return ended

    assert run(main()) == [0, 1, 2, 3]


def test_waits_that_end_in_time_leave_the_limit_of_the_others_alone():
    async def main() -> list[bool]:
        loop = asyncio.get_running_loop()
        deadlines = Deadlines(0.05)
        quick = [loop.create_future() for _ in range(20)]
        slow = loop.create_future()
        waits = [asyncio.create_task(deadlines.wait(future)) for future in (*quick, slow)]
        await asyncio.sleep(0)
        for future in quick:
            future.set_result(None)
        ended = await asyncio.wait_for(asyncio.gather(*waits, return_exceptions=True), HANG_S)
        return [isinstance(end, TimeIsUp) for end in ended]

    assert run(main()) == [False] * 20 + [True]


def test_a_cancelled_wait_is_forgotten_and_the_next_one_is_still_limited():
    async def main() -> None:
        loop = asyncio.get_running_loop()
        deadlines = Deadlines(0.05)
        waiting = asyncio.create_task(deadlines.wait(loop.create_future()))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await asyncio.sleep(0.1)
        with pytest.raises(TimeIsUp):
            await asyncio.wait_for(deadlines.wait(loop.create_future()), HANG_S)

    run(main())


def test_closing_lets_go_of_the_timer():
    async def main() -> bool:
        deadlines = Deadlines(0.02)
        waiting = asyncio.create_task(deadlines.wait(asyncio.get_running_loop().create_future()))
        await asyncio.sleep(0)
        deadlines.close()
        await asyncio.wait([waiting], timeout=0.1)
        still = not waiting.done()
        waiting.cancel()
        return still

    assert run(main())
