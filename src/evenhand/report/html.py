"""A run as one page of HTML that needs no server and asks for nothing: to attach, to send, to keep.

Text from outside is escaped wherever it stands, and the page's own policy lets nothing run or load but the style and
the script that it carries, named by their digests. Cases stand in `<details>`, those that did not pass first and open
to reading without the script, which only filters.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import importlib.resources
import itertools
from collections.abc import Iterator
from html import escape
from typing import TextIO

from evenhand.model.outcome import Status
from evenhand.model.result import NOT_PASSING, AssertResult, CaseResult, CaseStatus, Run
from evenhand.report.console import consoles
from evenhand.report.encode import json_line
from evenhand.report.exchanged import exchanged, fields_text
from evenhand.report.figures import (
    counted,
    dollars,
    duration,
    effort,
    headline,
    most_frequent,
    notes,
    rate,
    remedy,
    tallies,
)
from evenhand.report.formats import PLAIN_PAGE, Cases, Page
from evenhand.report.labels import asked_with, is_repeated, kind_label, output_text, prompt_text
from evenhand.report.visible import readable, visible
from evenhand.version import __version__

MAX_CASES = 5_000
"""Cases on the page: beyond that no browser is pleased. Those that did not pass come first."""

MAX_TEXT = 20_000
"""Characters of one text on the page."""

MAX_ASSERTIONS = 200
"""Assertions of one case on the page."""


def render(run: Run, cases: Cases, out: TextIO, page: Page = PLAIN_PAGE) -> None:
    """Write the page, one case at a time."""
    script = _asset("report.js")
    out.write(_opening(run, _asset("report.css"), script))
    out.writelines(_head(run))
    out.write(_FILTERS)
    shown = 0
    for case in itertools.islice(_ordered(cases), MAX_CASES):
        out.write(_case(case, page, repeated=is_repeated(run)))
        shown += 1
    left = run.summary.total - shown
    if left > 0:
        all_of_them = f"<code>{as_text(page.view_command)}</code>"
        out.write(f"<p>{left:,} more cells are not on this page: {all_of_them}</p>\n")
    closing = (
        f"</main>\n<footer>evenhand {__version__}</footer>\n<script>{script}</script>\n</body>\n</html>\n"
    )
    out.write(closing)


def _opening(run: Run, style: str, script: str) -> str:
    verdict = headline(run)
    name = as_text(run.suite or run.project or "evenhand")
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{name}: {verdict.word.lower()}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n"
        f'<h1>{name} <span class="{"good" if verdict.good else "bad"}">{verdict.word.lower()}</span></h1>\n'
    )


_FILTERS = (
    '<form id="filters" hidden><label>Search <input type="search" name="q"></label> '
    '<label>Status <select name="status"><option value="">all</option>'
    + "".join(f"<option>{status.value}</option>" for status in CaseStatus)
    + '</select></label> <output name="count"></output></form>\n'
)


def _head(run: Run) -> Iterator[str]:
    summary = run.summary
    verdict = headline(run)
    lines = [verdict.explanation, rate(summary), "; ".join(effort(summary)), *notes(run)]
    yield f"<p>{', '.join(f'<b>{count:,}</b> {what}' for what, count in tallies(summary))}</p>\n"
    for line in filter(None, lines):
        yield f"<p>{as_text(line)}</p>\n"
    if summary.error_counts:
        yield "<table><caption>Errors</caption>\n"
        for name, count in most_frequent(summary.error_counts):
            what = f'<td class="n">{count:,}</td><td class="n">{as_text(name)}</td>'
            yield f"<tr>{what}<td>{as_text(remedy(name))}</td></tr>\n"
        yield "</table>\n"
    if summary.named_scores:
        scores = "; ".join(f"{as_text(name)} {score:.3g}" for name, score in summary.named_scores.items())
        yield f"<p>Named scores: {scores}</p>\n"
    yield f'<p class="dim">{as_text(run.started_at)} <code>{as_text(run.run_id)}</code></p>\n'


def _ordered(cases: Cases) -> Iterator[CaseResult]:
    """The cases that did not pass, then the others."""
    yield from cases(statuses=NOT_PASSING)
    yield from cases(statuses=[status for status in CaseStatus if status not in NOT_PASSING])


def _case(case: CaseResult, page: Page, *, repeated: bool) -> str:
    texts = itertools.chain(_texts(case), exchanged(case, page.kept_question))
    figures = [f"score {case.score:.3g}" if case.score is not None else ""]
    figures.append(duration(case.latency_ms) if case.latency_ms is not None else "")
    figures.append(dollars(case.cost_usd) if case.cost_usd is not None else "")
    return (
        f'<details class="case" data-status="{case.status.value}"><summary>'
        f'<span class="s-{case.status.value}">{case.status.value}</span> <b>{as_text(case.cell.test_id)}</b> '
        f'<span class="dim">{as_text(asked_with(case.cell, repeated=repeated))}</span>'
        f'<span class="why">{as_text(_why(case))}</span></summary>\n'
        f'<p class="dim">{" · ".join(filter(None, [*figures, as_text(case.location or "")]))}</p>\n'
        f"{_assertions(case)}{''.join(_block(name, text) for name, text in texts)}</details>\n"
    )


def _why(case: CaseResult) -> str:
    if case.error:
        return f"{case.error_class or 'unknown'}: {case.error}"[:MAX_TEXT]
    failed = next((each for each in case.asserts if each.status is Status.FAIL), None)
    return f"{kind_label(failed)}: {failed.reason}"[:MAX_TEXT] if failed else ""


def _assertions(case: CaseResult) -> str:
    if not case.asserts:
        return ""
    rows = "".join(map(_assertion, case.asserts[:MAX_ASSERTIONS]))
    left = len(case.asserts) - MAX_ASSERTIONS
    more = f"<p>and {counted(left, 'more assertion')}</p>\n" if left > 0 else ""
    return f"<table>\n{rows}</table>\n{more}"


def _assertion(result: AssertResult) -> str:
    criteria = fields_text(result.criteria) if result.criteria is not None else ""
    score = "" if result.score is None else f"{result.score:.3g}"
    return (
        f'<tr><td class="s-{result.status.value}">{result.status.value}</td><td>{as_text(kind_label(result))}</td>'
        f"<td>{score}</td><td>{as_text(result.reason)}</td><td><code>{_lines(criteria)}</code></td></tr>\n"
    )


def _texts(case: CaseResult) -> Iterator[tuple[str, str]]:
    yield "prompt", prompt_text(case)
    yield "output", output_text(case) if case.output is not None else ""
    yield "reasoning", case.reasoning or ""
    yield "tool calls", "\n".join(f"{call.name} {json_line(call.arguments)}" for call in case.tool_calls)
    yield from consoles(case.asserts[:MAX_ASSERTIONS], max_members=MAX_ASSERTIONS)
    yield "error details", "" if case.error_details is None else fields_text(case.error_details)


def _block(name: str, text: str) -> str:
    if not text:
        return ""
    cut = len(text) - MAX_TEXT
    more = f"<p>{cut:,} more characters are not on this page</p>\n" if cut > 0 else ""
    return f'<h2>{as_text(name)}</h2>\n<pre tabindex="0">{_lines(text)}</pre>\n{more}'


def as_text(text: str) -> str:
    """A text of any content as one line of HTML that no character in it reorders."""
    return escape(visible(text[:MAX_TEXT]))


def _lines(text: str) -> str:
    """The same with its lines and tabs."""
    return escape(readable(text[:MAX_TEXT]))


def _digest(content: str) -> str:
    """The name of an inline style or script in a Content-Security-Policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


@functools.cache
def _asset(name: str) -> str:
    return importlib.resources.files("evenhand.report").joinpath("assets", name).read_text(encoding="utf-8")
