"""One cell from question to result: render, call, judge, score, classify."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec

from evenhand.analysis.scoring import ScoreOverflow, case_passes, case_score
from evenhand.analysis.verdict import collapse
from evenhand.errors import ClassifiedError, ErrorClass, TemplateError
from evenhand.io.user_code import raised
from evenhand.model.assertion import Assertion
from evenhand.model.evidence import Evidence
from evenhand.model.exchange import Json, Request, Response, SentCall
from evenhand.model.named_scores import named_means
from evenhand.model.outcome import Outcome, Status, Weighed
from evenhand.model.provider import Provider
from evenhand.model.result import AssertResult, CaseResult, CaseStatus, FallbackAttempt
from evenhand.model.trace import Trace
from evenhand.run.cached_call import answer
from evenhand.run.call import CallFailed
from evenhand.run.evaluate import evaluate_case
from evenhand.run.fallback import NobodyAnswered, call_with_fallbacks
from evenhand.run.grading import grade_with
from evenhand.run.groups import Grade, result_of
from evenhand.run.plan import Cell, fallback_chain, needs_fresh_call
from evenhand.run.render import render_request
from evenhand.run.rescore import stored_answer
from evenhand.run.services import Services
from evenhand.run.transform import Untransformed, transformed
from evenhand.template import order_vars, render_scope

# Looked up once: reading a member from its enumeration costs more than a comparison.
_PASS, _FAIL, _ERROR = Status.PASS, Status.FAIL, Status.ERROR
_CASE_PASS = CaseStatus.PASS


async def run_cell(cell: Cell, services: Services) -> CaseResult:
    """Exactly one result, whatever happens. Only cancellation comes out as an exception."""
    started = time.perf_counter()
    progress = _Progress()
    limit_ms = services.suite.runner.case_timeout_ms
    limit = None if limit_ms is None else asyncio.timeout(limit_ms / 1_000)
    try:
        if limit is None:
            return await _run(cell, services, progress, started)
        async with limit:
            return await _run(cell, services, progress, started)
    except CallFailed as failure:
        progress.attempts, progress.trace = failure.attempts, failure.trace
        progress.sent, progress.raw = failure.error.request, failure.error.raw
        if isinstance(failure, NobodyAnswered):
            progress.fallback_attempts = failure.fallback_attempts
        error: ClassifiedError = failure.error
    except TemplateError as failure:
        error = failure
    except Exception as failure:  # noqa: BLE001  (a fault of ours costs this cell, never the run)
        # A `TimeoutError` may also come out of a session: only the limit itself knows whether it was reached.
        if limit is not None and limit.expired():
            message = f"the case took longer than {limit_ms:g} ms"
            error = ClassifiedError(message, ErrorClass.PROVIDER_TIMEOUT)
        else:
            error = ClassifiedError(raised(failure), ErrorClass.INTERNAL)
    return _unanswered(cell, services, progress, error, started)


class _Progress:
    """How far a cell came: what its result can tell if it goes no further."""

    __slots__ = (
        "answered_by", "attempts", "fallback_attempts", "graded", "raw", "raw_output", "request", "response", "sent",
        "trace", "vars",
    )  # fmt: skip

    def __init__(self) -> None:
        self.vars: dict[str, Json] = {}
        self.request: Request | None = None
        self.response: Response | None = None
        self.sent: SentCall | None = None
        self.raw: Json = None
        self.raw_output: Json = None
        self.attempts = 0
        self.trace: Trace | None = None
        self.answered_by: str | None = None
        self.fallback_attempts: Sequence[FallbackAttempt] = ()
        self.graded: list[AssertResult] = []
        """What graders have found so far, members of groups among it."""


async def _run(cell: Cell, services: Services, progress: _Progress, started: float) -> CaseResult:
    suite, case = services.suite, cell.case
    engine = suite.engine
    progress.vars, scope = render_scope(order_vars(case.vars, engine), suite.env)
    request = render_request(suite, case, cell.prompt, cell.key.repeat, progress.vars, scope)
    progress.request = request
    response, provider = await _answered(cell, request, services, progress)
    progress.response = response
    evidence = Evidence(
        response=response,
        vars=progress.vars,
        engine=engine,
        scope=scope,
        provider_reports_tool_calls=provider.reports_tool_calls,
        request=request,
        case=case,
        provider_id=provider.id,
    )
    if provider.transform is not None or case.transform is not None:
        progress.raw_output = response.output
        try:
            evidence = await transformed(
                evidence, provider.transform, case.transform, services.run_transforms
            )
        except Untransformed as broken:
            return _untransformed(cell, services, progress, broken, started)
        progress.response = evidence.response
    weighed = await evaluate_case(
        case.assertions,
        evidence,
        threshold=case.threshold,
        short_circuit=suite.runner.short_circuit,
        judge_scripts=services.judge_scripts,
        run_transforms=services.run_transforms,
        grade=partial(_graded, services.grade or partial(grade_with, services), progress),
    )
    return _judged(cell, services, progress, evidence, weighed, started)


async def _graded(grade: Grade, progress: _Progress, assertion: Assertion, evidence: Evidence) -> Outcome:
    """The outcome of a graded assertion, noted: it was paid for, even if the case does not come to its end."""
    outcome = await grade(assertion, evidence)
    progress.graded.append(result_of(assertion, outcome, evidence))
    return outcome


async def _answered(
    cell: Cell, request: Request, services: Services, progress: _Progress
) -> tuple[Response, Provider]:
    """The answer to judge and who gave it: a stored one, a kept one, or that of a call."""
    suite, case = services.suite, cell.case
    provider, timeout_ms = cell.provider, suite.runner.timeout_ms
    if cell.stored is not None:
        response, provider = stored_answer(cell, cell.stored, progress.vars, _prompt_of(request), services)
        if provider is not cell.provider:
            progress.answered_by = provider.id
        progress.fallback_attempts = cell.stored.fallback_attempts
        return response, provider
    if provider.fallback and (chain := fallback_chain(suite, case, provider)):
        missed: list[FallbackAttempt] = []
        progress.fallback_attempts = missed
        found = await call_with_fallbacks(cell, chain, request, services, missed, timeout_ms=timeout_ms)
        progress.fallback_attempts = found.attempts
        if found.provider is not provider:
            progress.answered_by = found.provider.id
        return found.response, found.provider
    line, cache = services.line(provider.id), services.cache
    response = await answer(
        line,
        request,
        services,
        timeout_ms=timeout_ms,
        fresh=cache is not None and (line.keyer is not None or cache.only) and needs_fresh_call(case),
        case_salt=case.cache_salt,
    )
    return response, provider


def _judged(
    cell: Cell,
    services: Services,
    progress: _Progress,
    evidence: Evidence,
    weighed: Sequence[Weighed],
    started: float,
) -> CaseResult:
    case, response = cell.case, evidence.response
    score, error, error_class = _scored(case.assertions, weighed)
    reason = services.empty_reason(response, evidence)
    status = _status(
        errored=error_class is not None,
        skip=reason is not None and reason in services.suite.runner.skip_on_empty_reason,
        passes=case_passes(weighed, score, case.threshold),
        expect_fail=case.expect_fail is not None,
    )
    asserts = tuple(
        [result_of(a, w.outcome, evidence) for a, w in zip(case.assertions, weighed, strict=True)]
    )
    return CaseResult(
        status=status,
        score=score,
        raw_output=progress.raw_output,
        asserts=asserts,
        named_scores=named_means(asserts),
        error=error,
        error_class=error_class,
        empty_reason=reason,
        unchecked=error_class is None and not [w for w in weighed if _is_judgement(w.outcome)],
        **_of_response(cell, response),
        **_asked(cell, services, progress, started),
    )


def _untransformed(
    cell: Cell, services: Services, progress: _Progress, broken: Untransformed, started: float
) -> CaseResult:
    """An answer that could not be made what is to be judged: kept as far as it came."""
    response = broken.evidence.response
    return CaseResult(
        status=CaseStatus.ERROR,
        error=broken.failure.message,
        error_class=broken.failure.error_class,
        error_details=broken.failure.details,
        empty_reason=services.empty_reason(response, broken.evidence),
        raw_output=progress.raw_output,
        **_of_response(cell, response),
        **_asked(cell, services, progress, started),
    )


def _unanswered(
    cell: Cell, services: Services, progress: _Progress, error: ClassifiedError, started: float
) -> CaseResult:
    """A cell without verdict: with the answer and what graders found, where it came that far."""
    answer: dict[str, Any] = {
        "attempts": progress.attempts, "trace": progress.trace, "request": progress.sent, "raw": progress.raw,
    }  # fmt: skip
    if progress.response is not None:
        answer = {**_of_response(cell, progress.response), "raw_output": progress.raw_output}
    return CaseResult(
        status=CaseStatus.ERROR,
        error=error.message,
        error_class=error.error_class,
        error_details=error.details,
        asserts=tuple(progress.graded),
        **answer,
        **_asked(cell, services, progress, started),
    )


def _of_response(cell: Cell, response: Response) -> dict[str, Any]:
    """The fields of a result that are those of the answer. A stored one was paid for by the run that asked."""
    return {
        "output": response.output,
        "tool_calls": response.tool_calls,
        "stop_reason": response.stop_reason,
        "reported_empty_reason": response.empty_reason,
        "model": response.model,
        "reasoning": response.reasoning,
        "usage": response.usage,
        "cost_usd": response.cost_usd,
        "latency_ms": response.latency_ms,
        "attempts": response.attempts,
        "cached": response.cached or cell.stored is not None,
        "cache_key": response.cache_key,
        "request": response.request,
        "raw": response.raw,
        "log_probs": response.log_probs,
        "metadata": response.metadata,
        "trace": response.trace,
    }


def _asked(cell: Cell, services: Services, progress: _Progress, started: float) -> dict[str, Any]:
    """The fields of a result that do not depend on the answer."""
    case = cell.case
    return {
        "cell": cell.key,
        "index": cell.index,
        "case_key": cell.case_key,
        "repeats": cell.repeats,
        "name": case.description or case.id,
        "tags": case.tags,
        "location": str(case.location) if case.location else None,
        "vars": progress.vars,
        "prompt": _prompt_of(progress.request),
        "expect_fail_reason": case.expect_fail,
        "answered_by_provider_id": progress.answered_by,
        "fallback_attempts": tuple(progress.fallback_attempts),
        "wall_ms": round((time.perf_counter() - started) * 1_000, 3),
        **services.digests(cell),
    }


def _scored(
    assertions: Sequence[Assertion], weighed: Sequence[Weighed]
) -> tuple[float | None, str | None, ErrorClass | None]:
    """The case's score, and what broke if anything did."""
    try:
        score = case_score(weighed)
    except ScoreOverflow as error:
        return None, str(error), ErrorClass.ASSERT_FAILED
    if not [w for w in weighed if w.outcome.status is _ERROR]:
        return score, None, None
    broken = [
        (a.kind, w.outcome) for a, w in zip(assertions, weighed, strict=True) if w.outcome.status is _ERROR
    ]
    kind, first = broken[0]
    more = f" (and {len(broken) - 1} more errored)" if len(broken) > 1 else ""
    classes = [outcome.error_class for _, outcome in broken if outcome.error_class is not None]
    return score, f"{kind} assertion errored: {first.reason}{more}", collapse(classes)


def _status(*, errored: bool, skip: bool, passes: bool, expect_fail: bool) -> CaseStatus:
    """The first of these that applies: error, skip, then the verdict, turned round where a failure is expected."""
    if errored:
        return CaseStatus.ERROR
    if skip:
        return CaseStatus.SKIP
    if expect_fail:
        return CaseStatus.XPASS if passes else CaseStatus.XFAIL
    return _CASE_PASS if passes else CaseStatus.FAIL


def _is_judgement(outcome: Outcome) -> bool:
    return (outcome.status is _PASS or outcome.status is _FAIL) and not outcome.unenforced


def _prompt_of(request: Request | None) -> Json:
    if request is None or (request.text is None and request.transcript is None):
        return None
    return (
        {"text": request.text}
        if request.text is not None
        else {"messages": msgspec.to_builtins(request.transcript)}
    )
