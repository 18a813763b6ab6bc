"""The event loop of runs: bursts are taken in small groups."""

from __future__ import annotations

import asyncio
import selectors
import socket
from collections.abc import Iterator

import pytest

from evenhand.io.event_loop import EVENTS_AT_ONCE, FewAtOnce, run_on_loop

BURST = 5 * EVENTS_AT_ONCE + 1


@pytest.fixture
def pairs() -> Iterator[list[tuple[socket.socket, socket.socket]]]:
    made = [socket.socketpair() for _ in range(BURST)]
    yield made
    for pair in made:
        for end in pair:
            end.close()


@pytest.fixture
def selector(pairs: list[tuple[socket.socket, socket.socket]]) -> Iterator[FewAtOnce]:
    """A selector for which all pairs are ready to be read."""
    with FewAtOnce() as watching:
        for number, (near, far) in enumerate(pairs):
            watching.register(near, selectors.EVENT_READ, number)
            far.send(b"x")
        yield watching


def numbers(found: list[tuple[selectors.SelectorKey, int]]) -> list[int]:
    return [key.data for key, _ in found]


def test_burst_comes_in_groups_and_everybody_once(selector: FewAtOnce) -> None:
    groups = [numbers(selector.select(0)) for _ in range(BURST // EVENTS_AT_ONCE + 1)]
    assert [len(group) for group in groups] == [*[EVENTS_AT_ONCE] * 5, 1]
    assert sorted(number for group in groups for number in group) == list(range(BURST))


def test_what_was_closed_meanwhile_is_not_handed_out(
    selector: FewAtOnce, pairs: list[tuple[socket.socket, socket.socket]]
) -> None:
    first = numbers(selector.select(0))
    closed = next(number for number in range(BURST) if number not in first)
    selector.unregister(pairs[closed][0])
    rest = [number for _ in range(BURST // EVENTS_AT_ONCE) for number in numbers(selector.select(0))]
    assert closed not in rest


def test_place_of_a_closed_socket_does_not_pass_to_its_successor(
    selector: FewAtOnce, pairs: list[tuple[socket.socket, socket.socket]]
) -> None:
    first = numbers(selector.select(0))
    near, _ = pairs[next(number for number in range(BURST) if number not in first)]
    selector.unregister(near)
    selector.register(near, selectors.EVENT_WRITE, "successor")
    for _ in range(BURST // EVENTS_AT_ONCE):
        assert all(key.data != "successor" for key, _ in selector.select(0))
    # Found anew, with the event for which it waits now.
    found = [event for _ in range(BURST) for event in selector.select(0)]
    assert {events for key, events in found if key.data == "successor"} == {selectors.EVENT_WRITE}


def test_first_of_a_burst_is_answered_before_the_last_is_read(
    pairs: list[tuple[socket.socket, socket.socket]],
) -> None:
    order: list[tuple[str, int]] = []

    async def answer(number: int, near: socket.socket) -> None:
        near.setblocking(False)
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        loop.add_reader(near, ready.set)
        await ready.wait()
        loop.remove_reader(near)
        order.append(("read", number))
        await asyncio.sleep(0)  # as many turns as an answer takes in a run
        order.append(("answered", number))

    async def all_answered() -> None:
        tasks = [asyncio.create_task(answer(number, near)) for number, (near, _) in enumerate(pairs)]
        await asyncio.sleep(0)
        for _, far in pairs:
            far.send(b"x")
        await asyncio.gather(*tasks)

    run_on_loop(all_answered())
    assert len(order) == 2 * BURST
    what = [event for event, _ in order]
    assert what.index("answered") <= 2 * EVENTS_AT_ONCE


def test_failure_of_the_work_comes_out() -> None:
    async def broken() -> None:
        raise LookupError("broken")

    with pytest.raises(LookupError, match="broken"):
        run_on_loop(broken())
