"""One cell from question to result."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evenhand.errors import ErrorClass, ProviderError
from evenhand.io.fake import FakeClock, FakeSession
from evenhand.model.assertion import Assertion
from evenhand.model.evidence import Evidence
from evenhand.model.exchange import Response, SentCall
from evenhand.model.outcome import Outcome, Status
from evenhand.model.provider import ProviderContext, Session
from evenhand.model.result import CaseResult
from evenhand.model.suite import Case, Prompt, Retries, Runner
from evenhand.run.cell import run_cell
from evenhand.run.evaluate import Grade
from evenhand.run.plan import Plan
from evenhand.run.services import Services
from evenhand.template import Val
from support.assertions import built
from support.graded import NAMES, Graded, Grades
from support.suites import Silent, suite
from support.vectors import row_id, topic

ASK = (Prompt(id="p", template="say {{ word }}"),)
HOLDS = built({"type": "contains", "value": "x"})
FAILS = built({"type": "contains", "value": "absent"})


def run_one(
    folder: Path,
    case: Case,
    session: FakeSession,
    *,
    prompts: tuple[Prompt, ...] = (),
    runner: Runner = Runner(),
    grade: Grade | None = None,
    clock: FakeClock | None = None,
) -> CaseResult:
    loaded = suite(folder, [case], prompts=prompts, runner=runner)

    async def work() -> CaseResult:
        async with Services(
            loaded,
            loaded.providers,
            sessions={"one": session},
            grade=grade,
            clock=clock,
            random_share=lambda: 1.0,
        ) as services:
            return await run_cell(next(Plan(loaded).cells()), services)

    return asyncio.run(work())


def assertion_of(options: Mapping[str, Any], position: int) -> Assertion:
    name = options["type"].removeprefix("not-")
    if name not in NAMES:
        return built(options)
    return Graded(
        position=position,
        weight=options.get("weight", 1.0),
        threshold=options.get("threshold"),
        negate=options["type"].startswith("not-"),
    )


CASE_ROWS = [
    row
    for row in topic("scoring", "short-circuit", "case-status", "negation", "vacuous")
    if "assert" in (row.get("suite_fragment") or {}) and row["expected"]["status"] != "load_error"
]


@pytest.mark.parametrize("row", CASE_ROWS, ids=row_id)
def test_case_ends_as_the_table_says(row: dict[str, Any], tmp_path: Path) -> None:
    given, expected = row["suite_fragment"], row["expected"]
    reason = given.get("expect_fail")
    case = Case(
        id="t",
        vars={name: Val(value) for name, value in row["vars"].items()},
        assertions=tuple(assertion_of(options, index) for index, options in enumerate(given["assert"])),
        threshold=given.get("threshold"),
        expect_fail=None if reason in (None, False) else "" if reason is True else reason,
    )
    response = msgspec.convert({"output": row["output"], **row["metrics"]}, Response)
    runner = msgspec.convert(row.get("runner", {}), Runner)
    grades = Grades(row.get("mock_grades", {}))
    result = run_one(tmp_path, case, FakeSession([response]), runner=runner, grade=grades)
    assert result.status == expected["status"], result
    assert result.score == expected["score"]
    if "assert_statuses" in expected:
        assert [item.status for item in result.asserts] == expected["assert_statuses"]
        skipped = [i for i, status in enumerate(expected["assert_statuses"]) if status == "skipped"]
        assert not set(skipped) & set(grades.asked)


def test_prompt_is_rendered_sent_and_kept(tmp_path: Path) -> None:
    session = FakeSession(["x"])
    case = Case(id="t", vars={"word": Val("hello")}, assertions=(HOLDS,))
    result = run_one(tmp_path, case, session, prompts=ASK)
    assert session.requests[0].prompt == "say hello"
    assert result.prompt == {"text": "say hello"}
    assert result.vars == {"word": "hello"}
    assert session.closed


def test_template_that_does_not_render_ends_the_cell_before_any_call(tmp_path: Path) -> None:
    session = FakeSession(["x"])
    result = run_one(tmp_path, Case(id="t", assertions=(HOLDS,)), session, prompts=ASK)
    assert (result.status, result.error_class, result.score) == ("error", ErrorClass.RENDER_FAILED, None)
    assert session.requests == []
    assert result.asserts == ()


def test_failed_call_is_an_error_without_score_or_verdicts(tmp_path: Path) -> None:
    gone = ProviderError("gone", ErrorClass.PROVIDER_UNAVAILABLE, details={"status": 503})
    result = run_one(tmp_path, Case(id="t", assertions=(HOLDS,)), FakeSession([gone]))
    assert (result.status, result.error_class, result.error) == ("error", "provider_unavailable", "gone")
    assert result.error_details == {"status": 503}
    assert (result.attempts, result.score, result.asserts) == (1, None, ())


def test_failure_that_may_pass_is_tried_again_after_growing_waits(tmp_path: Path) -> None:
    busy = ProviderError("busy", ErrorClass.PROVIDER_RATE_LIMIT, retriable=True)
    clock = FakeClock()
    result = run_one(
        tmp_path,
        Case(id="t", assertions=(HOLDS,)),
        FakeSession([busy, busy, "x"]),
        runner=Runner(retries=Retries(max=2, initial_ms=100)),
        clock=clock,
    )
    assert (result.status, result.attempts) == ("pass", 3)
    assert clock.slept == [0.1, 0.2]


def test_attempts_are_counted_when_all_of_them_fail(tmp_path: Path) -> None:
    busy = ProviderError("busy", ErrorClass.PROVIDER_RATE_LIMIT, retriable=True)
    result = run_one(
        tmp_path,
        Case(id="t", assertions=(HOLDS,)),
        FakeSession([busy] * 3),
        runner=Runner(retries=Retries(max=2, initial_ms=0)),
        clock=FakeClock(),
    )
    assert (result.status, result.error_class, result.attempts) == ("error", "provider_rate_limit", 3)


def test_call_without_an_answer_ends_at_its_time_limit(tmp_path: Path) -> None:
    runner = Runner(timeout_ms=20, retries=Retries(max=0))
    result = run_one(tmp_path, Case(id="t"), FakeSession(["x"], delay_s=60), runner=runner)
    assert (result.status, result.error_class) == ("error", "provider_timeout")
    assert "20 ms" in (result.error or "")


def test_case_ends_at_its_time_limit_with_all_its_attempts(tmp_path: Path) -> None:
    busy = ProviderError("busy", ErrorClass.PROVIDER_RATE_LIMIT, retriable=True, retry_after_ms=60_000)
    runner = Runner(case_timeout_ms=20)
    result = run_one(tmp_path, Case(id="t"), FakeSession([busy, "x"]), runner=runner)
    assert (result.status, result.error_class) == ("error", "provider_timeout")


def test_fault_of_the_engine_costs_the_cell_and_not_the_run(tmp_path: Path) -> None:
    def broken(_: object) -> object:
        raise RuntimeError("unexpected")

    result = run_one(tmp_path, Case(id="t"), FakeSession(broken))
    assert (result.status, result.error_class) == ("error", "internal")
    assert "unexpected" in (result.error or "")


@pytest.mark.parametrize("runner", [Runner(), Runner(timeout_ms=60_000), Runner(case_timeout_ms=60_000)])
def test_time_out_of_a_sessions_own_is_no_limit_of_the_run(tmp_path: Path, runner: Runner) -> None:
    result = run_one(tmp_path, Case(id="t"), FakeSession([TimeoutError("the socket's")]), runner=runner)
    assert (result.status, result.error_class) == ("error", "internal")
    assert "the socket's" in (result.error or "")


def test_broken_kind_keeps_its_neighbours_verdicts(tmp_path: Path) -> None:
    class Broken(Assertion, frozen=True, tag="broken"):
        def evaluate(self, evidence: object) -> Any:
            raise RuntimeError("unexpected")

    result = run_one(tmp_path, Case(id="t", assertions=(Broken(), HOLDS)), FakeSession(["x"]))
    assert result.status == "error"
    assert [item.status for item in result.asserts] == ["error", "pass"]


def test_graded_assertion_without_a_grader_is_an_error_of_the_suite(tmp_path: Path) -> None:
    result = run_one(tmp_path, Case(id="t", assertions=(Graded(position=0),)), FakeSession(["x"]))
    assert (result.status, result.error_class) == ("error", "grader_missing")
    assert "stand-in assertion errored: " in (result.error or "")


def test_short_circuit_can_be_switched_off(tmp_path: Path) -> None:
    grades = Grades({"1": {"pass": True, "score": 1.0}})
    case = Case(id="t", assertions=(FAILS, Graded(position=1)))
    result = run_one(tmp_path, case, FakeSession(["x"]), runner=Runner(short_circuit=False), grade=grades)
    assert (grades.asked, result.status) == ([1], "fail")


@pytest.mark.parametrize(
    ("assertions", "unchecked"),
    [((), True), ((HOLDS,), False), ((FAILS,), False)],
)
def test_case_in_which_nothing_was_judged_says_so(
    assertions: tuple[Assertion, ...], unchecked: bool, tmp_path: Path
) -> None:
    assert run_one(tmp_path, Case(id="t", assertions=assertions), FakeSession(["x"])).unchecked is unchecked


def test_metric_collects_the_mean_of_its_assertions(tmp_path: Path) -> None:
    named = [msgspec.structs.replace(item, metric="m") for item in (HOLDS, FAILS)]
    result = run_one(tmp_path, Case(id="t", assertions=tuple(named)), FakeSession(["x"]))
    assert result.named_scores == {"m": 0.5}


def test_digests_tell_which_part_of_a_question_changed(tmp_path: Path) -> None:
    def digests(assertion: Assertion, word: str) -> tuple[str | None, ...]:
        prompts = (Prompt(id="p", template=word),)
        result = run_one(tmp_path, Case(id="t", assertions=(assertion,)), FakeSession(["x"]), prompts=prompts)
        return result.prompt_digest, result.assert_digest

    first, same, other = digests(HOLDS, "a"), digests(HOLDS, "a"), digests(FAILS, "b")
    assert first == same
    assert first[0] != other[0]
    assert first[1] != other[1]


def test_waiting_for_a_turn_is_neither_latency_nor_a_time_out(tmp_path: Path) -> None:
    class OneAtATime(Silent, frozen=True, tag="one-at-a-time"):
        @property
        def calls_at_once(self) -> int | None:
            return 1

    cases = [Case(id=str(number)) for number in range(4)]
    runner = Runner(timeout_ms=400, retries=Retries(max=0))
    loaded = suite(tmp_path, cases, providers=(OneAtATime(id="one"),), runner=runner)

    async def work() -> list[CaseResult]:
        sessions = {"one": FakeSession(lambda _: "", delay_s=0.15)}
        async with Services(loaded, loaded.providers, sessions=sessions) as services:
            return await asyncio.gather(*(run_cell(cell, services) for cell in Plan(loaded).cells()))

    results = asyncio.run(work())
    assert [result.status for result in results] == ["pass"] * 4
    assert all(result.latency_ms is not None and result.latency_ms < 300 for result in results)


def test_provider_that_cannot_be_opened_fails_every_cell_for_that_reason(tmp_path: Path) -> None:
    class Closed(Silent, frozen=True, tag="closed"):
        def open(self, context: ProviderContext) -> Session:
            raise ProviderError("cannot be opened", ErrorClass.EXEC_FAILED)

    loaded = suite(tmp_path, [Case(id="a"), Case(id="b")], providers=(Closed(id="one"),))

    async def work() -> list[CaseResult]:
        async with Services(loaded, loaded.providers) as services:
            return [await run_cell(cell, services) for cell in Plan(loaded).cells()]

    results = asyncio.run(work())
    assert [(r.status, r.error_class, r.error) for r in results] == [
        ("error", "exec_failed", "cannot be opened")
    ] * 2


def test_session_that_fails_to_close_does_not_keep_the_others_open(tmp_path: Path) -> None:
    class Stuck(FakeSession):
        async def close(self) -> None:
            raise RuntimeError("cannot be closed")

    providers = tuple(Silent(id=name) for name in ("one", "two", "three"))
    loaded = suite(tmp_path, [], providers=providers)
    sessions = {"one": FakeSession([]), "two": Stuck([]), "three": FakeSession([])}

    async def work() -> None:
        async with Services(loaded, loaded.providers, sessions=sessions):
            pass

    with pytest.raises(RuntimeError, match="cannot be closed"):
        asyncio.run(work())
    assert sessions["one"].closed
    assert sessions["three"].closed


def test_case_whose_time_ends_while_it_is_judged_keeps_its_answer_and_what_was_paid(tmp_path: Path) -> None:
    async def grade(assertion: Assertion, evidence: Evidence) -> Outcome:
        assert isinstance(assertion, Graded)
        if assertion.position == 1:
            await asyncio.Event().wait()
        return Outcome(status=Status.PASS, score=1.0, cost_usd=0.2)

    case = Case(id="t", assertions=(Graded(position=0), Graded(position=1)))
    session = FakeSession([Response(output="x", cost_usd=0.5)])
    result = run_one(tmp_path, case, session, runner=Runner(case_timeout_ms=100), grade=grade)
    assert (result.status, result.error_class) == ("error", "provider_timeout")
    assert (result.output, result.cost_usd, result.attempts) == ("x", 0.5, 1)
    assert [(item.kind, item.cost_usd) for item in result.asserts] == [("stand-in", 0.2)]


PASSED = Outcome(status=Status.PASS, score=1.0)
UNUSABLE = Outcome(status=Status.ERROR, error_class=ErrorClass.GRADER_FAILED)


@pytest.mark.parametrize(
    ("second", "kept", "cost_usd", "cached"),
    [
        (PASSED, (True, True), 0.75, True),
        (PASSED, (True, False), 0.5, False),
        (PASSED, (False, True), 0.25, False),
        (PASSED, (False, False), 0.75, False),
        (UNUSABLE, (True, False), 0.5, False),
    ],
)
def test_cost_of_a_group_is_what_was_paid_for_its_members(
    tmp_path: Path, second: Outcome, kept: tuple[bool, bool], cost_usd: float, cached: bool
) -> None:
    found = iter(
        msgspec.structs.replace(outcome, cost_usd=cost, cached=is_kept)
        for outcome, cost, is_kept in zip((PASSED, second), (0.25, 0.5), kept, strict=True)
    )

    async def grade(assertion: Assertion, evidence: Evidence) -> Outcome:
        return next(found)

    members = [{"type": "similar", "value": word} for word in "ab"]
    case = Case(id="t", assertions=(built({"type": "all-of", "assert": members}),))
    (item,) = run_one(tmp_path, case, FakeSession(["x"]), grade=grade).asserts
    assert (item.cost_usd, item.cached) == (cost_usd, cached)


SENT = SentCall(method="POST", url="http://host/ask", body="hello")


def test_what_was_sent_stands_in_the_result(tmp_path: Path) -> None:
    answered = run_one(tmp_path, Case(id="t"), FakeSession([Response(output="x", request=SENT)]))
    assert answered.request == SENT


def test_what_was_sent_stands_in_the_result_of_a_call_that_failed_for_good(tmp_path: Path) -> None:
    busy = ProviderError("busy", ErrorClass.PROVIDER_RATE_LIMIT, retriable=True, retry_after_ms=1e9)
    busy.request, busy.raw = SENT, {"status": 429}
    result = run_one(tmp_path, Case(id="t"), FakeSession([busy]))
    assert (result.request, result.raw) == (SENT, {"status": 429})


def test_a_case_that_was_never_asked_sent_nothing(tmp_path: Path) -> None:
    case = Case(id="t", vars={"word": Val("{{ missing }}")})
    assert run_one(tmp_path, case, FakeSession(["x"]), prompts=ASK).request is None
