from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from evenhand.io.gathering import Gathering
from support.programs import run


def handed_over(body: Callable[[Gathering[int]], Awaitable[None]]) -> list[list[int]]:
    """The lists that were handed over while `body` ran and in the rounds after it."""

    async def main() -> list[list[int]]:
        found: list[list[int]] = []
        await body(Gathering(asyncio.get_running_loop(), found.append))
        await rounds(20)
        return found

    return run(main())


async def rounds(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def test_what_comes_in_one_round_is_handed_over_together():
    async def body(gathering: Gathering[int]) -> None:
        for number in range(5):
            gathering.put(number)

    assert handed_over(body) == [[0, 1, 2, 3, 4]]


def test_what_comes_while_rounds_bring_more_is_handed_over_together():
    async def body(gathering: Gathering[int]) -> None:
        gathering.put(0)
        gathering.put(1)
        await rounds(1)
        gathering.put(2)

    assert handed_over(body) == [[0, 1, 2]]


def test_what_comes_alone_does_not_wait_for_more():
    async def body(gathering: Gathering[int]) -> None:
        for number in range(3):
            gathering.put(number)
            await rounds(2)

    assert handed_over(body) == [[0], [1], [2]]


def test_flushing_hands_over_at_once_and_only_once():
    async def body(gathering: Gathering[int]) -> None:
        gathering.put(1)
        gathering.put(2)
        gathering.flush()
        gathering.flush()

    assert handed_over(body) == [[1, 2]]


def test_what_was_dropped_is_not_handed_over():
    async def body(gathering: Gathering[int]) -> None:
        gathering.put(1)
        gathering.drop()
        gathering.put(2)

    assert handed_over(body) == [[2]]


def test_putting_tells_how_many_wait():
    async def main() -> list[int]:
        gathering: Gathering[str] = Gathering(asyncio.get_running_loop(), lambda items: None)
        counts = [gathering.put("a"), gathering.put("b")]
        gathering.flush()
        return [*counts, gathering.put("c")]

    assert run(main()) == [1, 2, 1]
