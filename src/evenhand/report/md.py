"""Markdown for a pull request or a job summary: the verdict, the figures, and a table of what did not pass.

Text from outside stands in code spans, where Markdown and HTML mean nothing and nobody is mentioned or linked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TextIO

from evenhand.model.outcome import Status
from evenhand.model.result import AssertResult, CaseStatus, Run
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
from evenhand.report.findings import Clipped, Group, find
from evenhand.report.formats import PLAIN_PAGE, Cases, Page
from evenhand.report.labels import asked_with, is_repeated, kind_label
from evenhand.report.members import members
from evenhand.report.visible import visible

MAX_CELL = 300
"""Characters of one text that a table cell shows."""


MAX_COLUMNS = 6
"""Providers whose named scores stand side by side."""

MAX_ASSERTIONS = 5
"""Failed assertions of a case that are shown, and members of each group."""


def render(run: Run, cases: Cases, out: TextIO, page: Page = PLAIN_PAGE) -> None:
    """Write the page; the failures and errors in it are grouped and bounded as in the terminal report."""
    verdict = headline(run)
    sign = "✅" if verdict.good else "❌"
    name = run.suite or run.project or "evenhand"
    out.write(f"## {sign} {verdict.word}: {code(name)}\n\n")
    out.writelines(f"- {text}\n" for text in _figures(run, verdict.explanation))
    findings = find(run, cases)
    repeated = is_repeated(run)
    _failures(out, findings.failures, findings.more_failures, repeated, page)
    _errors(out, findings.errors, findings.more_errors, page)
    _error_classes(out, run)
    _named_scores(out, run)
    out.write(f"\nRun {code(run.run_id)}; look at it with {code(page.view_command)}\n")


def _figures(run: Run, explanation: str) -> Iterator[str]:
    summary = run.summary
    yield ", ".join(f"{count:,} {what}" for what, count in tallies(summary))
    yield from filter(None, (explanation, rate(summary)))
    yield from map(plain, [*repeat_lines(summary), *run_lines(run)])
    yield from filter(None, ("; ".join(effort(summary)),))
    if summary.unchecked:
        yield f"{counted(summary.unchecked, 'cell')} unchecked: nothing was judged there"
    yield from notes(run)
    if summary.empty_counts:
        reasons = ", ".join(
            f"{count:,} {code(reason)}" for reason, count in most_frequent(summary.empty_counts)
        )
        yield f"{counted(sum(summary.empty_counts.values()), 'output')} empty: {reasons}"


def _failures(out: TextIO, groups: list[Group], more: int, repeated: bool, page: Page) -> None:
    if not groups:
        return
    out.write(
        "\n### Failures\n\n| test | asked with | what was found | output |\n| --- | --- | --- | --- |\n"
    )
    for group in groups:
        where = ", ".join(cell(asked_with(key, repeated=repeated)) for key, _ in group.cells)
        if group.count > len(group.cells):
            where += f" and {group.count - len(group.cells):,} more"
        test = cell(group.first.cell.test_id)
        if group.first.location:
            test += f"<br>{cell(group.first.location)}"
        out.write(f"| {test} | {where} | {_reasons(group)} | {_output(group.output)} |\n")
    _more(out, more, "failure", page)


def _errors(out: TextIO, groups: list[Group], more: int, page: Page) -> None:
    if not groups:
        return
    out.write("\n### Errors\n\n| class | cells | message | first test |\n| --- | ---: | --- | --- |\n")
    for group in groups:
        case = group.first
        out.write(
            f"| {cell(case.error_class or 'unknown')} | {group.count:,} | {cell(case.error or '')} "
            f"| {cell(case.cell.test_id)} |\n"
        )
    _more(out, more, "error", page)


def _error_classes(out: TextIO, run: Run) -> None:
    counts = most_frequent(run.summary.error_counts)
    if not counts:
        return
    out.write(
        "\n### Error classes\n\n| class | cells | belongs to | what to do |\n| --- | ---: | --- | --- |\n"
    )
    out.writelines(
        f"| {cell(name)} | {count:,} | {owner(name)} | {remedy(name)} |\n" for name, count in counts
    )


def _named_scores(out: TextIO, run: Run) -> None:
    scores = named_scores(run.summary)
    if not scores:
        return
    providers = list(dict.fromkeys(provider for item in scores for provider in item.by_provider))[
        :MAX_COLUMNS
    ]
    heads = "".join(f" {cell(provider)} |" for provider in providers)
    out.write(f"\n### Named scores\n\n| name | mean | assertions |{heads}\n")
    out.write(f"| --- | ---: | ---: |{' ---: |' * len(providers)}\n")
    for item in scores:
        own = [item.by_provider.get(provider) for provider in providers]
        columns = "".join(f" {'' if score is None else plain_score(score)} |" for score in own)
        out.write(f"| {cell(item.name)} | {plain_score(item.score)} | {item.count:,} |{columns}\n")
    if len(run.summary.named_scores) > len(scores):
        out.write(f"\nand {len(run.summary.named_scores) - len(scores):,} more\n")


def _more(out: TextIO, count: int, noun: str, page: Page) -> None:
    if count:
        out.write(f"\nand {counted(count, f'more {noun}')}: {code(f'{page.view_command} --failed')}\n")


def _reasons(group: Group) -> str:
    case = group.first
    wrong = [result for result in case.asserts if result.status is Status.FAIL]
    texts = [text for result in wrong[:MAX_ASSERTIONS] for text in _found(result)]
    if len(wrong) > MAX_ASSERTIONS:
        texts.append(f"and {len(wrong) - MAX_ASSERTIONS:,} more")
    if case.status is CaseStatus.XPASS:
        texts.insert(0, "expected to fail, but passed" + _reason_suffix(case.expect_fail_reason))
    return "<br>".join(texts) or f"the score {case.score} misses the threshold of the case"


def _found(result: AssertResult) -> Iterator[str]:
    yield f"{cell(kind_label(result))} {cell(result.reason)}"
    for level, member, left_out in members(result, max_shown=MAX_ASSERTIONS):
        indent = "&nbsp;" * 4 * level
        if member is None:
            yield f"{indent}and {left_out:,} more"
        else:
            yield f"{indent}{member.status} {cell(kind_label(member))} {cell(member.reason)}"


def _reason_suffix(reason: str | None) -> str:
    return f": {cell(reason)}" if reason else ""


def _output(output: Clipped | None) -> str:
    return "" if output is None else cell(output.head) if output.head else "empty"


def plain(text: str) -> str:
    """A sentence of ours that may hold names from outside, as text that Markdown does not read."""
    return code(text) if not text.isprintable() or any(sign in text for sign in "<>|`*[]_@#~\\") else text


def cell(text: str) -> str:
    """A text of any content as a code span inside a table."""
    # A pipe ends a cell even inside a code span; GitHub takes the backslash away again.
    return code(text).replace("|", "\\|")


def code(text: str) -> str:
    """A text of any content as a code span; empty for no text."""
    shown = visible(text[: MAX_CELL + 1].strip())
    if len(shown) > MAX_CELL:
        shown = f"{shown[:MAX_CELL]}…"
    if not shown:
        return ""
    fence = "`" * (max((len(run) for run in re.findall("`+", shown)), default=0) + 1)
    space = " " if "`" in (shown[0], shown[-1]) else ""
    return f"{fence}{space}{shown}{space}{fence}"
