from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from evenhand.io.deadlines import TimeIsUp
from evenhand.io.threads import MAX_STUCK, CallThreads, CodeRaised, TooManyStuck
from support.programs import run

T = TypeVar("T")


def using(size: int, body: Callable[[CallThreads], Awaitable[T]]) -> T:
    """What `body` returns, given threads that are closed afterwards."""

    async def main() -> T:
        pool = CallThreads(size, "test-call")
        try:
            return await body(pool)
        finally:
            pool.close()

    return run(main())


def live_threads() -> int:
    return sum(thread.name.startswith("test-call") for thread in threading.enumerate())


def test_results_come_back_to_whoever_asked():
    async def body(pool: CallThreads) -> list[int]:
        return await asyncio.gather(*(pool.call(lambda n: n * n, number) for number in range(200)))

    assert using(8, body) == [number * number for number in range(200)]


@pytest.mark.parametrize(
    "error", [ValueError("x"), SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError()]
)
def test_whatever_a_function_raises_comes_back_wrapped(error: BaseException):
    def fail(argument: Any) -> None:
        raise argument

    async def body(pool: CallThreads) -> BaseException:
        with pytest.raises(CodeRaised) as caught:
            await pool.call(fail, error)
        return caught.value.error

    assert using(2, body) is error


def test_calls_run_beside_each_other_and_beside_the_loop():
    async def body(pool: CallThreads) -> None:
        together = threading.Barrier(5)

        def meet(_: Any) -> int:
            return together.wait(timeout=30)

        calls = [asyncio.create_task(pool.call(meet, None)) for _ in range(4)]
        await asyncio.sleep(0.01)
        assert not any(call.done() for call in calls)
        await asyncio.to_thread(meet, None)
        await asyncio.gather(*calls)

    using(4, body)


def test_no_more_threads_are_started_than_calls_need():
    async def body(pool: CallThreads) -> int:
        for number in range(50):
            await pool.call(str, number)
        return live_threads()

    assert using(8, body) == 1


def test_calls_beyond_the_size_wait_for_a_thread():
    async def body(pool: CallThreads) -> int:
        busy, most = [], []

        def work(number: int) -> int:
            busy.append(number)
            most.append(len(busy))
            threading.Event().wait(0.01)
            busy.remove(number)
            return number

        await asyncio.gather(*(pool.call(work, number) for number in range(20)))
        return max(most)

    assert 1 <= using(3, body) <= 3


def test_closing_ends_the_threads():
    async def body(pool: CallThreads) -> None:
        await asyncio.gather(*(pool.call(threading.Event().wait, 0.01) for _ in range(4)))

    using(4, body)
    assert live_threads() == 0


def test_a_call_that_is_given_up_on_does_not_block_the_next_ones():
    release = threading.Event()

    async def body(pool: CallThreads) -> list[str]:
        for _ in range(3):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await pool.call(release.wait, 60)
        return [await pool.call(str, number) for number in range(3)]

    try:
        assert using(1, body) == ["0", "1", "2"]
    finally:
        release.set()


def test_the_late_result_of_an_abandoned_call_is_dropped():
    async def body(pool: CallThreads) -> list[Any]:
        release = threading.Event()

        def late(_: Any) -> str:
            release.wait(30)
            return "late"

        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await pool.call(late, None)
        release.set()
        return [await pool.call(str, number) for number in range(5)]

    assert using(1, body) == ["0", "1", "2", "3", "4"]


def test_a_call_that_never_started_is_not_run_after_it_was_cancelled():
    async def body(pool: CallThreads) -> list[int]:
        release, ran = threading.Event(), []
        first = asyncio.create_task(pool.call(release.wait, 30))
        second = asyncio.create_task(pool.call(ran.append, 1))
        await asyncio.sleep(0.01)
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)
        release.set()
        await first
        await pool.call(str, 0)
        return ran

    assert using(1, body) == []


def test_too_many_stuck_calls_refuse_further_ones_until_they_end():
    async def body(pool: CallThreads) -> str:
        release = threading.Event()
        calls = [asyncio.create_task(pool.call(release.wait, 60)) for _ in range(MAX_STUCK)]
        _, pending = await asyncio.wait(calls, timeout=0.2)
        for call in pending:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        with pytest.raises(TooManyStuck):
            await pool.call(str, 1)
        release.set()
        while True:
            try:
                return await pool.call(str, 2)
            except TooManyStuck:
                await asyncio.sleep(0.01)

    assert using(MAX_STUCK, body) == "2"


def test_a_call_that_outlives_its_loop_ends_quietly():
    release, ended = threading.Event(), threading.Event()

    def outlive(_: Any) -> None:
        release.wait(30)
        ended.set()

    async def left_behind() -> None:
        pool = CallThreads(1, "test-call")
        call = asyncio.create_task(pool.call(outlive, None))
        await asyncio.sleep(0.05)
        call.cancel()
        pool.close()

    run(left_behind())
    release.set()
    assert ended.wait(30)


def test_quick_calls_that_come_together_share_a_thread():
    async def body(pool: CallThreads) -> set[int]:
        async def ask() -> int:
            return await pool.call(lambda _: threading.get_ident(), None)

        return set(await asyncio.gather(*(ask() for _ in range(8))))

    assert len(using(8, body)) < 8


def test_calls_behind_a_slow_one_do_not_wait_for_its_end():
    async def body(pool: CallThreads) -> list[Any]:
        release = threading.Event()

        def work(number: int) -> int:
            if number == 3:
                release.wait(60)
            return number

        for number in range(3):
            await pool.call(work, number)
        calls = [asyncio.create_task(pool.call(work, number)) for number in range(8)]
        others = calls[:3] + calls[4:]
        done, _ = await asyncio.wait(others, timeout=60)
        slow_waits = not calls[3].done()
        release.set()
        return [len(done), slow_waits, await asyncio.gather(*calls)]

    assert using(8, body) == [7, True, list(range(8))]


def test_a_call_that_takes_longer_than_the_limit_is_given_up():
    release = threading.Event()

    async def main() -> str:
        pool = CallThreads(1, "test-call", timeout_s=0.05)
        with pytest.raises(TimeIsUp):
            await pool.call(release.wait, 60)
        try:
            return await pool.call(str, 1)
        finally:
            release.set()
            pool.close()

    assert run(main()) == "1"


def test_calls_that_wait_behind_one_that_is_given_up_are_run():
    release = threading.Event()

    async def body(pool: CallThreads) -> list[str]:
        stuck = asyncio.create_task(pool.call(release.wait, 60))
        await asyncio.sleep(0.05)
        waiting = [asyncio.create_task(pool.call(str, number)) for number in range(3)]
        await asyncio.sleep(0.05)
        stuck.cancel()
        return await asyncio.wait_for(asyncio.gather(*waiting), 60)

    try:
        assert using(1, body) == ["0", "1", "2"]
    finally:
        release.set()


def test_threads_that_ended_hold_no_files():
    def open_files() -> int:
        return len(os.listdir("/dev/fd"))

    async def body(pool: CallThreads) -> None:
        await asyncio.gather(*(pool.call(threading.Event().wait, 0.01) for _ in range(4)))

    using(4, body)
    before = open_files()
    for _ in range(5):
        using(4, body)
    assert open_files() <= before


def test_a_quick_result_is_not_held_back_by_a_slow_call_behind_it():
    async def body(pool: CallThreads) -> list[bool]:
        release = threading.Event()

        def work(number: int) -> int:
            if number % 2:
                release.wait(60)
            return number

        calls = [asyncio.create_task(pool.call(work, number)) for number in range(4)]
        await asyncio.wait([calls[0], calls[2]], timeout=60)
        ended = [call.done() for call in calls]
        release.set()
        await asyncio.gather(*calls)
        return ended

    assert using(4, body) == [True, False, True, False]
