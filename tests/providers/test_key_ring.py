"""Several keys: who is handed out next, and what a failure says of a key."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest
from aiohttp import web

from evenhand.errors import ErrorClass, ProviderError
from evenhand.model.exchange import Request, TestInfo
from evenhand.model.provider import ProviderContext
from evenhand.providers.key_ring import KeyRing
from evenhand.providers.openai import OpenAI
from support.servers import Server, serving

REFUSED = ProviderError("HTTP 401: no", ErrorClass.PROVIDER_AUTH)
BUSY = ProviderError(
    "HTTP 429: slow down", ErrorClass.PROVIDER_RATE_LIMIT, retriable=True, retry_after_ms=5_000
)
SPENT = ProviderError("HTTP 429: insufficient_quota", ErrorClass.PROVIDER_RATE_LIMIT, retriable=True)


class Moment:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def ring(*names: str, now: Moment | None = None) -> KeyRing[str]:
    return KeyRing([(name, name.lower()) for name in names], now=now or Moment())


def taken(keys: KeyRing[str], times: int) -> list[str]:
    return [keys.take()[1] for _ in range(times)]


def test_keys_take_turns() -> None:
    assert taken(ring("A", "B", "C"), 5) == ["a", "b", "c", "a", "b"]


@pytest.mark.parametrize("error", [REFUSED, SPENT])
def test_a_key_that_is_no_good_is_handed_out_no_more(error: ProviderError) -> None:
    keys = ring("A", "B")
    assert keys.set_aside(0, error)
    assert taken(keys, 3) == ["b", "b", "b"]
    keys.set_aside(1, error)
    with pytest.raises(ProviderError, match="none of 2 keys") as caught:
        keys.take()
    assert caught.value.error_class is ErrorClass.PROVIDER_AUTH


def test_a_busy_key_rests_for_as_long_as_it_is_asked_to() -> None:
    moment = Moment()
    keys = ring("A", "B", now=moment)
    keys.set_aside(0, BUSY)
    assert taken(keys, 2) == ["b", "b"]
    moment.now = 5.0
    assert sorted(taken(keys, 2)) == ["a", "b"]


def test_where_every_key_rests_the_wait_is_that_of_the_first_to_wake() -> None:
    moment = Moment()
    keys = ring("A", "B", now=moment)
    keys.set_aside(0, BUSY)
    moment.now = 2.0
    keys.set_aside(1, BUSY)
    with pytest.raises(ProviderError) as caught:
        keys.take()
    error = caught.value
    assert (error.error_class, error.retriable, error.retry_after_ms) == ("provider_rate_limit", True, 3_000)


def test_where_one_key_is_refused_and_the_others_rest_the_provider_is_only_busy() -> None:
    keys = ring("A", "B")
    keys.set_aside(0, REFUSED)
    keys.set_aside(1, BUSY)
    with pytest.raises(ProviderError) as caught:
        keys.take()
    assert caught.value.error_class is ErrorClass.PROVIDER_RATE_LIMIT


def test_other_failures_say_nothing_of_the_key() -> None:
    assert not ring("A", "B").set_aside(0, ProviderError("HTTP 500", ErrorClass.PROVIDER_UNAVAILABLE))


ANSWER = {"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}


async def at_the_door(request: web.Request) -> web.Response:
    """Lets good keys in, knows no other one, and turns a spent and a busy one away."""
    key = request.headers["Authorization"].removeprefix("Bearer ")
    if key == "spent":
        return web.json_response({"error": {"code": "insufficient_quota"}}, status=429)
    if key == "busy":
        return web.json_response({}, status=429, headers={"Retry-After": "0"})
    return web.json_response(ANSWER, status=200 if key.startswith("good") else 401)


def asked_with(
    monkeypatch: pytest.MonkeyPatch, keys: dict[str, str], times: int, *, rotate: bool = True
) -> tuple[Counter[str], list[str]]:
    """How often each key was sent, and what came of each question."""
    for name, key in keys.items():
        monkeypatch.setenv(name, key)

    async def work() -> tuple[Server, list[str]]:
        outcomes = []
        async with serving(at_the_door) as server:
            provider = OpenAI(
                id="x", model="m", base_url=server.url, api_key_env=(*keys, "NOT_SET"), rotate_keys=rotate
            )
            session = provider.open(ProviderContext(directory=Path()))
            for _ in range(times):
                try:
                    response = await session.complete(Request(text="q", test=TestInfo(id="t")))
                    outcomes.append(str(response.output))
                except ProviderError as error:
                    outcomes.append(error.error_class)
            await session.close()
        return server, outcomes

    server, outcomes = asyncio.run(work())
    sent = Counter(call.headers["authorization"].removeprefix("Bearer ") for call in server.seen)
    return sent, outcomes


def test_calls_are_spread_and_a_refused_key_costs_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    sent, outcomes = asked_with(
        monkeypatch, {"K1": "good-1", "K2": "wrong", "K3": "good-2", "K4": "spent"}, 10
    )
    assert outcomes == ["hi"] * 10
    assert (sent["wrong"], sent["spent"]) == (1, 1)
    assert sent["good-1"] + sent["good-2"] == 10
    assert min(sent["good-1"], sent["good-2"]) >= 4


def test_without_a_usable_key_the_credentials_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    sent, outcomes = asked_with(monkeypatch, {"K1": "wrong-1", "K2": "wrong-2"}, 3)
    assert outcomes == ["provider_auth"] * 3
    assert sum(sent.values()) == 2


def test_a_key_that_is_always_busy_does_not_keep_a_call_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    sent, outcomes = asked_with(monkeypatch, {"K1": "busy", "K2": "busy"}, 1)
    assert outcomes == ["provider_rate_limit"]
    assert sum(sent.values()) == 2


def test_without_rotation_the_first_key_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    sent, outcomes = asked_with(monkeypatch, {"K1": "wrong", "K2": "good"}, 2, rotate=False)
    assert outcomes == ["provider_auth"] * 2
    assert list(sent) == ["wrong"]


def test_rotation_over_one_key_draws_a_warning() -> None:
    (warning,) = OpenAI(id="x", model="m", rotate_keys=True).warnings(Path())
    assert warning.path == ("rotate_keys",)
    assert OpenAI(id="x", model="m", rotate_keys=True, api_key_env=("A", "B")).warnings(Path()) == []
