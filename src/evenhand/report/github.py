"""For a job of GitHub Actions: annotations in the log, a job summary, and outputs that later steps read.

Formats: workflow commands of GitHub Actions (`::error file=…,line=…::message`), and its files of the environment
(`GITHUB_STEP_SUMMARY` takes Markdown, `GITHUB_OUTPUT` takes `name=value` lines).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TextIO

from evenhand.model.result import CaseResult, CaseStatus, Run
from evenhand.report import md
from evenhand.report.figures import headline, rate, tallies
from evenhand.report.findings import Group, find
from evenhand.report.formats import PLAIN_PAGE, Cases, Page
from evenhand.report.labels import kind_label
from evenhand.report.visible import visible

SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"
OUTPUT_VARIABLE = "GITHUB_OUTPUT"

MAX_ANNOTATIONS = 10
"""Annotations of one level that GitHub shows for a step."""

MAX_MESSAGE = 1_000
"""Characters of an annotation's message."""


def render(run: Run, cases: Cases, out: TextIO, page: Page = PLAIN_PAGE) -> None:
    """Write the annotations; in a job, also add the summary and the outputs to the files that the job names."""
    findings = find(run, cases, max_groups=MAX_ANNOTATIONS)
    out.writelines(f"{_annotation(group)}\n" for group in (*findings.failures, *findings.errors))
    left = findings.more_failures + findings.more_errors
    if left:
        out.write(f"::notice::{_data(f'{left:,} more cells did not pass: {page.view_command} --failed')}\n")
    out.write(f"{_line(run)}\n")
    add_to_job(run, cases, page, os.environ)


def add_to_job(run: Run, cases: Cases, page: Page, environ: Mapping[str, str]) -> bool:
    """Add the job summary and the step outputs where a job asks for them; says whether one does."""
    summary, outputs = environ.get(SUMMARY_VARIABLE), environ.get(OUTPUT_VARIABLE)
    if summary:
        with Path(summary).open("a", encoding="utf-8", newline="\n") as file:
            md.render(run, cases, file, page)
    if outputs:
        with Path(outputs).open("a", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{name}={value}\n" for name, value in step_outputs(run))
    return bool(summary or outputs)


def step_outputs(run: Run) -> Iterator[tuple[str, str]]:
    """What later steps of a job can read, by name; no value holds a line break."""
    summary = run.summary
    yield "run_id", run.run_id
    yield "verdict", headline(run).word.lower()
    yield "exit_code", "" if run.exit_code is None else str(int(run.exit_code))
    yield "total", str(summary.total)
    yield "passed", str(summary.passed)
    yield "failed", str(summary.failed + summary.xpassed)
    yield "errored", str(summary.errored)
    yield "skipped", str(summary.skipped)
    yield "pass_rate", "" if summary.pass_rate is None else f"{summary.pass_rate:.6g}"
    yield "cost_usd", "" if summary.cost_usd is None else f"{summary.cost_usd:.6f}"


def _line(run: Run) -> str:
    counts = ", ".join(f"{count:,} {what}" for what, count in tallies(run.summary))
    return f"{headline(run).word}: {counts}{'; ' if (text := rate(run.summary)) else ''}{text}"


def _annotation(group: Group) -> str:
    case = group.first
    level = "warning" if case.status is CaseStatus.ERROR else "error"
    more = f" (and {group.count - 1:,} more cells)" if group.count > 1 else ""
    title = _property(f"{case.cell.test_id}{more}")
    return f"::{level} {_place(case)}title={title}::{_data(_message(case))}"


def _message(case: CaseResult) -> str:
    if case.error:
        return f"{case.error_class or 'unknown'}: {case.error}"
    if case.status is CaseStatus.XPASS:
        return "expected to fail, but passed"
    failed = [f"{kind_label(each)}: {each.reason}" for each in case.asserts if each.status == "fail"]
    return "\n".join(failed) or f"the score {case.score} misses the threshold of the case"


def _place(case: CaseResult) -> str:
    """`file=…,line=…,col=…,` as far as the place of the case is known."""
    if not case.location:
        return ""
    file, *numbers = case.location.rsplit(":", 2)
    names = zip(("line", "col"), numbers, strict=False)
    return "".join(f"{name}={_property(value)}," for name, value in (("file", file), *names) if value)


def _data(text: str) -> str:
    """A message as one line of a workflow command: what a model wrote can end neither the line nor begin another."""
    lines = (visible(line) for line in text[:MAX_MESSAGE].splitlines())
    return "%0A".join(line.replace("%", "%25") for line in lines)


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
