"""Who answers where a provider fails or refuses, and what a result says of it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evenhand.analysis.summary import SummaryFold
from evenhand.analysis.verdict import exit_code
from evenhand.errors import ErrorClass, ProviderError, UsageError
from evenhand.io.fake import FakeSession
from evenhand.model.exchange import Response
from evenhand.model.provider import Session
from evenhand.model.result import CaseResult, Filters
from evenhand.model.suite import Case, Retries, Runner, Suite
from evenhand.run.cell import run_cell
from evenhand.run.fallback import FALLBACK_CLASSES
from evenhand.run.plan import Plan
from evenhand.run.preflight import called_providers
from evenhand.run.services import Services
from support.assertions import built
from support.suites import Silent, suite

HOLDS = built({"type": "contains", "value": "x"})
FAST = built({"type": "latency", "max": 60_000})
ONCE = Runner(retries=Retries(max=0))
REFUSED = Response(output="", stop_reason="refusal", cost_usd=0.25)
GOOD = Response(output="x", cost_usd=0.5)


def failing(error_class: ErrorClass) -> ProviderError:
    return ProviderError("no", error_class)


def chained(folder: Path, *cases: Case, runner: Runner = ONCE) -> Suite:
    """A suite whose first provider has two fallbacks; the last of all is nobody's."""
    providers = (
        Silent(id="one", fallback=("two", "three")),
        Silent(id="two", fallback_only=True),
        Silent(id="three", fallback_only=True),
        Silent(id="four"),
    )
    return suite(folder, cases or [Case(id="c", assertions=(HOLDS,))], providers=providers, runner=runner)


def run_first(loaded: Suite, **replies: Any) -> tuple[CaseResult, Mapping[str, FakeSession]]:
    sessions = {name: FakeSession((reply,)) for name, reply in replies.items()}
    given: dict[str, Session] = dict(sessions)

    async def work() -> CaseResult:
        async with Services(loaded, loaded.providers, sessions=given) as services:
            return await run_cell(next(Plan(loaded).cells()), services)

    return asyncio.run(work()), sessions


def attempts(result: CaseResult) -> list[tuple[str, str | None]]:
    return [(item.provider_id, item.empty_reason or item.error_class) for item in result.fallback_attempts]


def test_a_refusal_goes_to_the_first_fallback(tmp_path: Path) -> None:
    result, sessions = run_first(chained(tmp_path), one=REFUSED, two=GOOD, three=GOOD)
    assert (result.status, result.output, result.answered_by_provider_id) == ("pass", "x", "two")
    assert attempts(result) == [("one", "refusal")]
    assert len(sessions["three"].requests) == 0
    assert result.cell.provider_id == "one"


@pytest.mark.parametrize("error_class", sorted(set(ErrorClass) - {ErrorClass.RENDER_FAILED}))
def test_the_class_of_a_failure_decides_whether_others_are_asked(
    tmp_path: Path, error_class: ErrorClass
) -> None:
    result, sessions = run_first(chained(tmp_path), one=failing(error_class), two=GOOD, three=GOOD)
    if error_class in FALLBACK_CLASSES:
        assert (result.status, attempts(result)) == ("pass", [("one", error_class)])
    else:
        assert (result.status, result.error_class) == ("error", error_class)
        assert not sessions["two"].requests


def test_a_failing_fallback_is_passed_over_whatever_its_failure(tmp_path: Path) -> None:
    wrong = failing(ErrorClass.PROVIDER_REQUEST)
    result, _ = run_first(chained(tmp_path), one=failing(ErrorClass.PROVIDER_TIMEOUT), two=wrong, three=GOOD)
    assert (result.status, result.answered_by_provider_id) == ("pass", "three")
    assert attempts(result) == [("one", "provider_timeout"), ("two", "provider_request")]


def test_where_nobody_does_better_the_providers_own_answer_counts(tmp_path: Path) -> None:
    result, _ = run_first(
        chained(tmp_path), one=REFUSED, two=REFUSED, three=failing(ErrorClass.PROVIDER_AUTH)
    )
    assert (result.status, result.empty_reason, result.answered_by_provider_id) == ("fail", "refusal", None)
    assert attempts(result) == [("two", "refusal"), ("three", "provider_auth")]


def test_where_nobody_does_better_the_providers_own_failure_counts(tmp_path: Path) -> None:
    own = failing(ErrorClass.PROVIDER_RATE_LIMIT)
    result, _ = run_first(
        chained(tmp_path), one=own, two=REFUSED, three=failing(ErrorClass.PROVIDER_UNAVAILABLE)
    )
    assert (result.status, result.error_class) == ("error", "provider_rate_limit")
    assert attempts(result) == [("two", "refusal"), ("three", "provider_unavailable")]


def test_only_the_listed_reasons_send_a_question_on(tmp_path: Path) -> None:
    blank = Response(output=" ")
    result, _ = run_first(chained(tmp_path), one=blank, two=GOOD, three=GOOD)
    assert (result.status, attempts(result)) == ("fail", [])
    on_blank = Runner(retries=Retries(max=0), fallback_on_empty_reason=("blank",))
    result, _ = run_first(chained(tmp_path, runner=on_blank), one=blank, two=GOOD, three=GOOD)
    assert (result.status, attempts(result)) == ("pass", [("one", "blank")])


def test_a_refusal_in_words_counts_where_the_suite_knows_its_words(tmp_path: Path) -> None:
    runner = Runner(retries=Retries(max=0), refusal_patterns=("(?i)i cannot",))
    result, _ = run_first(
        chained(tmp_path, runner=runner), one=Response(output="Sorry, I cannot"), two=GOOD, three=GOOD
    )
    assert (result.status, attempts(result)) == ("pass", [("one", "refusal")])


@pytest.mark.parametrize(
    ("case", "asked"),
    [
        (Case(id="c", assertions=(HOLDS,), skip_providers=("two",)), ["three"]),
        (Case(id="c", assertions=(HOLDS,), only_providers=("one", "three")), ["three"]),
        (Case(id="c", assertions=(HOLDS,), only_providers=("one",)), []),
        (Case(id="c", assertions=(HOLDS, FAST)), []),
    ],
)
def test_a_case_says_who_may_answer_it(tmp_path: Path, case: Case, asked: list[str]) -> None:
    loaded = chained(tmp_path, case)
    result, sessions = run_first(loaded, one=REFUSED, two=GOOD, three=GOOD)
    assert [name for name in ("two", "three") if sessions[name].requests] == asked
    assert result.status == ("pass" if asked else "fail")
    assert [p.id for p in called_providers(Plan(loaded, Filters(providers=("one",))))] == ["one", *asked]


def test_nobody_else_is_asked_where_the_run_forbids_it(tmp_path: Path) -> None:
    runner = Runner(retries=Retries(max=0), fallback=False)
    loaded = chained(tmp_path, runner=runner)
    result, sessions = run_first(loaded, one=REFUSED, two=GOOD, three=GOOD)
    assert (result.status, sessions["two"].requests) == ("fail", [])
    assert Plan(loaded).fallbacks() == []


def test_a_provider_that_only_answers_for_others_forms_no_cells(tmp_path: Path) -> None:
    plan = Plan(chained(tmp_path))
    assert [cell.provider.id for cell in plan.cells()] == ["one", "four"]
    assert plan.total() == 2
    assert [provider.id for provider in plan.fallbacks()] == ["two", "three"]


def test_such_a_provider_cannot_be_chosen_for_a_run(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'two' only answers for others"):
        Plan(chained(tmp_path), Filters(providers=("two",)))


def test_answers_that_were_not_used_are_on_the_bill(tmp_path: Path) -> None:
    result, _ = run_first(chained(tmp_path), one=REFUSED, two=GOOD, three=GOOD)
    fold = SummaryFold()
    fold.add(result)
    summary = fold.summary()
    assert (result.cost_usd, summary.cost_usd, summary.fallback_cases) == (0.5, 0.75, 1)


def test_a_run_that_only_fallbacks_answered_is_no_verdict_on_its_providers(tmp_path: Path) -> None:
    by_fallback, _ = run_first(chained(tmp_path), one=REFUSED, two=GOOD, three=GOOD)
    own, _ = run_first(chained(tmp_path), one=GOOD, two=GOOD, three=GOOD)
    unchecked, _ = run_first(chained(tmp_path, Case(id="c")), one=GOOD, two=GOOD, three=GOOD)
    codes = []
    for results in ([by_fallback], [by_fallback, unchecked], [by_fallback, own]):
        fold = SummaryFold()
        for result in results:
            fold.add(result)
        codes.append(exit_code(fold.summary()))
    assert codes == [2, 2, 0]


def test_refused_answer_that_was_paid_stays_on_the_bill_where_the_time_ends_at_the_fallback(
    tmp_path: Path,
) -> None:
    async def hangs(_: object) -> Response:
        await asyncio.Event().wait()
        return GOOD

    runner = Runner(retries=Retries(max=0), case_timeout_ms=100)
    loaded = chained(tmp_path, runner=runner)
    sessions: dict[str, Session] = {"one": FakeSession([REFUSED]), "two": FakeSession(hangs)}

    async def work() -> CaseResult:
        async with Services(loaded, loaded.providers, sessions=sessions) as services:
            return await run_cell(next(Plan(loaded).cells()), services)

    result = asyncio.run(work())
    assert (result.status, result.error_class) == ("error", "provider_timeout")
    assert [(a.provider_id, a.empty_reason, a.cost_usd) for a in result.fallback_attempts] == [
        ("one", "refusal", 0.25)
    ]
