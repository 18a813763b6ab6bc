"""Which runs a person means: an id, `latest`, a branch, a file."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import msgspec

from evenhand.compare.pins import pinned
from evenhand.compare.run_file import read_run_file
from evenhand.errors import UsageError
from evenhand.model.result import Run, RunStatus
from evenhand.model.suite import Suite
from evenhand.store.documents import RunDocuments
from evenhand.store.store import LATEST, RunStore

BRANCH = "branch:"
"""How a reference to the composite of a branch begins."""

MAX_BRANCH_RUNS = 20
"""Runs that a branch's composite is put together from, at most."""

BASELINE = "baseline"
"""Reference to the run that somebody named the suite's baseline."""

NONE = "none"
"""Reference to no baseline at all."""


class SuiteIdentity(msgspec.Struct, frozen=True):
    """What makes two runs runs of the same suite: its file, or on another machine its names."""

    path: str
    project: str | None = None
    suite: str | None = None

    @classmethod
    def of(cls, suite: Suite) -> SuiteIdentity:
        """The identity of a loaded suite."""
        return cls(str(suite.path.resolve()), suite.project, suite.suite)

    @classmethod
    def of_run(cls, run: Run) -> SuiteIdentity:
        """The identity of the suite that a run was made of."""
        return cls(run.suite_path, run.project, run.suite)

    def has(self, run: Run) -> bool:
        """Whether a run is of this suite."""
        if run.suite_path == self.path:
            return True
        return self.suite is not None and (run.suite, run.project) == (self.suite, self.project)


class Reference(msgspec.Struct, frozen=True):
    """Runs to compare with: one, or those of a branch, the newest first."""

    label: str
    runs: tuple[Run, ...]
    store: RunStore

    @property
    def newest(self) -> Run:
        """The run whose word counts most."""
        return self.runs[0]

    @property
    def run_ids(self) -> tuple[str, ...]:
        """The ids of the runs."""
        return tuple(run.run_id for run in self.runs)

    def documents(self) -> RunDocuments:
        """The results."""
        return self.store.documents(self.run_ids)


class NothingYet(UsageError):
    """A reference to runs of which there are none so far: a branch or a suite that was never run."""


def resolve(
    text: str, store: RunStore, *, suite: SuiteIdentity | None = None, without: str | None = None
) -> Reference:
    """The runs that a reference means, in the store or in a file.

    `suite` narrows `latest` and branches to the runs of one suite; `without` is a run that they pass over. Raises
    `NothingYet` where a branch or suite has no run so far, and `UsageError` where what is named cannot be had.
    """
    if text.startswith(BRANCH):
        return _branch(text, store, suite, without)
    if text == LATEST and suite is not None:
        # One that goes on, or was killed, is no run to compare with.
        ended = (run for run in store.runs() if run.status is not RunStatus.RUNNING)
        found = next((run for run in ended if suite.has(run) and run.run_id != without), None)
        if found is None:
            raise NothingYet("there is no run of this suite yet; start one with `evenhand run`")
        return Reference(found.run_id, (found,), store)
    if text == BASELINE:
        return _pinned(store, suite, without)
    path = Path(text)
    if _looks_like_path(text) or _is_file(path):
        run, held = read_run_file(path)
        return Reference(text, (run,), held)
    run = store.find(text)
    return Reference(run.run_id, (run,), store)


def _pinned(store: RunStore, suite: SuiteIdentity | None, without: str | None) -> Reference:
    named = pinned(store.path.parent, suite.path) if store.path is not None and suite is not None else None
    if named is None:
        raise NothingYet("no baseline is named for this suite; name one with `evenhand baseline set RUN`")
    return resolve(named, store, suite=suite, without=without)


def _branch(text: str, store: RunStore, suite: SuiteIdentity | None, without: str | None) -> Reference:
    branch = text.removeprefix(BRANCH)
    if not branch:
        raise UsageError("`branch:` names no branch; write one behind it, as in `branch:main`")
    if suite is None:
        newest = next(_runs_of(branch, store, None, without), None)
        suite = SuiteIdentity.of_run(newest) if newest is not None else None
    runs = tuple(itertools.islice(_runs_of(branch, store, suite, without), MAX_BRANCH_RUNS))
    if not runs:
        raise NothingYet(f"there is no finished run on branch {branch!r} yet; start one there")
    return Reference(text, runs, store)


def _runs_of(branch: str, store: RunStore, suite: SuiteIdentity | None, without: str | None) -> Iterator[Run]:
    """A branch's runs that came to an end, also an early one: what finished in them counts."""
    for run in store.runs():
        if run.run_id == without or run.status is RunStatus.RUNNING or run.git is None:
            continue
        if run.git.branch == branch and (suite is None or suite.has(run)):
            yield run


def _looks_like_path(text: str) -> bool:
    return "/" in text or "\\" in text or text.endswith(".json")


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
