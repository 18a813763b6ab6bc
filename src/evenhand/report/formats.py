"""The formats a run can be reported in, declared once: `--format`, the reference and `--out` derive from `REPORTS`."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Iterator
from typing import Protocol, TextIO

import msgspec

from evenhand.model.exchange import Json
from evenhand.model.result import CaseResult, CaseStatus, Run


class Cases(Protocol):
    """The results of a run as a query: each call reads them again, and nobody ever holds all of them."""

    def __call__(self, *, statuses: Collection[CaseStatus] | None = None) -> Iterator[CaseResult]:
        """The results in the run's order; with `statuses` only those that ended so."""
        ...


def _no_question(_: str) -> Json:
    return None


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """What a report for people may know about where it is read. Formats for machines do not depend on it."""

    width: int = 80
    """Terminal columns that a line may take."""
    color: bool = False
    stored_in: str | None = None
    """Where the run is kept, as text to show."""
    view_command: str = "evenhand view"
    """The command that shows this run again; options can be added at its end."""
    kept_question: Callable[[str], Json] = _no_question
    """What the kept answer under a key answers, None where it is not kept any more."""


PLAIN_PAGE = Page()
"""A page that nothing is known about."""


class Render(Protocol):
    """Writes one report. The stream takes any text that is valid UTF-8; `table` also respects other encodings."""

    def __call__(self, run: Run, cases: Cases, out: TextIO, page: Page = PLAIN_PAGE) -> None: ...


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """One format: how it is named, what it is for, how its files end."""

    name: str
    description: str
    suffix: str
    render: Render
    is_text: bool = True
    """Whether it writes text; others write into the binary stream beneath."""
    follows_terminal: bool = False
    """Whether it takes on the width, the colours and the encoding of the terminal; others are always UTF-8."""


def _for_people(module: str) -> Render:
    """The `render` of a module that is imported on first use: choosing a format must not load them all."""

    def render(run: Run, cases: Cases, out: TextIO, page: Page = PLAIN_PAGE) -> None:
        importlib.import_module(module).render(run, cases, out, page)

    return render


def _for_machines(module: str) -> Render:
    """The same for a format that looks alike wherever it is read."""

    def render(run: Run, cases: Cases, out: TextIO, page: Page = PLAIN_PAGE) -> None:  # noqa: ARG001
        importlib.import_module(module).render(run, cases, out)

    return render


REPORTS: dict[str, Report] = {
    report.name: report
    for report in (
        Report(
            name="table",
            description="For the terminal: failures and errors with what was found, then counts and rates.",
            suffix=".txt",
            render=_for_people("evenhand.report.table"),
            follows_terminal=True,
        ),
        Report(
            name="json",
            description="The whole run as one JSON document; `evenhand schema run` prints its schema.",
            suffix=".json",
            render=_for_machines("evenhand.report.json"),
        ),
        Report(
            name="jsonl",
            description="One JSON object a line for each cell, for data tools and for runs of any size.",
            suffix=".jsonl",
            render=_for_machines("evenhand.report.jsonl"),
        ),
        Report(
            name="junit",
            description="JUnit XML for continuous integration: one test case a cell, with each assertion's reason.",
            suffix=".xml",
            render=_for_machines("evenhand.report.junit"),
        ),
        Report(
            name="md",
            description="Markdown for a pull request or a job summary: headline, failures, errors.",
            suffix=".md",
            render=_for_people("evenhand.report.md"),
        ),
        Report(
            name="html",
            description="One page that needs no server and asks for nothing: figures, and every case to unfold.",
            suffix=".html",
            render=_for_people("evenhand.report.html"),
        ),
        Report(
            name="csv",
            description="One row a cell for spreadsheets; no text in it is taken for a formula.",
            suffix=".csv",
            render=_for_machines("evenhand.report.csv"),
        ),
        Report(
            name="parquet",
            description="One row a cell with typed columns, for data tools; needs the extra `parquet`.",
            suffix=".parquet",
            render=_for_machines("evenhand.report.parquet"),
            is_text=False,
        ),
        Report(
            name="github",
            description="For GitHub Actions: annotations, and the job's summary and step outputs.",
            suffix=".log",
            render=_for_people("evenhand.report.github"),
        ),
    )
}
"""Every format by name."""
