"""What a run may cost: how much of it is used, and that it is never exceeded."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand import RunOptions, run_suite
from evenhand.io.fake import FakeSession
from evenhand.model.exchange import Request, Response, Usage
from evenhand.model.provider import Session
from evenhand.model.result import CaseResult, CellKey, RunStatus, Spending
from evenhand.model.suite import Case, Prompt, Suite
from evenhand.run.budget import Budget, paid_usd
from evenhand.run.local import LocalExecutor
from evenhand.run.plan import Plan
from evenhand.run.services import Services
from support.assertions import built
from support.crossed import chat
from support.machinery import machinery
from support.stored_results import a_result
from support.suites import Silent, suite
from support.written import load

CHECK = (built({"type": "contains", "value": "x"}),)


class Priced(Silent, frozen=True, tag="priced"):
    """A provider that knows what its tokens cost: a cent each."""

    def cost_of(self, usage: Usage) -> float | None:
        return usage.total / 100


def of(folder: Path, cells: int, provider: Silent) -> Suite:
    cases = [Case(id=f"c{n}", assertions=CHECK) for n in range(cells)]
    return suite(folder, cases, providers=(provider,), prompts=(Prompt(id="p", template="x"),))


def run(
    loaded: Suite, max_usd: float, costs: Any, *, at_once: int = 8, before: Sequence[CaseResult] = ()
) -> tuple[Spending, list[CaseResult], int]:
    """The spending of a run whose answers cost what `costs` yields, its results, and the most calls in flight."""
    in_flight = highest = 0
    waiting = iter(costs)

    async def answer(_: Request) -> Response:
        nonlocal in_flight, highest
        in_flight += 1
        highest = max(highest, in_flight)
        await asyncio.sleep(0)
        in_flight -= 1
        return Response(output="x", cost_usd=next(waiting))

    results: list[CaseResult] = []
    sessions: dict[str, Session] = {loaded.providers[0].id: FakeSession(answer)}
    budget = Budget(max_usd, loaded)
    for result in before:
        budget.take_in(result)

    async def work() -> None:
        async with Services(loaded, loaded.providers, sessions=sessions, budget=budget) as services:
            await LocalExecutor(at_once).run(Plan(loaded), services, lambda r: results.append(r) is None)

    asyncio.run(asyncio.wait_for(work(), 60))
    return budget.spending(), results, highest


def test_a_run_that_stays_within_its_limit_ends_by_itself(tmp_path: Path) -> None:
    spending, results, _ = run(of(tmp_path, 10, Silent(id="one")), 1.0, [0.1] * 10)
    assert len(results) == 10
    assert (spending.spent_usd, spending.is_reached) == (1.0, False)


def test_the_limit_is_used_up_and_not_exceeded(tmp_path: Path) -> None:
    spending, results, highest = run(of(tmp_path, 100, Silent(id="one")), 1.05, [0.1] * 100)
    assert len(results) == 10
    assert (spending.spent_usd, spending.is_reached) == (1.0, True)
    assert highest > 1


def test_the_first_cell_of_a_provider_without_a_price_runs_alone(tmp_path: Path) -> None:
    spending, results, _ = run(of(tmp_path, 100, Silent(id="one")), 1.0, [0.9] * 100, at_once=50)
    assert len(results) == 1
    assert spending.spent_usd == 0.9


def test_a_known_price_is_set_aside_before_the_first_answer(tmp_path: Path) -> None:
    # A question of one character and its turn is 5 tokens, an answer is taken as 300: 3.05 dollars.
    spending, results, highest = run(of(tmp_path, 100, Priced(id="one")), 7.0, [3.0] * 100, at_once=50)
    assert (len(results), highest) == (2, 2)
    assert (spending.spent_usd, spending.is_reached) == (6.0, True)
    spending, results, _ = run(of(tmp_path, 100, Priced(id="one")), 3.0, [0.1] * 100)
    assert (results, spending.is_reached) == ([], True)


def test_what_a_resumed_run_spent_before_counts(tmp_path: Path) -> None:
    loaded = of(tmp_path, 100, Silent(id="one"))
    _, before, _ = run(loaded, 0.75, [0.1] * 100)
    spending, results, _ = run(loaded, 1.0, [0.1] * 100, before=before)
    assert (len(before), len(results)) == (7, 3)
    assert spending.spent_usd == pytest.approx(1.0)
    _, results, _ = run(loaded, 0.75, [0.1] * 100, before=before)
    assert results == []


def test_answers_without_a_cost_are_not_held_and_are_counted(tmp_path: Path) -> None:
    spending, results, highest = run(of(tmp_path, 20, Silent(id="one")), 0.01, [None] * 20)
    assert len(results) == 20
    assert highest > 1
    assert (spending.is_reached, spending.unpriced_answers) == (False, 20)


@given(
    costs=st.lists(st.floats(0.01, 0.2), min_size=40, max_size=40),
    max_usd=st.floats(0.3, 4),
    at_once=st.integers(1, 20),
)
def test_a_run_never_costs_more_than_its_limit_and_one_dearest_answer_for_each_in_flight(
    tmp_path_factory: pytest.TempPathFactory, costs: list[float], max_usd: float, at_once: int
) -> None:
    loaded = of(tmp_path_factory.getbasetemp(), 40, Silent(id="one"))
    spending, results, _ = run(loaded, max_usd, costs, at_once=at_once)
    assert spending.spent_usd == pytest.approx(sum(paid_usd(result) for result in results), abs=1e-5)
    assert spending.spent_usd <= max_usd + at_once * (max(costs) - min(costs)) + 1e-6
    if at_once == 1:
        assert spending.spent_usd <= max_usd + max(costs) - min(costs) + 1e-6
    if not spending.is_reached:
        assert len(results) == 40


def test_equal_costs_never_exceed_the_limit(tmp_path: Path) -> None:
    for at_once in (1, 3, 50):
        for max_usd in (0.05, 0.31, 1.0, 2.49):
            spending, _, _ = run(of(tmp_path, 60, Silent(id="one")), max_usd, [0.07] * 60, at_once=at_once)
            assert spending.spent_usd <= max(max_usd, 0.07)


def test_a_run_that_ends_early_leaves_nobody_waiting_for_its_money(tmp_path: Path) -> None:
    loaded = of(tmp_path, 100, Silent(id="one"))
    costs = iter([0.1] + [0.0] * 100)
    results: list[CaseResult] = []

    async def answer(_: Request) -> Response:
        await asyncio.sleep(0)
        return Response(output="x", cost_usd=next(costs))

    def consume(result: CaseResult) -> bool:
        results.append(result)
        return len(results) < 4

    async def work() -> None:
        budget = Budget(0.55, loaded)
        sessions: dict[str, Session] = {"one": FakeSession(answer)}
        async with Services(loaded, loaded.providers, sessions=sessions, budget=budget) as services:
            await LocalExecutor(60).run(Plan(loaded), services, consume)

    # Many workers wait for room. What those have set aside who find the run over must not keep the others waiting.
    asyncio.run(asyncio.wait_for(work(), 60))
    assert len(results) >= 4


def test_kept_answers_tell_nothing_of_what_a_call_costs(tmp_path: Path) -> None:
    kept = a_result(0, cell=CellKey(provider_id="one", test_id="kept"), cached=True, cost_usd=0.9)
    loaded = of(tmp_path, 100, Silent(id="one"))
    spending, results, _ = run(loaded, 1.0, [0.9] * 100, at_once=50, before=[kept])
    assert (len(results), spending.spent_usd) == (1, 0.9)


def test_answers_that_are_kept_need_no_room_in_the_budget(tmp_path: Path) -> None:
    tests = [
        {"id": word, "vars": {"q": f"[say {word}]"}, "assert": [{"type": "contains", "value": word}]}
        for word in ("red", "green", "blue")
    ]
    with machinery() as seen:
        fragment = {"providers": [chat("model", seen.url)], "prompts": [{"id": "ask", "template": "{{ q }}"}]}
        loaded = load(tmp_path, {**fragment, "tests": tests})
        first = run_suite(loaded).run
        again = run_suite(loaded, RunOptions(max_cost_usd=0.000001)).run
        assert seen.total == 3
    assert (first.status, again.status) == (RunStatus.FINISHED, RunStatus.FINISHED)
    assert again.spending is not None
    assert (again.spending.spent_usd, again.spending.is_reached) == (0, False)


def test_run_from_kept_answers_alone_has_no_limit_to_reach(tmp_path: Path) -> None:
    fragment = {"providers": [chat("model", "http://127.0.0.1:9")], "tests": [{"id": "c", "assert": [HAS_X]}]}
    loaded = load(tmp_path, {**fragment, "prompts": [{"id": "ask", "template": "hello"}]})
    ended = run_suite(loaded, RunOptions(cache_only=True, max_cost_usd=0.000001))
    assert ended.run.status is RunStatus.FINISHED
    assert [case.error_class for case in ended.cases()] == ["cache_miss"]


HAS_X = {"type": "contains", "value": "x"}
