"""Stored runs as commands show them: the page they go on, and parts of them."""

from __future__ import annotations

import contextlib
import functools
import os
import re
from collections.abc import Collection, Iterator
from pathlib import Path

import msgspec

from evenhand.analysis.summary import SummaryFold
from evenhand.api import open_run_store
from evenhand.cache.inspecting import kept_question
from evenhand.cache.opening import cache_directory
from evenhand.cli.locate import shown_path, suite_directory, view_command
from evenhand.cli.terminal import WIDTH_ELSEWHERE
from evenhand.errors import UsageError
from evenhand.model.result import NOT_PASSING, CaseResult, CaseStatus, Run
from evenhand.registry import nearest
from evenhand.report import Cases, Page
from evenhand.store.state import state_directory
from evenhand.store.store import RunStore, open_store

_RUNS_BACK = 50
_IDS_COMPARED = 10_000
_GLOB_SIGN = re.compile(r"[*?\[]")


@contextlib.contextmanager
def opened(suite: Path) -> Iterator[RunStore]:
    """The run store of a suite's folder. Where there is none yet, an empty one: looking leaves no trace."""
    directory = suite_directory(suite)
    exists = state_directory(directory, os.environ).is_dir()
    with open_run_store(directory) if exists else open_store(None) as store:
        yield store


def page_of(run: Run, store: RunStore, suite_path: Path) -> Page:
    """What a report says of where the run is kept and how it is shown again."""
    state = state_directory(suite_directory(suite_path), os.environ)
    kept_answers = cache_directory(None, os.environ, state) or state
    return Page(
        width=WIDTH_ELSEWHERE,
        stored_in=shown_path(store.path) if store.path else None,
        view_command=view_command(run, suite_path),
        kept_question=functools.partial(kept_question, kept_answers),
    )


def cases_of(run: Run, store: RunStore) -> Cases:
    """All results of a run."""
    return functools.partial(store.results, run.run_id)


def chosen_cases(run: Run, store: RunStore, selector: str) -> Cases:
    """The results that a person means: of one test id, with one case key, or with ids that match a glob.

    Raises `UsageError` where there is none.
    """
    # Ids of matrix cases hold brackets, which a glob would read as a class of characters.
    as_it_is = functools.partial(store.results, run.run_id, test_glob=_GLOB_SIGN.sub(r"[\g<0>]", selector))
    as_pattern = functools.partial(store.results, run.run_id, test_glob=selector)
    for candidate in (as_it_is, _with_key(run, store, selector), as_pattern):
        if next(candidate(), None) is not None:
            return candidate
    ids = {
        case.cell.test_id for _, case in zip(range(_IDS_COMPARED), store.results(run.run_id), strict=False)
    }
    close = nearest(selector, ids)
    hint = f"did you mean {close!r}?" if close else "`--format jsonl` lists what there is"
    raise UsageError(f"--case: run {run.run_id} has no case {selector!r}; {hint}")


def before(run: Run, store: RunStore, case: CaseResult) -> tuple[str, CaseResult] | None:
    """What a case came to in the last run of its suite before this one, with that run's id."""
    for other in store.runs(suite=run.suite_path, limit=_RUNS_BACK):
        if other.started_at < run.started_at and other.run_id != run.run_id:
            result = store.result(other.run_id, case.case_key)
            if result is not None:
                return other.run_id, result
    return None


def not_passing(cases: Cases) -> Cases:
    """The results of a query that somebody must look at."""

    def query(*, statuses: Collection[CaseStatus] | None = None) -> Iterator[CaseResult]:
        return cases(statuses=[s for s in NOT_PASSING if statuses is None or s in statuses])

    return query


def recounted(run: Run, cases: Cases) -> Run:
    """The run with the summary of just these results."""
    fold = SummaryFold()
    for case in cases():
        fold.add(case)
    return msgspec.structs.replace(run, summary=fold.summary())


def _with_key(run: Run, store: RunStore, key: str) -> Cases:
    def query(*, statuses: Collection[CaseStatus] | None = None) -> Iterator[CaseResult]:
        case = store.result(run.run_id, key)
        if case is not None and (statuses is None or case.status in statuses):
            yield case

    return query
