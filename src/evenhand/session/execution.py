"""Carries a run out: what it needs around it, its cells, and the record of what came back."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol

import msgspec

from evenhand.analysis.summary import SummaryFold
from evenhand.analysis.verdict import exit_code
from evenhand.cache.answers import AnswerCache
from evenhand.cache.opening import cache_directory, open_cache
from evenhand.compare.against import Against, baseline_is_missing, find_baseline, judged_against
from evenhand.errors import ExitCode, StoreError, SuiteError, UsageError
from evenhand.io.provenance import git_state, new_run_id, utc_now
from evenhand.io.servers import serving
from evenhand.model.provider import Session
from evenhand.model.result import (
    NOT_PASSING,
    CaseResult,
    LimitHistory,
    Run,
    RunStatus,
    Spending,
    Summary,
    Terms,
)
from evenhand.model.suite import Suite
from evenhand.providers.header_secrets import secrets_written_in
from evenhand.run.budget import Budget
from evenhand.run.known import KeptAnswers
from evenhand.run.local import LocalExecutor
from evenhand.run.options import RunOptions, check_options, resumed_options, terms_of, with_overrides
from evenhand.run.plan import Plan
from evenhand.run.preflight import called_providers, missing_credentials, missing_graders, missing_packages
from evenhand.run.services import Services
from evenhand.session.planning import plan_of, run_to_resume
from evenhand.store.calibrations import corrected, stored_calibrations
from evenhand.store.redaction import EnvironmentRedactor, Redactor
from evenhand.store.run_writer import RunWriter
from evenhand.store.store import RunStore
from evenhand.version import __version__

if TYPE_CHECKING:
    from evenhand.traces.collector import Collector

BACKLOG_LIMIT = 500
"""Results that may wait for the disk before the run slows down to it."""


class Observer(Protocol):
    """Hears of a run's progress; each method must return quickly."""

    def started(self, run: Run, total: int | None) -> None:
        """The run begins with `total` cells to do, None where that is unknown."""
        ...

    def finished_cell(self, result: CaseResult) -> None:
        """One cell is done."""
        ...

    def ended(self, run: Run) -> None:
        """The run is over and stored."""
        ...


async def execute_run(
    suite: Suite,
    options: RunOptions,
    *,
    store: RunStore,
    observer: Observer | None = None,
    sessions: Mapping[str, Session] | None = None,
) -> Run:
    """Run what the options ask for and store it; an interruption ends in a partial run that says so.

    Raises `SuiteError` where a selected case lacks a grader or a provider its key, `UsageError` for options that
    cannot be met, `ServerError` where a server of the suite does not come up, and `StoreError` where results
    cannot be kept.
    """
    check_options(options)
    fold = SummaryFold()
    resumed = run_to_resume(suite, options, store)
    options = options if resumed is None else resumed_options(options, resumed)
    suite = with_overrides(suite, options)
    plan = plan_of(suite, options, store, resumed)
    against = _against(suite, options, store, resumed)
    total = plan.total()
    redactor = _redactor(plan, sessions or {}, options)
    cache = _cache(suite, options, store, redactor)
    idle = total == 0 or options.cache_only or not plan.calls_providers
    async with _surroundings(suite, idle=idle) as traces:
        run = resumed or _new_run(suite, plan, total, against, terms_of(options, suite))
        budget = _budget(suite, cache, fold, store.results(run.run_id) if resumed else ())
        reopened = store.reopen(run.run_id, redactor=redactor) if resumed else None
        writer = reopened or store.begin(run, redactor=redactor)
        if observer:
            observer.started(run, total)
        started = time.monotonic()
        services = Services(
            suite, plan.opened(), sessions=sessions, budget=budget, cache=cache, traces=traces
        )
        ending = await _execute(plan, services, writer, fold, options.max_failures, observer)
    ended = _ended(run, ending, fold.summary(wall_ms=round((time.monotonic() - started) * 1_000, 3)))
    if ending.status is RunStatus.FINISHED:
        writer.flush()
        ended = judged_against(_with_correction(ended, suite, store), against, suite, store)
    ended = msgspec.structs.replace(ended, exit_code=_exit_code(ended, options, against))
    writer.finish(ended)
    # Reports are made of what is returned here.
    ended = redactor.clean_value(ended)
    if observer:
        observer.ended(ended)
    return ended


@contextlib.asynccontextmanager
async def _surroundings(suite: Suite, *, idle: bool) -> AsyncIterator[Collector | None]:
    """What a run needs around it: the receiver of traces, which servers may want to know of, and the servers."""
    if idle:
        yield None
        return
    async with contextlib.AsyncExitStack() as stack:
        traces = None
        if suite.tracing.enabled:
            from evenhand.traces.receiver import receiving

            traces = await stack.enter_async_context(receiving(suite.tracing))
        await stack.enter_async_context(serving(suite.servers, suite.directory))
        yield traces


def _budget(
    suite: Suite, cache: AnswerCache | None, fold: SummaryFold, before: Iterable[CaseResult]
) -> Budget | None:
    """The limit on the run's cost, None where there is none. What was learned before is folded in.

    Where nothing but kept answers is used, nothing can be spent.
    """
    limit = None if cache is not None and cache.only else suite.runner.max_cost_usd
    kept = None if cache is None else KeptAnswers(suite, cache).has_answer
    budget = None if limit is None else Budget(limit, suite, kept)
    for result in before:
        fold.add(result)
        if budget is not None:
            budget.take_in(result)
    return budget


def _redactor(plan: Plan, sessions: Mapping[str, Session], options: RunOptions) -> Redactor:
    """What takes secrets out of results. Raises `SuiteError` where a grader or a credential is missing."""
    missing = missing_graders(plan)
    called = called_providers(plan)
    if plan.calls_providers and not options.cache_only:
        missing += missing_packages(called, replaced=sessions)
        missing += missing_credentials(called, os.environ, replaced=sessions)
    if missing:
        raise SuiteError(missing)
    named = {name for provider in called for name in provider.credentials}
    if plan.suite.cache.http is not None and plan.suite.cache.http.token_env:
        named.add(plan.suite.cache.http.token_env)
    written = {value for provider in called for value in provider.secrets(plan.suite.env)}
    written.update(secrets_written_in(plan.suite.snapshot))
    return EnvironmentRedactor(os.environ, named=named, further=written)


def _cache(suite: Suite, options: RunOptions, store: RunStore, redactor: Redactor) -> AnswerCache | None:
    """The kept answers of the run; None where there are none. Raises `UsageError`."""
    if options.no_cache:
        return None
    state = None if store.path is None else store.path.parent
    directory = cache_directory(options.cache_dir, os.environ, state)
    if directory is None:
        if options.cache_only:
            raise UsageError("a run in memory keeps no answers that could be used alone; name a `cache_dir`")
        return None
    return open_cache(directory, suite.cache, redactor, only=options.cache_only)


def _against(suite: Suite, options: RunOptions, store: RunStore, resumed: Run | None) -> Against | None:
    """The baseline, found before anything is paid for."""
    asked = options.against or (resumed.baseline if resumed else None)
    return find_baseline(asked, suite, store, without=resumed.run_id if resumed else None)


def _with_correction(run: Run, suite: Suite, store: RunStore) -> Run:
    """The run with the rate that its judge's verdicts stand for, where the judge was calibrated."""
    if store.path is None or not suite.has_graded_cases or not suite.graders.judges:
        return run
    calibration = stored_calibrations(store.path.parent).get(suite.digests.get("grader", ""))
    if calibration is None:
        return run
    return msgspec.structs.replace(run, corrected=corrected(store.results(run.run_id), calibration))


def _exit_code(run: Run, options: RunOptions, against: Against | None) -> ExitCode:
    if run.status is RunStatus.INTERRUPTED:
        return ExitCode.INTERRUPTED
    if run.spending is not None and run.spending.is_reached:
        return ExitCode.HARNESS  # what was left out may be what fails
    return exit_code(
        run.summary,
        allow_unchecked=options.allow_unchecked,
        allow_empty=options.allow_empty,
        baseline_missing=run.status is RunStatus.FINISHED and baseline_is_missing(run, against),
        newly_failing=run.comparison.newly_failing if run.comparison else 0,
        gate=run.gate,
    )


class _Ending(NamedTuple):
    """How the cells of a run came to their end."""

    status: RunStatus
    limits: tuple[LimitHistory, ...]
    spending: Spending | None


def _ended(run: Run, ending: _Ending, summary: Summary) -> Run:
    return msgspec.structs.replace(
        run,
        status=ending.status,
        finished_at=utc_now(),
        limits=(*run.limits, *ending.limits),
        spending=ending.spending,
        summary=summary,
    )


async def _execute(
    plan: Plan,
    services: Services,
    writer: RunWriter,
    fold: SummaryFold,
    max_failures: int | None,
    observer: Observer | None,
) -> _Ending:
    failures = 0

    def consume(result: CaseResult) -> bool:
        nonlocal failures
        writer.add(result)
        fold.add(result)
        if observer:
            observer.finished_cell(result)
        failures += result.status in NOT_PASSING
        return max_failures is None or failures < max_failures

    async def keep_up() -> None:
        await asyncio.sleep(0)
        while writer.backlog > BACKLOG_LIMIT:  # noqa: ASYNC110  (the other side is a thread)
            await asyncio.sleep(0.005)

    status = RunStatus.FINISHED
    try:
        async with _closing(services.cache), services:
            executor = LocalExecutor(plan.suite.runner.concurrency)
            if await executor.run(plan, services, consume, keep_up=keep_up):
                status = RunStatus.STOPPED
    except asyncio.CancelledError:
        status = RunStatus.INTERRUPTED
    except ExceptionGroup as group:
        raise _first_expected(group) from None
    budget = services.budget
    return _Ending(status, services.limit_histories(), None if budget is None else budget.spending())


@contextlib.asynccontextmanager
async def _closing(cache: AnswerCache | None) -> AsyncIterator[None]:
    try:
        yield
    finally:
        if cache is not None:
            await cache.close()


def _first_expected(group: ExceptionGroup[Exception]) -> Exception:
    """What stopped the workers: the store's failure where there is one."""
    stores = group.subgroup(StoreError)
    return stores.exceptions[0] if stores else group.exceptions[0]


def _is_sandboxed(suite: Suite) -> bool:
    """Whether the suite is from a stranger, whose repository could make git start programs."""
    return suite.confinement is not None and suite.confinement.is_sandbox


def _new_run(suite: Suite, plan: Plan, total: int | None, against: Against | None, terms: Terms) -> Run:
    return Run(
        run_id=new_run_id(),
        project=suite.project,
        suite=suite.suite,
        suite_path=str(suite.path.resolve()),
        started_at=utc_now(),
        evenhand_version=__version__,
        config_digest=suite.digest,
        config_snapshot=suite.snapshot,
        digests=dict(suite.digests),
        git=None if _is_sandboxed(suite) else git_state(suite.directory),
        filters=plan.filters,
        terms=terms,
        repeat=plan.repeat or 1,
        planned_cells=total,
        baseline=against.asked if against else None,
        origin=plan.origin,
    )
