from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, TypeVar

import pytest

from evenhand.io.call_loop import CallLoop
from evenhand.io.deadlines import TimeIsUp
from evenhand.io.threads import MAX_STUCK, CodeRaised, TooManyStuck
from support.programs import run

T = TypeVar("T")


def using(body: Callable[[CallLoop], Awaitable[T]]) -> T:
    """What `body` returns, given a loop that is closed afterwards."""

    async def main() -> T:
        calls = CallLoop("test-lane")
        try:
            return await body(calls)
        finally:
            calls.close()

    return run(main())


def live_threads() -> int:
    return sum(thread.name.startswith("test-lane") for thread in threading.enumerate())


async def squared(number: int) -> int:
    await asyncio.sleep(0)
    return number * number


async def ignores_everything(release: threading.Event) -> None:
    while not release.is_set():
        try:
            await asyncio.sleep(0.01)
        except asyncio.CancelledError:
            continue


async def given_up(calls: CallLoop, function: Callable[[Any], Awaitable[Any]], argument: Any) -> None:
    """Ask and let the time run out."""
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await calls.call(function, argument)


def test_results_come_back_to_whoever_asked():
    async def body(calls: CallLoop) -> list[int]:
        return await asyncio.gather(*(calls.call(squared, number) for number in range(200)))

    assert using(body) == [number * number for number in range(200)]


@pytest.mark.parametrize(
    "error", [ValueError("x"), SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError()]
)
def test_whatever_a_function_raises_comes_back_wrapped(error):
    async def fail(argument: Any) -> None:
        raise argument

    async def body(calls: CallLoop) -> BaseException:
        with pytest.raises(CodeRaised) as caught:
            await calls.call(fail, error)
        return caught.value.error

    assert using(body) is error


def test_a_loop_is_shared_until_it_is_blocked():
    async def thread_of(argument: Any) -> int:
        return threading.get_ident()

    async def body(calls: CallLoop) -> None:
        release = threading.Event()

        async def block(argument: Any) -> None:
            release.wait(60)

        first, second = await calls.call(thread_of, None), await calls.call(thread_of, None)
        await given_up(calls, block, None)
        third = await calls.call(thread_of, None)
        release.set()
        assert first == second != third

    using(body)


def test_closing_ends_the_thread():
    using(lambda calls: calls.call(squared, 2))
    assert live_threads() == 0


def test_closing_does_not_wait_for_what_ignores_its_cancellation():
    release = threading.Event()

    async def body(calls: CallLoop) -> None:
        await given_up(calls, ignores_everything, release)

    using(body)
    (left,) = (thread for thread in threading.enumerate() if thread.name.startswith("test-lane"))
    release.set()
    left.join(30)
    assert not left.is_alive()


def test_a_process_ends_whatever_its_coroutines_ignore():
    script = """
import asyncio
from evenhand.io.call_loop import CallLoop

async def ignores_everything(argument):
    while True:
        try:
            await asyncio.sleep(0.01)
        except BaseException:
            pass

async def main():
    calls = CallLoop("lane")
    try:
        async with asyncio.timeout(0.1):
            await calls.call(ignores_everything, None)
    except TimeoutError:
        calls.close()

asyncio.run(main())
"""
    assert subprocess.run([sys.executable, "-c", script], timeout=120, check=False).returncode == 0


def test_calls_that_ignore_their_cancellation_do_not_pile_up_without_end():
    async def body(calls: CallLoop) -> None:
        release = threading.Event()
        await asyncio.gather(*(given_up(calls, ignores_everything, release) for _ in range(MAX_STUCK)))
        with pytest.raises(TooManyStuck):
            await calls.call(squared, 2)
        release.set()

    using(body)


def test_a_call_that_takes_longer_than_the_limit_is_cancelled():
    cancelled = threading.Event()

    async def slow(argument: Any) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            cancelled.set()

    async def main() -> int:
        calls = CallLoop("test-lane", timeout_s=0.05)
        try:
            with pytest.raises(TimeIsUp):
                await calls.call(slow, None)
            return await calls.call(squared, 3)
        finally:
            calls.close()

    assert run(main()) == 9
    assert cancelled.is_set()


def test_each_call_has_context_variables_of_its_own():
    variable: ContextVar[int] = ContextVar("variable", default=0)

    async def count(argument: Any) -> int:
        variable.set(variable.get() + 1)
        await asyncio.sleep(0)
        return variable.get()

    async def body(calls: CallLoop) -> list[int]:
        return await asyncio.gather(*(calls.call(count, None) for _ in range(20)))

    assert using(body) == [1] * 20


def test_a_call_that_another_one_cancels_before_it_begins_comes_to_an_end():
    async def cancel_all(argument: Any) -> None:
        for task in asyncio.all_tasks():
            if task is not asyncio.current_task():
                task.cancel()

    async def body(calls: CallLoop) -> list[Any]:
        first = asyncio.create_task(calls.call(cancel_all, None))
        others = [asyncio.create_task(calls.call(squared, number)) for number in range(3)]
        return await asyncio.gather(first, *others, return_exceptions=True)

    first, *others = using(body)
    assert first is None
    assert [type(other.error) for other in others] == [asyncio.CancelledError] * 3


def test_as_many_calls_as_may_be_in_flight_begin_together():
    async def body(calls: CallLoop) -> list[int]:
        return await asyncio.gather(*(calls.call(squared, number) for number in range(10)))

    async def main() -> list[int]:
        calls = CallLoop("test-lane", size=4)
        try:
            return await body(calls)
        finally:
            calls.close()

    assert run(main()) == [number * number for number in range(10)]
