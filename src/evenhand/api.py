"""The library: load a suite, run it, look at what was learned. The command line adds printing and nothing else.

from evenhand import load_suite, run_suite

finished = run_suite(load_suite("evals/"))
for case in finished.cases(statuses=("fail", "error")):
    print(case.cell.test_id, case.asserts)
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Collection, Coroutine, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Protocol, TypeVar

import msgspec

from evenhand.analysis.summary import SummaryFold
from evenhand.analysis.verdict import exit_code
from evenhand.config.load import load_suite
from evenhand.errors import ExitCode, StoreError, UsageError
from evenhand.model.provider import Session
from evenhand.model.result import CaseResult, CaseStatus, Filters, Run, RunStatus, Summary
from evenhand.model.suite import Suite
from evenhand.io.provenance import git_state, new_run_id, utc_now
from evenhand.run.local import LocalExecutor
from evenhand.run.plan import Plan
from evenhand.run.services import Services
from evenhand.store.redaction import Redactor, secret_values
from evenhand.store.state import state_directory
from evenhand.store.store import RunStore, RunWriter, open_store
from evenhand.version import __version__

__all__ = [
    "FinishedRun",
    "Observer",
    "RunOptions",
    "execute_run",
    "load_suite",
    "open_run_store",
    "run_suite",
    "run_suite_async",
]

T = TypeVar("T")
Meta = msgspec.Meta

BACKLOG_LIMIT = 2_000
"""Results that may wait for the disk before the run slows down to it."""

NOT_PASSING = frozenset({CaseStatus.FAIL, CaseStatus.ERROR, CaseStatus.XPASS})


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a caller may ask of a run beside what the suite says."""

    tags: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    failed: bool = False
    """Only the failed and errored cells of the suite's last run."""
    max_failures: Annotated[int, Meta(ge=1)] | None = None
    """End the run after so many failed or errored cells."""
    allow_empty: bool = False
    allow_unchecked: bool = False
    repeat: Annotated[int, Meta(ge=1)] = 1
    concurrency: Annotated[int, Meta(ge=1)] | None = None
    retries: Annotated[int, Meta(ge=0)] | None = None
    timeout_ms: float | None = None
    resume: bool = False
    """Finish the suite's latest unfinished run."""
    resume_run: str | None = None
    """Finish this run."""


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


class FinishedRun:
    """A run that is over: its record, and its cells as a query on the store."""

    def __init__(self, run: Run, store: RunStore) -> None:
        self.run = run
        self._store = store

    @property
    def summary(self) -> Summary:
        """Counts and sums over the cells."""
        return self.run.summary

    @property
    def exit_code(self) -> ExitCode:
        """What the command line would exit with."""
        return ExitCode(self.run.exit_code or 0)

    @property
    def passed(self) -> bool:
        """Whether something was checked and everything that was checked held."""
        return self.exit_code is ExitCode.OK

    def cases(self, *, statuses: Collection[str] | None = None) -> Iterator[CaseResult]:
        """The results, read from the store as they are asked for."""
        return self._store.results(self.run.run_id, statuses=statuses)


def open_run_store(suite_directory: Path, environ: Mapping[str, str] = os.environ) -> RunStore:
    """The run store that belongs to a suite's folder."""
    return open_store(state_directory(suite_directory, environ) / "runs.sqlite")


def run_suite(suite: Suite, options: RunOptions = RunOptions(), *, save: bool = True) -> FinishedRun:
    """Run a suite and wait for its end; works in scripts and inside a running event loop (notebooks).

    With `save` the run goes into the suite's store, where `evenhand view` finds it; else it is kept in memory.
    """
    return _wait_for(run_suite_async(suite, options, save=save))


async def run_suite_async(
    suite: Suite,
    options: RunOptions = RunOptions(),
    *,
    save: bool = True,
    sessions: Mapping[str, Session] | None = None,
) -> FinishedRun:
    """Run a suite on the running event loop. `sessions` replaces providers by id, for tests with fakes."""
    store = open_run_store(suite.directory) if save else open_store(None)
    return FinishedRun(await execute_run(suite, options, store=store, sessions=sessions), store)


async def execute_run(
    suite: Suite,
    options: RunOptions,
    *,
    store: RunStore,
    observer: Observer | None = None,
    sessions: Mapping[str, Session] | None = None,
) -> Run:
    """Run what the options ask for and store it; an interruption ends in a partial run that says so.

    Raises `UsageError` for options that cannot be met and `StoreError` where results cannot be kept.
    """
    suite = _with_overrides(suite, options)
    fold = SummaryFold()
    run, finished = (
        _resumed(suite, options, store, fold) if options.resume or options.resume_run else (None, ())
    )
    plan = _plan(suite, options, store, run, finished)
    total = plan.total()
    writer = _writer(suite, options, store, plan, run, total)
    if observer:
        observer.started(writer.run, total)
    status = await _execute(suite, plan, writer, fold, options.max_failures, observer, sessions)
    summary = fold.summary()
    ended = msgspec.structs.replace(
        writer.run,
        status=status,
        finished_at=utc_now(),
        summary=summary,
        exit_code=_exit_code(summary, status, options),
    )
    writer.finish(ended)
    if observer:
        observer.ended(ended)
    return ended


def _exit_code(summary: Summary, status: RunStatus, options: RunOptions) -> ExitCode:
    if status is RunStatus.INTERRUPTED:
        return ExitCode.INTERRUPTED
    return exit_code(summary, allow_unchecked=options.allow_unchecked, allow_empty=options.allow_empty)


async def _execute(
    suite: Suite,
    plan: Plan,
    writer: RunWriter,
    fold: SummaryFold,
    max_failures: int | None,
    observer: Observer | None,
    sessions: Mapping[str, Session] | None,
) -> RunStatus:
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
        while writer.backlog > BACKLOG_LIMIT:
            await asyncio.sleep(0.005)

    try:
        async with Services(suite, plan.providers, sessions=sessions) as services:
            await LocalExecutor(suite.runner.concurrency).run(plan, services, consume, keep_up=keep_up)
    except asyncio.CancelledError:
        return RunStatus.INTERRUPTED
    except ExceptionGroup as group:
        raise _first_expected(group) from None
    stopped = max_failures is not None and failures >= max_failures
    return RunStatus.STOPPED if stopped else RunStatus.FINISHED


def _first_expected(group: ExceptionGroup[Exception]) -> Exception:
    """What stopped the workers: the store's failure where there is one."""
    stores = group.subgroup(StoreError)
    return stores.exceptions[0] if stores else group.exceptions[0]


def _wait_for(coroutine: Coroutine[Any, Any, T]) -> T:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    outcome: list[T] = []
    error: list[BaseException] = []

    def work() -> None:
        try:
            outcome.append(asyncio.run(coroutine))
        except BaseException as problem:  # noqa: BLE001  (it is raised again in the caller's thread)
            error.append(problem)

    thread = threading.Thread(target=work, name="evenhand-run")
    thread.start()
    thread.join()
    if error:
        raise error[0]
    return outcome[0]
