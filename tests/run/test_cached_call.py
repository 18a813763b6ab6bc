"""What was answered before is not asked again, and nothing is used again that may not be."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from evenhand.cache.question import question_of
from evenhand.errors import ErrorClass, ProviderError
from evenhand.model.caching import CacheSettings
from evenhand.model.exchange import Request, Response, ToolCall, Usage
from evenhand.model.result import CaseResult
from evenhand.model.suite import Case, Prompt, Retries, Runner, Suite
from evenhand.run.cell import run_cell
from evenhand.run.plan import Plan
from evenhand.run.services import Services
from evenhand.template import Val
from support.assertions import built
from support.cached import Counted, counted, opened, run_cells
from support.suites import suite

ASK = (Prompt(id="p", template="say {{ word }}"),)
HOLDS = built({"type": "contains", "value": "x"})


def of(folder: Path, provider: Counted, *cases: Case, **fields: Any) -> Suite:
    fields.setdefault("runner", Runner(retries=Retries(max=0)))
    return suite(folder, cases or (case(),), providers=(provider,), prompts=ASK, **fields)


def case(name: str = "t", word: str = "hello", **fields: Any) -> Case:
    return Case(id=name, vars={"word": Val(word)}, **{"assertions": (HOLDS,), **fields})


def twice(folder: Path, provider: Counted, *cases: Case, **fields: Any) -> list[CaseResult]:
    """The results of the second of two runs."""
    for _ in range(2):
        results = run_cells(of(folder, provider, *cases, **fields), folder / "cache")
    return results


FULL = Response(
    output={"answer": ["x", 1, 1.5, None, True]},
    tool_calls=(ToolCall(name="look", arguments={"city": "Rome"}, id="c1"),),
    usage=Usage(input_tokens=12, output_tokens=3),
    cost_usd=0.25,
    model="m-1",
    stop_reason="end_turn",
    reasoning="because",
    raw={"id": "r"},
    metadata={"trace": 1},
    log_probs=[{"token": "x", "logprob": -0.5}],
)


def test_second_run_uses_the_kept_answer_with_everything_in_it(tmp_path: Path) -> None:
    provider = counted([FULL])
    first = run_cells(of(tmp_path, provider), tmp_path / "cache")[0]
    second = run_cells(of(tmp_path, provider), tmp_path / "cache")[0]
    assert provider.asked == 1
    assert (first.cached, second.cached) == (False, True)
    assert first.cache_key == second.cache_key
    assert second.cache_key is not None
    for name in ("output", "tool_calls", "usage", "cost_usd", "model", "stop_reason", "reasoning", "raw"):
        assert getattr(second, name) == getattr(first, name) == getattr(FULL, name)
    assert (second.metadata, second.latency_ms, second.attempts) == (
        first.metadata,
        first.latency_ms,
        first.attempts,
    )


def test_without_a_cache_every_question_is_put(tmp_path: Path) -> None:
    provider = counted(["x", "x"])
    for _ in range(2):
        result = run_cells(of(tmp_path, provider), None)[0]
    assert provider.asked == 2
    assert (result.cached, result.cache_key) == (False, None)


@pytest.mark.parametrize(
    ("changed", "asked"),
    [
        ({"assertions": (built({"type": "contains", "value": "y"}),)}, 1),
        ({"assertions": (built({"type": "not-contains", "value": "x"}),)}, 1),
        ({"threshold": 0.4}, 1),
        ({"expect_fail": "known"}, 1),
        ({"description": "another", "tags": ("t",)}, 1),
        ({"name": "renamed"}, 1),
        ({"cache_salt": ""}, 2),
        ({"cache_salt": "v2"}, 2),
        ({"word": "goodbye"}, 2),
    ],
)
def test_only_what_changes_the_question_asks_again(
    changed: dict[str, Any], asked: int, tmp_path: Path
) -> None:
    provider = counted(["x", "x"])
    run_cells(of(tmp_path, provider), tmp_path / "cache")
    run_cells(of(tmp_path, provider, case(**changed)), tmp_path / "cache")
    assert provider.asked == asked


def test_salt_of_a_provider_separates_its_answers(tmp_path: Path) -> None:
    provider = counted(lambda _: "x")
    for salt in (None, "", "v2", "v2"):
        salted = structs.replace(provider, cache_salt=salt)
        run_cells(of(tmp_path, salted), tmp_path / "cache")
    assert provider.asked == 3


def test_every_repeat_has_an_answer_of_its_own(tmp_path: Path) -> None:
    provider = counted(lambda request: f"x{request.repeat}")
    for _ in range(2):
        results = run_cells(of(tmp_path, provider), tmp_path / "cache", repeat=3)
    assert provider.asked == 3
    assert [result.output for result in results] == ["x0", "x1", "x2"]


def test_equal_questions_of_a_run_are_sent_once(tmp_path: Path) -> None:
    async def slow(request: Request) -> Response:
        await asyncio.sleep(0.01)
        return Response(output="x", cost_usd=1.0)

    provider = counted(slow)
    results = run_cells(of(tmp_path, provider, *(case(f"t{n}") for n in range(20))), tmp_path / "cache")
    assert provider.asked == 1
    assert sorted(result.cached for result in results) == [False] + [True] * 19


def test_those_who_wait_share_the_failure_of_the_one_who_asked(tmp_path: Path) -> None:
    async def failing(request: Request) -> Response:
        await asyncio.sleep(0.01)
        raise ProviderError("gone", ErrorClass.PROVIDER_UNAVAILABLE)

    provider = counted(failing)
    results = run_cells(of(tmp_path, provider, case("a"), case("b")), tmp_path / "cache")
    assert provider.asked == 1
    assert [result.error_class for result in results] == ["provider_unavailable"] * 2
    assert run_cells(of(tmp_path, counted(["x"])), tmp_path / "cache")[0].status == "pass"


def test_another_asks_where_the_one_who_asked_is_cancelled(tmp_path: Path) -> None:
    waiting: list[int] = []

    async def first_hangs(request: Request) -> Response:
        waiting.append(1)
        if len(waiting) == 1:
            await asyncio.sleep(3_600)
        return Response(output="x")

    provider = counted(first_hangs)
    quick = of(tmp_path, provider, case("a"), case("b"))
    timed = of(tmp_path, provider, case("a"), runner=Runner(case_timeout_ms=30))

    async def work() -> list[CaseResult]:
        cache = opened(tmp_path / "cache")
        async with (
            Services(timed, timed.providers, cache=cache) as hasty,
            Services(quick, quick.providers, cache=cache) as patient,
        ):
            leader = asyncio.create_task(run_cell(next(Plan(timed).cells()), hasty))
            await asyncio.sleep(0)
            others = [run_cell(cell, patient) for cell in Plan(quick).cells()]
            results = await asyncio.gather(leader, *others)
        await cache.close()
        return list(results)

    leader, *others = asyncio.run(work())
    assert leader.error_class == "provider_timeout"
    assert [result.status for result in others] == ["pass", "pass"]
    assert provider.asked == 2


@pytest.mark.parametrize(
    ("reply", "policy", "kept"),
    [
        (Response(output="x"), "never", True),
        (Response(output=""), "reproducible", False),
        (Response(output=""), "always", True),
        (Response(output="", stop_reason="max_tokens"), "reproducible", True),
        (Response(output="", stop_reason="max_tokens"), "never", False),
        (Response(output="", tool_calls=(ToolCall(name="f"),)), "reproducible", True),
        (Response(output="", empty_reason="output_expr_empty"), "reproducible", True),
        (Response(output="", stop_reason="refusal"), "reproducible", False),
        (Response(output="I cannot help"), "reproducible", False),
        (Response(output="I cannot help"), "always", True),
        (Response(output="", stop_reason="content_filter"), "always", False),
        (Response(output="some x", stop_reason="content_filter"), "always", False),
        (Response(output="x", empty_reason="content_filter"), "always", False),
        (Response(output="x", reasoning="a\ud800b"), "always", False),
    ],
)
def test_what_is_kept(reply: Response, policy: Any, kept: bool, tmp_path: Path) -> None:
    provider = counted([reply, Response(output="x again")])
    runner = Runner(refusal_patterns=("^I cannot",))
    results = twice(tmp_path, provider, runner=runner, cache=CacheSettings(store_empty_outputs=policy))
    assert provider.asked == (1 if kept else 2)
    assert results[0].cached is kept


def test_failed_call_is_never_kept(tmp_path: Path) -> None:
    provider = counted([ProviderError("busy", ErrorClass.PROVIDER_RATE_LIMIT), "x"])
    assert twice(tmp_path, provider)[0].status == "pass"
    assert provider.asked == 2


def test_answer_that_holds_a_secret_is_not_kept(tmp_path: Path) -> None:
    secret = "sk-very-secret-1234"
    provider = counted([f"x {secret}", "x"])
    for _ in range(2):
        run_cells(of(tmp_path, provider), tmp_path / "cache", secrets=[secret])
    assert provider.asked == 2
    assert not any(secret.encode() in path.read_bytes() for path in (tmp_path / "cache").iterdir())


def test_secret_in_a_question_is_not_written(tmp_path: Path) -> None:
    secret = "sk-very-secret-1234"
    provider = counted(["x"])
    for _ in range(2):
        run_cells(of(tmp_path, provider, case(word=secret)), tmp_path / "cache", secrets=[secret])
    assert provider.asked == 1
    assert not any(secret.encode() in path.read_bytes() for path in (tmp_path / "cache").iterdir())


LATENCY = {"type": "latency", "max": 60_000}


@pytest.mark.parametrize(
    "check", [LATENCY, {"type": "any-of", "assert": [LATENCY]}], ids=["alone", "in a group"]
)
def test_case_about_latency_always_asks(check: dict[str, Any], tmp_path: Path) -> None:
    timed = case(assertions=(built(check),))
    provider = counted(["x", "x"])
    assert twice(tmp_path, provider, timed)[0].cached is False
    assert provider.asked == 2
    missed = run_cells(of(tmp_path, provider, timed), tmp_path / "cache", only=True)[0]
    assert (missed.status, missed.error_class) == ("error", "cache_miss")


def test_cache_only_never_calls(tmp_path: Path) -> None:
    provider = counted(["x", "x"])
    missed = run_cells(of(tmp_path, provider), tmp_path / "empty", only=True)[0]
    assert (missed.error_class, missed.attempts) == ("cache_miss", 0)
    assert not (tmp_path / "empty").exists()
    run_cells(of(tmp_path, provider), tmp_path / "cache")
    hit, missed = run_cells(of(tmp_path, provider, case(), case("u", "other")), tmp_path / "cache", only=True)
    assert (hit.status, hit.cached) == ("pass", True)
    assert (missed.error_class, missed.score) == ("cache_miss", None)
    assert provider.asked == 1


def test_provider_that_keeps_no_answers_is_a_miss_under_cache_only(tmp_path: Path) -> None:
    provider = counted(["x"], cache=False)
    run_cells(of(tmp_path, provider), tmp_path / "cache")
    run_cells(of(tmp_path, counted(["x"])), tmp_path / "cache")
    assert run_cells(of(tmp_path, provider), tmp_path / "cache", only=True)[0].error_class == "cache_miss"


def test_fallback_is_kept_under_its_own_question(tmp_path: Path) -> None:
    down = counted(lambda _: ProviderError("gone", ErrorClass.PROVIDER_UNAVAILABLE), fallback=("two",))
    two = counted(["x"], id="two", view={"of": "two"})
    for _ in range(2):
        loaded = suite(
            tmp_path,
            [case(only_providers=()), case("u", "other")],
            providers=(down, two),
            prompts=ASK,
            runner=Runner(retries=Retries(max=0)),
        )
        results = run_cells(loaded, tmp_path / "cache")
    own = [result for result in results if result.cell.provider_id == "one"]
    assert [result.answered_by_provider_id for result in own] == ["two", "two"]
    assert all(result.cached for result in own)
    assert two.asked == 1


def test_salts_and_repeat_are_in_the_key_and_order_of_keys_is_not() -> None:
    one = question_of({"a": 1, "b": [1, {"d": 2, "c": 3}]})
    same = question_of({"b": [1, {"c": 3, "d": 2}], "a": 1}, provider="p", test="t")
    assert one.key == same.key
    others = [
        question_of({"a": 1, "b": [{"c": 3, "d": 2}, 1]}),
        question_of({"a": 1, "b": [1, {"d": 2, "c": 3}]}, repeat=1),
        question_of({"a": 1, "b": [1, {"d": 2, "c": 3}]}, provider_salt="s"),
        question_of({"a": 1, "b": [1, {"d": 2, "c": 3}]}, case_salt="s"),
        question_of({"a": 1, "b": [1, {"d": 2, "c": 3}]}, case_salt=""),
    ]
    assert len({question.key for question in (one, *others)}) == 6
    assert one.document == b'{"repeat":0,"request":{"a":1,"b":[1,{"c":3,"d":2}]}}'
