"""The report for the terminal: what did not hold and why, then what limits the figures, then the figures."""

from __future__ import annotations

from collections.abc import Collection
from typing import TextIO

from evenhand.model.outcome import Status
from evenhand.model.result import NOT_PASSING, AssertResult, CaseResult, CaseStatus, Run
from evenhand.report.comparison import run_lines
from evenhand.report.figures import (
    counted,
    effort,
    headline,
    most_frequent,
    named_scores,
    notes,
    owner,
    plain_score,
    rate,
    remedy,
    repeat_lines,
    tallies,
)
from evenhand.report.findings import MAX_CELLS, Group, find, group_of, unchecked
from evenhand.report.formats import PLAIN_PAGE, Cases, Page
from evenhand.report.labels import asked_with, is_repeated, kind_label
from evenhand.report.members import members
from evenhand.report.screen import Part, Screen

MAX_ASSERTIONS = 8
"""Assertions that one group shows."""

_STYLES = {"passed": "green", "failed": "red", "errored": "yellow", "passed unexpectedly": "red"}


def render(run: Run, cases: Cases, out: TextIO, page: Page = PLAIN_PAGE) -> None:
    """Write the report. Failures and errors are grouped and bounded; the rest comes from the run's summary."""
    screen = Screen(out, page)
    findings = find(run, cases)
    more = f"{page.view_command} --failed"
    _title(screen, run)
    for group in findings.failures:
        failure(screen, group, repeated=is_repeated(run))
    _more(screen, findings.more_failures, "failure", more)
    for group in findings.errors:
        error(screen, group, repeated=is_repeated(run))
    _more(screen, findings.more_errors, "error", more)
    _notes(screen, run, cases)
    _error_classes(screen, run)
    _named_scores(screen, run)
    _footer(screen, run, page)


def render_each(run: Run, cases: Cases, out: TextIO, page: Page = PLAIN_PAGE) -> None:
    """Write what did not pass cell by cell, as it is read: no groups and no bound."""
    screen = Screen(out, page)
    repeated = is_repeated(run)
    for case in cases(statuses=NOT_PASSING):
        show = error if case.status is CaseStatus.ERROR else failure
        show(screen, group_of(case), repeated=repeated)


def failure(screen: Screen, group: Group, *, repeated: bool) -> None:
    """A group of cells that were judged and found wrong."""
    case = group.first
    word = "UNEXPECTED PASS" if case.status is CaseStatus.XPASS else "FAILED"
    screen.line((word, "bold red"), " ", (case.cell.test_id, "bold"), end=(case.location or "", "dim"))
    _name(screen, case)
    _asked(screen, group, repeated)
    if case.status is CaseStatus.XPASS:
        reason = f": {case.expect_fail_reason}" if case.expect_fail_reason else ""
        screen.paragraph("  ", f"expected to fail{reason}", indent=0)
    wrong = [result for result in case.asserts if result.status is Status.FAIL]
    if not wrong and case.status is CaseStatus.FAIL:
        screen.paragraph("  ", f"the score {case.score} misses the threshold of the case")
    assertions(screen, wrong or list(case.asserts))
    _excerpts(screen, group)
    screen.blank()


def error(screen: Screen, group: Group, *, repeated: bool) -> None:
    """A group of cells of which nothing was learned, for one reason."""
    case = group.first
    count = counted(group.count, "cell")
    screen.line(("ERROR", "bold yellow"), " ", (case.error_class or "unknown", "bold"), " ", (count, "dim"))
    screen.paragraph("  ", case.error or "no message")
    if isinstance(case.error_details, str) and case.error_details.strip():
        screen.paragraph("  ", case.error_details, style="dim", max_lines=6)
    assertions(screen, [r for r in case.asserts if r.parts and r.status is Status.ERROR], indent=4)
    for cell, location in group.cells:
        where = f"{cell.test_id} · {asked_with(cell, repeated=repeated)}"
        screen.line((where, "dim"), end=(location or "", "dim"), indent=4)
    if group.count > len(group.cells):
        screen.line((f"and {group.count - len(group.cells):,} more", "dim italic"), indent=4)
    if group.count == 1:
        _excerpts(screen, group)
    screen.blank()


def assertions(
    screen: Screen,
    results: list[AssertResult],
    *,
    indent: int = 2,
    max_shown: int = MAX_ASSERTIONS,
    max_lines: int = 8,
    opened: Collection[Status] = (Status.FAIL, Status.ERROR, Status.SKIPPED),
) -> None:
    """One paragraph an assertion: sign, kind, reason; all of it bounded.

    `opened` are the statuses of those whose members follow below.
    """
    shown = results[:max_shown]
    column = min(max((len(kind_label(result)) for result in shown), default=0), 16)
    for result in shown:
        _assertion(screen, result, column, indent, max_lines)
        if result.parts and result.status in opened:
            _members(screen, result, indent, max_shown=max_shown, max_lines=max_lines)
    if len(results) > len(shown):
        screen.line((f"and {len(results) - len(shown):,} more assertions", "dim italic"), indent=indent)


def _assertion(screen: Screen, result: AssertResult, column: int, indent: int, max_lines: int) -> None:
    glyphs = screen.glyphs
    sign, style = {
        Status.PASS: (glyphs.passed, "green"),
        Status.FAIL: (glyphs.failed, "red"),
        Status.ERROR: (glyphs.errored, "yellow"),
        Status.SKIPPED: (glyphs.skipped, "dim"),
    }[result.status]
    label = f"{sign} {kind_label(result).ljust(column)}  "
    screen.paragraph((label, style), result.reason or result.status, indent=indent, max_lines=max_lines)


def _members(screen: Screen, result: AssertResult, indent: int, *, max_shown: int, max_lines: int) -> None:
    for level, member, left_out in members(result, max_shown=max(max_shown, MAX_ASSERTIONS)):
        inner = indent + 2 * level
        if member is None:
            screen.line((f"and {left_out:,} more", "dim italic"), indent=inner)
        else:
            _assertion(screen, member, 0, inner, max_lines)


def _title(screen: Screen, run: Run) -> None:
    name = run.suite or run.project or "evenhand"
    screen.blank()
    screen.line((name, "bold"), end=(run.suite_path, "dim"))
    screen.blank()


def _name(screen: Screen, case: CaseResult) -> None:
    if case.name != case.cell.test_id:
        screen.paragraph("  ", case.name, max_lines=2)


def _asked(screen: Screen, group: Group, repeated: bool) -> None:
    names = [asked_with(cell, repeated=repeated) for cell, _ in group.cells]
    if group.count > MAX_CELLS:
        names.append(f"and {group.count - MAX_CELLS:,} more")
    screen.paragraph("  ", ", ".join(names), style="dim", max_lines=3)


def _excerpts(screen: Screen, group: Group) -> None:
    if group.prompt is not None:
        screen.excerpt("prompt", group.prompt, lines=3, indent=4)
    if group.output is not None:
        screen.excerpt("output", group.output, lines=6, indent=4)


def _more(screen: Screen, count: int, noun: str, command: str) -> None:
    if count:
        screen.command(f"and {counted(count, f'more {noun}')}: ", (command, "cyan"))
        screen.blank()


def _notes(screen: Screen, run: Run, cases: Cases) -> None:
    lines = notes(run)
    names = unchecked(run, cases)
    if names:
        rest = "" if run.summary.unchecked <= len(names) else ", …"
        lines.insert(
            0,
            f"{counted(run.summary.unchecked, 'cell')} unchecked, nothing was judged in: {', '.join(names)}{rest}",
        )
    empty = run.summary.empty_counts
    if empty:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in most_frequent(empty))
        lines.append(f"{counted(sum(empty.values()), 'output')} empty: {reasons}")
    for line in lines:
        screen.paragraph(("note  ", "yellow"), line, max_lines=3)
    if lines:
        screen.blank()


def _error_classes(screen: Screen, run: Run) -> None:
    counts = most_frequent(run.summary.error_counts)
    width = min(max((len(name) for name, _ in counts), default=0), 24)
    for name, count in counts:
        who = owner(name)
        advice = remedy(name)
        screen.paragraph(
            (f"{name[:width].ljust(width)}  {count:>4,}  ", "yellow"),
            f"{who}; {advice}" if advice else who,
            max_lines=3,
        )
    if counts:
        screen.blank()


def _named_scores(screen: Screen, run: Run) -> None:
    scores = named_scores(run.summary)
    width = min(max((len(item.name) for item in scores), default=0), 24)
    for item in scores:
        by = "".join(f", {name} {plain_score(score)}" for name, score in item.by_provider.items())
        text = f"{plain_score(item.score)} over {counted(item.count, 'assertion')}{by}"
        screen.paragraph((f"{item.name[:width].ljust(width)}  ", "cyan"), text, max_lines=3)
    if len(run.summary.named_scores) > len(scores):
        screen.line(f"and {len(run.summary.named_scores) - len(scores):,} more named scores")
    if scores:
        screen.blank()


def _footer(screen: Screen, run: Run, page: Page) -> None:
    verdict = headline(run)
    screen.rule()
    counts: list[Part] = []
    for name, count in tallies(run.summary):
        counts += [", " if counts else "", (f"{count:,} {name}", _STYLES.get(name, "") if count else "dim")]
    screen.line((verdict.word, "bold green" if verdict.good else "bold red"), "  ", *counts[:8])
    if counts[8:]:
        screen.line(" " * (len(verdict.word) + 2), *counts[9:])
    for text in (
        verdict.explanation,
        rate(run.summary),
        *repeat_lines(run.summary),
        *run_lines(run),
        "; ".join(effort(run.summary)),
    ):
        if text:
            screen.paragraph("", text, max_lines=3)
    stored = f"{run.run_id} in {page.stored_in}" if page.stored_in else run.run_id
    screen.paragraph(("stored  ", "dim"), stored, style="dim", max_lines=3)
    screen.command(("view    ", "dim"), (page.view_command, "cyan"))
