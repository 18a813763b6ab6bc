"""The list of runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from evenhand.model.result import CaseStatus, Run, RunStatus, Summary
from evenhand.report.figures import headline, percent
from evenhand.store.store import RunStore
from evenhand.web.plots import Point, trend

PAGE_SIZE = 50

MAX_LOOKED_AT = 2_000
"""Runs that are looked through for those that an address asks for."""


class RunQuery(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which runs are shown; every field is a parameter of the address."""

    suite: str = ""
    branch: str = ""
    tag: str = ""
    status: str = ""
    since: str = ""
    """The first day, as `2026-11-30`."""
    until: str = ""
    before: str = ""
    """The run behind which the page begins."""

    @classmethod
    def of(cls, parameters: Mapping[str, list[str]]) -> RunQuery:
        """The query of an address; unknown parameters are left out."""
        return cls(
            **{name: parameters[name][-1][:500] for name in cls.__struct_fields__ if parameters.get(name)}
        )

    def admits(self, run: Run) -> bool:
        """Whether a run belongs on the page."""
        day = run.started_at[:10]
        return (
            (not self.suite or self.suite == suite_name(run))
            and (not self.branch or self.branch == (run.git.branch if run.git else None))
            and (not self.tag or self.tag in run.filters.tags)
            and (not self.status or self.status == headline(run).word.lower())
            and (not self.since or day >= self.since)
            and (not self.until or day <= self.until)
        )


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    """One run in the list."""

    run_id: str
    suite: str
    started_at: str
    word: str
    good: bool
    is_running: bool
    total: int
    planned: int | None
    passed: int
    failed: int
    errored: int
    skipped: int
    pass_rate: float | None
    pass_rate_low: float | None
    pass_rate_high: float | None
    cost_usd: float | None
    wall_ms: float | None
    branch: str | None
    commit: str | None


class Trend(msgspec.Struct, frozen=True, kw_only=True):
    """The pass rates of a suite's runs on the page, from the oldest to the newest."""

    suite: str
    points: tuple[Point, ...]
    latest: float


class RunsPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of runs, the one begun last first; `more` is the run behind which the next page begins."""

    query: RunQuery
    rows: tuple[RunRow, ...]
    more: str | None
    suites: tuple[str, ...]
    branches: tuple[str, ...]
    trends: tuple[Trend, ...]


def runs_page(store: RunStore, query: RunQuery) -> RunsPage:
    """The runs that a query names."""
    rows: list[RunRow] = []
    suites: set[str] = set()
    branches: set[str] = set()
    more = None
    waiting = bool(query.before)
    for run in store.runs(limit=MAX_LOOKED_AT):
        suites.add(suite_name(run))
        if run.git and run.git.branch:
            branches.add(run.git.branch)
        if waiting:
            waiting = run.run_id != query.before
        elif query.admits(run):
            if len(rows) == PAGE_SIZE:
                more = rows[-1].run_id
                break
            rows.append(run_row(as_it_stands(store, run)))
    return RunsPage(
        query=query,
        rows=tuple(rows),
        more=more,
        suites=tuple(sorted(suites)),
        branches=tuple(sorted(branches)),
        trends=tuple(_trends(rows)),
    )


def _trends(rows: list[RunRow]) -> Iterator[Trend]:
    by_suite: dict[str, list[tuple[float, str, str]]] = {}
    for row in reversed(rows):
        if row.pass_rate is not None:
            label = f"{row.started_at[:16]}: {percent(row.pass_rate)}"
            by_suite.setdefault(row.suite, []).append((row.pass_rate, label, f"/runs/{row.run_id}"))
    for suite, shares in by_suite.items():
        if len(shares) > 1:
            yield Trend(suite=suite, points=trend(shares), latest=shares[-1][0])


def as_it_stands(store: RunStore, run: Run) -> Run:
    """A run with what is known of it at this moment: while it goes on, the counts of its committed results.

    One that says it is running while no process writes it did not reach its end; nor has it an exit code.
    """
    alive = store.goes_on(run.run_id)
    if run.status is not RunStatus.RUNNING and not alive:
        return run
    counts = store.status_counts(run.run_id)
    summary = Summary(total=sum(counts.values()))
    for status, field in _FIELDS.items():
        summary = msgspec.structs.replace(summary, **{field: counts.get(status, 0)})
    now = RunStatus.INTERRUPTED if alive is False else RunStatus.RUNNING
    return msgspec.structs.replace(run, status=now, exit_code=None, finished_at=None, summary=summary)


_FIELDS = {
    CaseStatus.PASS: "passed",
    CaseStatus.FAIL: "failed",
    CaseStatus.ERROR: "errored",
    CaseStatus.SKIP: "skipped",
    CaseStatus.XFAIL: "xfailed",
    CaseStatus.XPASS: "xpassed",
}


def run_row(run: Run) -> RunRow:
    """What a list says of a run."""
    summary, verdict = run.summary, headline(run)
    return RunRow(
        run_id=run.run_id,
        suite=suite_name(run),
        started_at=run.started_at,
        word=verdict.word,
        good=verdict.good,
        is_running=run.status is RunStatus.RUNNING,
        total=summary.total,
        planned=run.planned_cells,
        passed=summary.passed,
        failed=summary.failed + summary.xpassed,
        errored=summary.errored,
        skipped=summary.skipped,
        pass_rate=summary.pass_rate,
        pass_rate_low=summary.pass_rate_low,
        pass_rate_high=summary.pass_rate_high,
        cost_usd=summary.cost_usd,
        wall_ms=summary.wall_ms,
        branch=run.git.branch if run.git else None,
        commit=run.git.commit if run.git else None,
    )


def suite_name(run: Run) -> str:
    """What lists call the suite of a run."""
    return run.suite or run.project or run.suite_path
