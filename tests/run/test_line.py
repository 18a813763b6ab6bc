"""How fast and how many at once calls go to a provider, and what is learned from its answers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from evenhand.errors import ErrorClass, ProviderError
from evenhand.io.clock import Clock
from evenhand.io.fake import FakeClock, FakeSession
from evenhand.model.exchange import Message, Request, Response, TestInfo, Tool, Usage
from evenhand.model.provider import RateLimit, Session
from evenhand.model.quota import Quota
from evenhand.model.result import CaseResult
from evenhand.model.suite import Case, Prompt, Retries, Runner
from evenhand.run.line import Line
from evenhand.run.local import LocalExecutor
from evenhand.run.plan import Plan
from evenhand.run.services import Services
from evenhand.run.tokens import estimated_tokens
from support.assertions import built
from support.suites import Silent, suite

CHECK = (built({"type": "equals", "value": "ok"}),)


def ask(text: str = "") -> Request:
    return Request(text=text, test=TestInfo(id="t"))


def line(
    clock: Clock, *, rate: RateLimit | None = None, own: RateLimit | None = None, at_once: int = 8
) -> Line:
    provider = Silent(id="one", rate_limit=own)
    return Line(provider, concurrency=at_once, rate=rate, adapts=True, clock=clock)


def starts(
    rate: RateLimit | None,
    questions: list[Request],
    *,
    tokens: int | None = None,
    own: RateLimit | None = None,
) -> list[float]:
    """When each of the calls may start, one after the other, where each answer reports so many tokens."""

    async def work() -> list[float]:
        clock = FakeClock()
        way = line(clock, rate=rate, own=own)
        moments = []
        for question in questions:
            entry = await way.enter(question)
            moments.append(clock.now)
            usage = None if tokens is None else Usage(input_tokens=tokens)
            way.answered(entry, Response(output="", usage=usage))
        return moments

    return asyncio.run(work())


def test_calls_are_spaced_evenly() -> None:
    assert starts(RateLimit(rps=4), [ask()] * 3) == [0.0, 0.25, 0.5]


def test_tokens_are_spaced_by_what_a_question_may_have() -> None:
    long = ask("x" * 4 * 996)  # and 4 for its turn
    assert starts(RateLimit(tpm=60_000), [long] * 3) == pytest.approx([0.0, 1.0, 2.0])


def test_what_an_answer_cost_puts_the_pace_right() -> None:
    long = ask("x" * 4 * 996)
    assert starts(RateLimit(tpm=60_000), [long] * 2, tokens=3_000) == pytest.approx([0.0, 3.0])
    assert starts(RateLimit(tpm=60_000), [long] * 2, tokens=500) == pytest.approx([0.0, 0.5])


def test_what_answers_cost_is_expected_of_the_next_call() -> None:
    async def work() -> float:
        way = line(FakeClock(), rate=RateLimit(tpm=60_000))
        entry = await way.enter(ask("x" * 4 * 996))
        way.answered(entry, Response(output="", usage=Usage(input_tokens=1_000, output_tokens=2_000)))
        return (await way.enter(ask("x" * 4 * 996))).tokens

    assert asyncio.run(work()) == pytest.approx(3_000)


def test_what_was_counted_for_a_failed_call_is_given_back() -> None:
    async def work() -> float:
        clock = FakeClock()
        way = line(clock, rate=RateLimit(tpm=60_000))
        entry = await way.enter(ask("x" * 4 * 996))
        way.failed(entry, ProviderError("no", ErrorClass.PROVIDER_UNAVAILABLE))
        await way.enter(ask("x" * 4 * 996))
        return clock.now

    assert asyncio.run(work()) == 0.0


def test_a_providers_own_rate_wins_and_the_rest_is_the_runners() -> None:
    assert starts(RateLimit(rps=4), [ask()] * 2, own=RateLimit(rps=2)) == [0.0, 0.5]
    assert starts(RateLimit(rps=4), [ask()] * 2, own=RateLimit(tpm=10**9)) == pytest.approx([0.0, 0.25])


@pytest.mark.parametrize(
    ("request_", "tokens"),
    [
        (ask(""), 4),
        (ask("x" * 40), 14),
        (
            Request(transcript=(Message(role="user", content=[{"type": "image"}]),), test=TestInfo(id="")),
            1_004,
        ),
        (Request(text="x", tools=(Tool(name="t", description="d" * 40),), test=TestInfo(id="")), 15),
        (Request(test=TestInfo(id="")), 0),
    ],
)
def test_tokens_are_estimated_from_lengths(request_: Request, tokens: int) -> None:
    assert estimated_tokens(request_) == tokens


@pytest.mark.parametrize(
    ("quota", "in_flight", "wait_s"),
    [
        (Quota("requests", 10, 5.0), 3, 0.0),
        (Quota("requests", 2, 5.0), 3, 5.0),
        (Quota("requests", 2, 8.0, 10, True), 3, 1.0),
        (Quota("requests", 0, 8.0, 4, True), 100, 8.0),
        (Quota("requests", 0, 86_400.0), 3, 0.0),
        (Quota("tokens", 0, 5.0), 3, 0.0),
    ],
)
def test_calls_wait_where_those_in_flight_use_up_a_quota(quota: Quota, in_flight: int, wait_s: float) -> None:
    async def work() -> float:
        clock = FakeClock()
        way = line(clock)
        for _ in range(in_flight):
            way.window.enter_at_once()
        way.take_note(quota)
        await way.enter(ask())
        return clock.now

    if in_flight < 8:
        assert asyncio.run(work()) == wait_s
    else:
        assert quota.wait_s(in_flight) == wait_s


class QuotaServer:
    """Takes so many calls in each second of a clock and turns the others away, as servers with windows do."""

    def __init__(
        self, clock: FakeClock, per_second: int, *, asks_to_wait: bool, capacity: int = 10**9
    ) -> None:
        self.clock = clock
        self.per_second = per_second
        self.capacity = capacity
        self.asks_to_wait = asks_to_wait
        self.taken: dict[int, int] = {}
        self.rejected = 0
        self.open = 0

    async def answer(self, _: Request) -> Any:
        self.open += 1
        await self.clock.sleep(0.05)
        self.open -= 1
        second = int(self.clock.now)
        if self.taken.get(second, 0) >= self.per_second or self.open >= self.capacity:
            self.rejected += 1
            wait = (second + 1 - self.clock.now) * 1_000 if self.asks_to_wait else None
            return ProviderError(
                "slow down", ErrorClass.PROVIDER_RATE_LIMIT, retriable=True, retry_after_ms=wait
            )
        self.taken[second] = self.taken.get(second, 0) + 1
        return "ok"


def through_quota(folder: Path, *, adapts: bool, **options: Any) -> tuple[QuotaServer, list[CaseResult], Any]:
    """A run of 150 cells, 50 at once, against such a server."""
    clock = FakeClock()
    server = QuotaServer(clock, **options)
    runner = Runner(
        concurrency=50, adaptive_concurrency=adapts, retries=Retries(max=30, initial_ms=100, max_ms=4_000)
    )
    loaded = suite(
        folder,
        [Case(id=f"c{n}", assertions=CHECK) for n in range(150)],
        prompts=(Prompt(id="p", template="x"),),
        runner=runner,
    )
    sessions: dict[str, Session] = {"one": FakeSession(server.answer)}
    results: list[CaseResult] = []

    async def work() -> Any:
        async with Services(
            loaded, loaded.providers, sessions=sessions, clock=clock, random_share=lambda: 0.5
        ) as services:
            await LocalExecutor(50).run(Plan(loaded), services, lambda r: results.append(r) is None)
            return services.limit_histories()

    histories = asyncio.run(work())
    return server, results, histories


@pytest.mark.parametrize(
    "options",
    [
        {"per_second": 20, "asks_to_wait": False},
        {"per_second": 40, "asks_to_wait": False, "capacity": 8},
        {"per_second": 10**6, "asks_to_wait": False, "capacity": 8},
    ],
)
def test_a_run_that_adapts_ends_sooner_and_is_refused_less(tmp_path: Path, options: dict[str, Any]) -> None:
    adapting, results, histories = through_quota(tmp_path, adapts=True, **options)
    fixed, others, _ = through_quota(tmp_path, adapts=False, **options)
    assert {result.status for result in (*results, *others)} == {"pass"}
    assert adapting.rejected < fixed.rejected / 2
    assert adapting.clock.now < fixed.clock.now
    (history,) = histories
    assert (history.provider_id, history.configured, history.refused_calls) == ("one", 50, adapting.rejected)
    assert history.lowest < 50
    assert history.cuts[0].before == 50


def test_where_a_server_says_when_to_come_back_nobody_comes_before(tmp_path: Path) -> None:
    options = {"per_second": 20, "asks_to_wait": True}
    adapting, results, _ = through_quota(tmp_path, adapts=True, **options)
    fixed, _, _ = through_quota(tmp_path, adapts=False, **options)
    assert len(results) == 150
    assert adapting.rejected < fixed.rejected / 2
    assert adapting.clock.now < fixed.clock.now * 1.05
