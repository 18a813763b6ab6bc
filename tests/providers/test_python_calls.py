"""Calls of Python functions side by side, in time and out of it."""

from __future__ import annotations

import asyncio
import sys
import threading

import msgspec
import pytest

from evenhand.errors import ErrorClass, ProviderError
from evenhand.io.threads import MAX_STUCK
from evenhand.model.exchange import Message, Response, ToolCall
from support.programs import answer, ask, open_session, request, run
from support.python_apps import KINDS, provider


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def head(request):
    return request.param


def test_async_calls_share_a_loop_that_is_not_the_one_of_the_run(tmp_path):
    source = "async def answer(request): return [id(asyncio.get_running_loop()), threading.get_ident()]"

    async def body() -> None:
        session = open_session(provider(tmp_path, source), tmp_path)
        first, second = [(await session.complete(request())).output for _ in range(2)]
        await session.close()
        assert first == second
        assert first[0] != id(asyncio.get_running_loop())
        assert first[1] != threading.get_ident()

    run(body())


@pytest.mark.parametrize(
    "mischief",
    [
        "asyncio.get_running_loop().stop()",
        "[task.cancel() for task in asyncio.all_tasks()]",
        "asyncio.get_running_loop().call_soon(sys.exit)",
        "asyncio.get_running_loop().create_task(interrupt())",
    ],
)
def test_what_an_async_function_does_to_its_loop_does_not_reach_the_run(tmp_path, mischief):
    source = f"""
async def interrupt(): raise KeyboardInterrupt
async def answer(request):
    if request.prompt == "mischief":
        {mischief}
        await asyncio.sleep(0)
    return request.prompt
"""
    asked = ask(provider(tmp_path, source), tmp_path, request("mischief"), request("after"))
    assert asked[1] == Response(output="after")


@pytest.mark.parametrize("stuck", ["time.sleep(60)", "while True: time.sleep(0.01)"])
def test_an_async_function_that_blocks_its_loop_runs_out_of_time(tmp_path, stuck):
    source = f"""
import time
async def answer(request):
    if request.prompt == "hang":
        {stuck}
    return request.prompt
"""
    hung, after = ask(provider(tmp_path, source, timeout_ms=300), tmp_path, request("hang"), request("b"))
    assert isinstance(hung, ProviderError)
    assert hung.error_class is ErrorClass.PROVIDER_TIMEOUT
    assert after == Response(output="b")


def test_an_async_function_that_ignores_its_cancellation_runs_out_of_time(tmp_path):
    source = """
async def answer(request):
    while request.prompt == "hang":
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            pass
    return request.prompt
"""
    hung, after = ask(provider(tmp_path, source, timeout_ms=300), tmp_path, request("hang"), request("b"))
    assert isinstance(hung, ProviderError)
    assert hung.error_class is ErrorClass.PROVIDER_TIMEOUT
    assert after == Response(output="b")


def test_calls_overlap_up_to_the_concurrency(tmp_path):
    source = "meeting = threading.Barrier(8)\ndef answer(request): return meeting.wait(30)"

    async def body() -> list[int]:
        session = open_session(provider(tmp_path, source), tmp_path, concurrency=8)
        answers = await asyncio.gather(*(session.complete(request()) for _ in range(8)))
        await session.close()
        return sorted(each.output for each in answers)

    assert run(body()) == list(range(8))


def test_what_a_function_changes_in_its_request_stays_its_own(tmp_path):
    source = """
def answer(request):
    request.vars["list"].append("changed")
    request.vars["new"] = 1
    request.messages[0].content[0]["text"] = "changed"
    request.messages[0].tool_calls[0].arguments["x"] = "changed"
    return "done"
"""
    call = ToolCall(name="look", arguments={"x": 1})
    content = [{"type": "text", "text": "hi"}]
    asked = request(
        None,
        vars={"list": [1], "map": {"a": 1}},
        transcript=(
            Message(role="assistant", content=content, tool_calls=(call,)),
            Message(role="user", content="x"),
        ),
    )
    before = msgspec.json.encode(asked)
    assert ask(provider(tmp_path, source), tmp_path, asked) == [Response(output="done")]
    assert msgspec.json.encode(asked) == before


def test_what_a_function_keeps_and_changes_later_does_not_change_the_output(tmp_path):
    source = "kept = []\ndef answer(request):\n    kept.append(request.prompt)\n    return kept"
    first, second = ask(provider(tmp_path, source), tmp_path, request("a"), request("b"))
    assert (first, second) == (Response(output=["a"]), Response(output=["a", "b"]))


# Time


def test_a_call_that_takes_too_long_is_an_error_and_the_next_one_is_not(tmp_path, head):
    wait = "await asyncio.sleep(60)" if head.startswith("async") else "release.wait(60)"
    source = f"""
release = threading.Event()
{head}
    if request.prompt == "hang":
        {wait}
    release.set()
    return request.prompt
"""
    hung, after = ask(provider(tmp_path, source, timeout_ms=300), tmp_path, request("hang"), request("b"))
    assert isinstance(hung, ProviderError)
    assert hung.message == "file://app.py:answer did not return within 300 ms"
    assert (hung.error_class, hung.retriable) == (ErrorClass.PROVIDER_TIMEOUT, True)
    assert after == Response(output="b")


def test_a_time_limit_of_the_run_that_is_as_short_is_left_to_the_run(tmp_path):
    slow = provider(tmp_path, "async def answer(request): await asyncio.sleep(60)", timeout_ms=200)

    async def body() -> None:
        session = open_session(slow, tmp_path, timeout_ms=100)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.4):
                await session.complete(request())
        await session.close()

    run(body())


def test_stuck_calls_do_not_pile_up_without_end(tmp_path):
    source = """
release = threading.Event()
def answer(request): release.wait(60)
"""
    stuck = provider(tmp_path, source, timeout_ms=300)

    async def body() -> list[Response | ProviderError]:
        session = open_session(stuck, tmp_path, concurrency=MAX_STUCK)
        calls = (answer(session.complete(request())) for _ in range(MAX_STUCK))
        answers = [*await asyncio.gather(*calls), await answer(session.complete(request()))]
        sys.modules["app"].release.set()
        await session.close()
        return answers

    *slow, refused = run(body())
    assert {each.error_class for each in slow} == {ErrorClass.PROVIDER_TIMEOUT}
    assert refused.error_class is ErrorClass.EXEC_FAILED
    assert "earlier calls still run after their time was up" in refused.message


def test_cancelling_an_async_call_reaches_the_function(tmp_path):
    source = """
seen = []
async def answer(request):
    if request.prompt == "ask":
        return list(seen)
    seen.append("begun")
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        seen.append("cancelled")
        raise
"""

    async def body() -> object:
        session = open_session(provider(tmp_path, source), tmp_path)
        call = asyncio.create_task(session.complete(request("hang")))
        while (await session.complete(request("ask"))).output != ["begun"]:
            pass
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        after = await session.complete(request("ask"))
        await session.close()
        return after.output

    assert run(body()) == ["begun", "cancelled"]
