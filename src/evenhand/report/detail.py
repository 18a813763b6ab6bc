"""One cell in full for the terminal: everything that was asked, answered and found."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar, TextIO

from evenhand.model.outcome import Status
from evenhand.model.result import AssertResult, CaseResult, CaseStatus, Run
from evenhand.report.changed_case import shortened, text_of
from evenhand.report.console import beside_console, console_of
from evenhand.report.encode import json_line
from evenhand.report.exchanged import exchanged, fields_text
from evenhand.report.figures import MAX_NAMED, dollars, duration, plain_score
from evenhand.report.formats import PLAIN_PAGE, Cases, Page
from evenhand.report.labels import asked_with, is_repeated, kind_label, output_text, prompt_text
from evenhand.report.members import shown
from evenhand.report.screen import Screen
from evenhand.report.table import assertions
from evenhand.report.trace_tree import trace_tree
from evenhand.text.word_diff import Piece, word_diff

MAX_MEMBERS = 100
"""Members of one group that are listed."""

_WORDS = {
    CaseStatus.PASS: ("PASSED", "bold green"),
    CaseStatus.FAIL: ("FAILED", "bold red"),
    CaseStatus.ERROR: ("ERROR", "bold yellow"),
    CaseStatus.SKIP: ("SKIPPED", "bold"),
    CaseStatus.XFAIL: ("FAILED AS EXPECTED", "bold green"),
    CaseStatus.XPASS: ("UNEXPECTED PASS", "bold red"),
}


Past = Callable[[CaseResult], tuple[str, CaseResult] | None]
"""What a cell came to before: the run's id and its result there; None where there is no such run."""


def render(
    run: Run, cases: Cases, out: TextIO, page: Page = PLAIN_PAGE, *, past: Past = lambda _: None
) -> None:
    """Write every cell that the query yields, whole; with a `past`, also what its output lost and gained since."""
    screen = Screen(out, page)
    for number, case in enumerate(cases()):
        if number:
            screen.rule()
        _head(screen, case, repeated=is_repeated(run))
        _bodies(screen, _texts(case))
        _since(screen, case, past(case))
        _bodies(screen, exchanged(case, page.kept_question))


def _bodies(screen: Screen, texts: Iterable[tuple[str, str]]) -> None:
    for label, text in texts:
        screen.body(label, text)
        screen.blank()


def _since(screen: Screen, case: CaseResult, before: tuple[str, CaseResult] | None) -> None:
    if before is None:
        return
    run_id, result = before
    was = f"{result.status}{'' if result.score is None else f', score {result.score:g}'} in run {run_id}"
    old, new = text_of(result), text_of(case)
    if result.output is None:
        screen.body("before", f"{was}: {result.error}" if result.error else was)
    elif old == new:
        screen.body("before", f"{was}, with the same output")
    else:
        changes = f"{was}; what the output lost and gained since:\n{_marked(word_diff(old, new))}"
        screen.body("before", changes, styled=_Marks())
    screen.blank()


def _marked(pieces: Iterable[Piece]) -> str:
    marks = {"same": "{}", "removed": "[-{}-]", "added": "{{+{}+}}"}
    return "".join(marks[piece.kind].format(piece.text) for piece in shortened(list(pieces)))


class _Marks:
    """Colours what stands between the marks of a difference, which may go over several lines."""

    _STYLES: ClassVar[dict[str, str]] = {"[-": "red", "{+": "green"}
    _MARK = re.compile(r"(\[-|\{\+|-\]|\+\})")

    def __init__(self) -> None:
        self._style = ""

    def __call__(self, line: str) -> list[tuple[str, str]]:
        parts = []
        for piece in filter(None, self._MARK.split(line)):
            self._style = self._STYLES.get(piece, self._style)
            parts.append((piece, self._style))
            if piece in ("-]", "+}"):
                self._style = ""
        return parts or [("", "")]


def _head(screen: Screen, case: CaseResult, *, repeated: bool) -> None:
    word, style = _WORDS[case.status]
    screen.line((word, style), " ", (case.cell.test_id, "bold"), end=(case.location or "", "dim"))
    if case.name != case.cell.test_id:
        screen.paragraph("", case.name)
    screen.paragraph("", f"{asked_with(case.cell, repeated=repeated)}, case {case.case_key}", style="dim")
    figures = ", ".join(_figures(case))
    if figures:
        screen.paragraph("", figures, style="dim")
    if case.named_scores:
        named = list(case.named_scores.items())[:MAX_NAMED]
        scores = ", ".join(f"{name} {plain_score(score)}" for name, score in named)
        screen.paragraph("", f"named scores: {scores}", style="dim")
    screen.blank()
    if case.error:
        screen.paragraph((f"{case.error_class or 'unknown'}  ", "yellow"), case.error, max_lines=100)
        screen.blank()
    if case.asserts:
        assertions(
            screen,
            list(case.asserts),
            indent=0,
            max_shown=max(len(case.asserts), MAX_MEMBERS),
            max_lines=100,
            opened=tuple(Status),
        )
        screen.blank()


def _figures(case: CaseResult) -> Iterator[str]:
    if case.score is not None:
        yield f"score {case.score:g}"
    if case.unchecked:
        yield "unchecked: nothing was judged"
    if case.tags:
        yield f"tags {' '.join(case.tags)}"
    yield from _who_answered(case)
    if case.model:
        yield f"model {case.model}"
    if case.stop_reason:
        yield f"stopped by {case.stop_reason}"
    if case.empty_reason:
        yield f"empty: {case.empty_reason}"
    if case.latency_ms is not None:
        yield f"answered in {duration(case.latency_ms)}"
    if case.attempts > 1:
        yield f"{case.attempts} attempts"
    if case.cached:
        yield "from the cache"
    if case.usage:
        yield f"{case.usage.input_tokens + case.usage.cache_read_tokens:,} tokens in, {case.usage.output_tokens:,} out"
    if case.cost_usd is not None:
        yield dollars(case.cost_usd)


def _who_answered(case: CaseResult) -> Iterator[str]:
    if case.answered_by_provider_id:
        yield f"answered by the fallback {case.answered_by_provider_id}"
    for attempt in case.fallback_attempts:
        yield f"{attempt.provider_id} did not answer: {attempt.empty_reason or attempt.error_class}"


def _texts(case: CaseResult) -> Iterator[tuple[str, str]]:
    if case.vars:
        yield "vars", "\n".join(f"{name}: {_plain(value)}" for name, value in case.vars.items())
    if case.prompt is not None:
        yield "prompt", prompt_text(case)
    if case.reasoning:
        yield "reasoning", case.reasoning
    if case.output is not None:
        yield "output", output_text(case) or "(empty)"
    if case.tool_calls:
        yield "tool calls", "\n".join(f"{call.name} {json_line(call.arguments)}" for call in case.tool_calls)
    if case.trace is not None:
        yield "trace", trace_tree(case.trace)
    for result in case.asserts:
        yield from _evidence(result)
    if console := console_of(case.error_details):
        yield "console of the transform", console
    if (details := beside_console(case.error_details)) is not None:
        yield "error details", fields_text(details)


def _evidence(result: AssertResult) -> Iterator[tuple[str, str]]:
    if console := console_of(result.details):
        yield f"console of {kind_label(result)}", console
    if (details := beside_console(result.details)) is not None:
        yield f"details of {kind_label(result)}", _plain(details)
    for member in (shown(part) for part in result.parts):
        for label, text in _evidence(member):
            yield f"{label} in {kind_label(result)}", text


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json_line(value)
