"""The library: load a suite, run it, look at what was learned. The command line adds printing and nothing else.

    from evenhand import load_suite, run_suite

    finished = run_suite(load_suite("evals/"))
    for case in finished.cases(statuses=("fail", "error")):
        print(case.cell.test_id, case.asserts)

`run_suite_async` does the same on an event loop that runs already.
"""

from __future__ import annotations

import asyncio
import io
import os
import threading
from collections.abc import Collection, Coroutine, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from evenhand.cache.opening import cache_directory, open_cache
from evenhand.config.load import load_suite
from evenhand.errors import ExitCode, UsageError
from evenhand.io.event_loop import run_on_loop
from evenhand.model.caching import CacheSettings
from evenhand.model.provider import Session
from evenhand.model.result import CaseResult, CaseStatus, Run, Summary
from evenhand.model.suite import Suite
from evenhand.registry import nearest
from evenhand.report import REPORTS
from evenhand.report.figures import headline, tallies
from evenhand.report.notebook import data_frame, notebook_table
from evenhand.run.estimate import Estimate, estimate
from evenhand.run.known import KeptAnswers
from evenhand.run.options import RunOptions
from evenhand.session.execution import Observer, execute_run
from evenhand.session.planning import plan_run
from evenhand.store.redaction import EnvironmentRedactor
from evenhand.store.state import refuse_planted_links, state_directory, store_path
from evenhand.store.store import RunStore, open_store

__all__ = [
    "Estimate",
    "FinishedRun",
    "Observer",
    "RunOptions",
    "estimate_run",
    "execute_run",
    "load_suite",
    "open_run_store",
    "open_store_of",
    "run_suite",
    "run_suite_async",
]

T = TypeVar("T")


class FinishedRun:
    """A run that is over: its record (`run`), and its cells as a query on the store."""

    def __init__(self, run: Run, store: RunStore) -> None:
        self.run = run
        self._store = store

    def __repr__(self) -> str:
        counts = ", ".join(f"{count:,} {name}" for name, count in tallies(self.summary))
        return f"<FinishedRun {self.run.run_id}: {headline(self.run).word}, {counts}>"

    @property
    def summary(self) -> Summary:
        """Counts and sums over the cells."""
        return self.run.summary

    @property
    def exit_code(self) -> ExitCode:
        """What the command line would exit with."""
        return ExitCode.INTERRUPTED if self.run.exit_code is None else ExitCode(self.run.exit_code)

    @property
    def passed(self) -> bool:
        """Whether something was checked and everything that was checked held."""
        return self.exit_code is ExitCode.OK

    def cases(self, *, statuses: Collection[str] | None = None) -> Iterator[CaseResult]:
        """The results, read from the store as they are asked for.

        `statuses` leaves those that ended so: `pass`, `fail`, `error`, `skip`, `xfail`, `xpass`; one alone may be given
        as a text. Raises `UsageError` for another word.
        """
        wanted = [statuses] if isinstance(statuses, str) else statuses
        return self._store.results(
            self.run.run_id, statuses=None if wanted is None else list(map(_status, wanted))
        )

    def report(self, format: str = "table") -> str:
        """The run as `evenhand run --format` prints it, without colours: `table`, `md`, `html`, `json`, `junit`.

        Good as the message of an assertion in a test: `assert finished.passed, finished.report()`. Raises
        `UsageError` for a format that there is not, or that is no text.
        """
        found = REPORTS.get(format)
        if found is None or not found.is_text:
            names = [name for name, report in REPORTS.items() if report.is_text]
            raise UsageError(f"no format {format!r} that is text; there are {', '.join(names)}")
        out = io.StringIO()
        found.render(self.run, self._cases_with, out)
        return out.getvalue()

    def _cases_with(self, *, statuses: Collection[CaseStatus] | None = None) -> Iterator[CaseResult]:
        return self._store.results(self.run.run_id, statuses=statuses)

    def to_dataframe(self) -> Any:
        """The cells as a table, one row each: a frame of pandas, or of polars where only that is installed.

        The columns are those of `--format csv`. Raises `UsageError` where neither is installed.
        """
        return data_frame(self.run, self._cases_with)

    def _repr_html_(self) -> str:
        """What a notebook shows: the verdict, the counts and the cells to look at first."""
        return notebook_table(self.run, self._cases_with)


def _status(name: str) -> CaseStatus:
    try:
        return CaseStatus(name)
    except ValueError:
        names = [status.value for status in CaseStatus]
        close = nearest(name, names)
        hint = f"did you mean {close!r}?" if close else f"there are {', '.join(names)}"
        raise UsageError(f"no case ends as {name!r}; {hint}") from None


def open_run_store(suite_directory: Path, environ: Mapping[str, str] = os.environ) -> RunStore:
    """The run store that belongs to a suite's folder."""
    return open_store(store_path(state_directory(suite_directory, environ)))


def open_store_of(suite: Suite, environ: Mapping[str, str] = os.environ) -> RunStore:
    """The run store of a suite that is about to run. Raises `StoreError` where a stranger's would write elsewhere."""
    return open_store(store_path(_state_of(suite, environ)))


def _state_of(suite: Suite, environ: Mapping[str, str]) -> Path:
    state = state_directory(suite.directory, environ)
    if suite.confinement is not None and suite.confinement.is_sandbox:
        refuse_planted_links(state, environ)
    return state


def estimate_run(
    suite: Suite, options: RunOptions = RunOptions(), *, store: RunStore | None = None
) -> Estimate:
    """What a run with these options would ask and cost, roughly; nothing is asked and nothing written.

    Answers that are kept are known. `store` is looked into where the options name earlier runs.
    """
    plan = plan_run(suite, options, store=store or open_store(None))
    state = _state_of(suite, os.environ)
    directory = None if options.no_cache else cache_directory(options.cache_dir, os.environ, state)
    if directory is None:
        return estimate(plan)
    cache = open_cache(directory, CacheSettings(), EnvironmentRedactor(os.environ), only=True)
    try:
        return estimate(plan, KeptAnswers(plan.suite, cache))
    finally:
        _wait_for(cache.close())


SuiteLike = Suite | str | os.PathLike[str] | Mapping[str, Any]
"""A suite, or what `load_suite` makes one of: a path, or a mapping with the keys of a suite's file."""


def run_suite(suite: SuiteLike, options: RunOptions = RunOptions(), *, save: bool = True) -> FinishedRun:
    """Run a suite and wait for its end; works in scripts and inside a running event loop (notebooks).

    `suite` is what `load_suite` returned, or what it would be given. With `save` the run goes into the suite's store,
    where `evenhand view` finds it; else it is kept in memory, answers are not kept, and the disk stays as it is.

    That something failed is a result, see `FinishedRun.passed`. Raises `SuiteError` where the suite is wrong or a
    key is missing, `UsageError` for options that cannot be met, `GeneratorError`, `ServerError` and `StoreError`
    where a program that makes cases, a server of the suite or the store fails; all of them are `EvenhandError`.
    """
    return _wait_for(run_suite_async(suite, options, save=save))


async def run_suite_async(
    suite: SuiteLike,
    options: RunOptions = RunOptions(),
    *,
    save: bool = True,
    sessions: Mapping[str, Session] | None = None,
) -> FinishedRun:
    """Run a suite on the running event loop, as `run_suite` does. `sessions` replaces providers by id, with fakes."""
    if not isinstance(suite, Suite):
        suite = load_suite(suite)
    if not isinstance(options, RunOptions):
        raise UsageError(f"options must be a `RunOptions`, found {type(options).__name__}")
    store = open_store_of(suite) if save else open_store(None)
    return FinishedRun(await execute_run(suite, options, store=store, sessions=sessions), store)


def _wait_for(coroutine: Coroutine[Any, Any, T]) -> T:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return run_on_loop(coroutine)
    outcome: list[T] = []
    error: list[BaseException] = []

    def work() -> None:
        try:
            outcome.append(run_on_loop(coroutine))
        except BaseException as problem:  # noqa: BLE001  (it is raised again in the caller's thread)
            error.append(problem)

    thread = threading.Thread(target=work, name="evenhand-run")
    thread.start()
    thread.join()
    if error:
        raise error[0]
    return outcome[0]
