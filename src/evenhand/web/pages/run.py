"""One run: its totals, and its cases as far as a query names them."""

from __future__ import annotations

import msgspec

from evenhand.model.result import Run, RunStatus
from evenhand.report.figures import effort, headline, most_frequent, notes, rate, remedy, tallies
from evenhand.web.case_index import CaseIndex
from evenhand.web.pages.run_plots import RunPlots, run_plots
from evenhand.web.pages.runs import RunRow, run_row
from evenhand.web.queries import ORDERS, CasePage, CaseQuery, find_cases


class ErrorCount(msgspec.Struct, frozen=True, kw_only=True):
    """How often an error of a class came up, and what to do about it."""

    error_class: str
    count: int
    remedy: str


class RunPage(msgspec.Struct, frozen=True, kw_only=True):
    """A run and a part of its cases. `is_indexed` is False while some of them are still being taken in."""

    run: RunRow
    explanation: str
    rate: str
    tallies: tuple[tuple[str, int], ...]
    effort: tuple[str, ...]
    notes: tuple[str, ...]
    errors: tuple[ErrorCount, ...]
    named_scores: dict[str, float]
    query: CaseQuery
    cases: CasePage
    plots: RunPlots
    is_indexed: bool
    is_live: bool
    """Whether the page is to be asked for again, since more may come."""
    orders: tuple[str, ...] = tuple(ORDERS)


def run_page(index: CaseIndex, run: Run, query: CaseQuery, *, is_indexed: bool) -> RunPage:
    """The page of a run."""
    summary = run.summary
    return RunPage(
        run=run_row(run),
        explanation=_explanation(run),
        rate=rate(summary),
        tallies=tuple(tallies(summary)),
        effort=tuple(effort(summary)),
        notes=tuple(notes(run)),
        errors=tuple(
            ErrorCount(error_class=name, count=count, remedy=remedy(name))
            for name, count in most_frequent(summary.error_counts)
        ),
        named_scores=summary.named_scores,
        query=query,
        cases=find_cases(index, run.run_id, query),
        plots=run_plots(index, run.run_id),
        is_indexed=is_indexed,
        is_live=run.exit_code is None or not is_indexed,
    )


def _explanation(run: Run) -> str:
    if run.status is RunStatus.RUNNING:
        return ""
    if run.exit_code is None:
        return f"the run did not reach its end; `evenhand run --resume-run {run.run_id}` goes on with it"
    return headline(run).explanation
