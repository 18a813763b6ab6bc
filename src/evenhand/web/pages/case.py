"""One case of a run: everything that was asked, answered and found."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from evenhand.cache.inspecting import kept_question
from evenhand.model.result import AssertResult, CaseResult, Run
from evenhand.report.console import beside_console, console_of
from evenhand.report.encode import json_line
from evenhand.report.exchanged import exchanged, fields_text, indented
from evenhand.report.labels import kind_label, output_text, prompt_text
from evenhand.report.trace_tree import trace_tree
from evenhand.store.verdicts import HumanVerdict, verdicts_on
from evenhand.text.json_reader import NotJson, read_json
from evenhand.text.word_diff import Piece
from evenhand.web.markdown import markdown
from evenhand.web.pages.history import PastResult, history, output_changes, output_digest
from evenhand.web.pages.json_tree import Node, json_tree
from evenhand.web.pages.runs import RunRow, run_row
from evenhand.web.plots import WaterfallRow, waterfall
from evenhand.web.queries import CaseQuery, Neighbour, neighbours
from evenhand.web.rendering import plain
from evenhand.web.site import Site

MAX_SHOWN = 200_000
"""Characters of one text that a page shows; the `.json` twin has all of it."""

MAX_ASSERTIONS = 500
"""Assertions that a page shows, those that did not pass first."""

MAX_OLDER = 10
"""Verdicts on other answers that a page shows."""

MAX_PARTS = 200
MAX_PART_DEPTH = 8
"""Members of one assertion that a page shows, and how deep they nest."""


class Text(msgspec.Struct, frozen=True, kw_only=True):
    """A text under a name; `cut` is how many characters are left out at its end."""

    name: str
    text: str
    cut: int = 0


class AssertionView(msgspec.Struct, frozen=True, kw_only=True):
    """One assertion, or a member of one, and what it found."""

    kind: str
    status: str
    score: float | None = None
    weight: float | None = None
    reason: str = ""
    criteria: str = ""
    metric: str | None = None
    cost_usd: float | None = None
    error_class: str | None = None
    details: str = ""
    console: str = ""
    """What its script printed."""
    parts: tuple[AssertionView, ...] = ()


class CasePage(msgspec.Struct, frozen=True, kw_only=True):
    """A case with its past and the way to its neighbours in the list that it was opened from."""

    run: RunRow
    result: CaseResult
    assertions: tuple[AssertionView, ...]
    assertions_left_out: int
    kept_question: Any
    """What was keyed for the answer, where it is a kept one and this run sent nothing for it."""
    turns: tuple[Text, ...]
    """What was asked, by role."""
    texts: tuple[Text, ...]
    trace: tuple[WaterfallRow, ...]
    """What the system under test did during the call, span by span."""
    tree: tuple[Node, ...]
    """The output as JSON, if it is an object or a list."""
    markdown: str
    """The output as HTML, if it is Markdown."""
    history: tuple[PastResult, ...]
    against: str
    """The run that the output is compared with, empty for none."""
    changes: tuple[Piece, ...]
    verdict: HumanVerdict | None
    """What a person found of this answer."""
    older_verdicts: tuple[HumanVerdict, ...]
    """What people found of other answers to the same question: it does not hold for this one."""
    before: Neighbour
    behind: Neighbour
    query: CaseQuery


def case_page(site: Site, run: Run, case: CaseResult, query: CaseQuery, against: str) -> CasePage:
    """The page of a case. `against` is a run whose output of the same case is compared with, empty for none."""
    store, index = site.store, site.index
    kept = functools.cache(functools.partial(kept_question, site.kept_answers))
    before, behind = neighbours(index, run.run_id, query, case.case_key)
    verdicts = verdicts_on(site.state, case.case_key)
    digest = output_digest(case)
    other = store.result(store.find(against).run_id, case.case_key) if against else None
    ordered = sorted(case.asserts, key=lambda each: each.status == "pass")
    output = output_text(case) if case.output is not None else ""
    return CasePage(
        run=run_row(run),
        result=case,
        assertions=tuple(map(_assertion, ordered[:MAX_ASSERTIONS])),
        assertions_left_out=max(0, len(ordered) - MAX_ASSERTIONS),
        kept_question=kept(case.cache_key) if case.cache_key and case.request is None else None,
        turns=tuple(_turns(case)),
        texts=tuple(_text(name, text) for name, text in _texts(case, output, kept) if text),
        trace=() if case.trace is None else waterfall(case.trace),
        tree=json_tree(case.output if not isinstance(case.output, str) else _as_json(output)),
        markdown=markdown(output) if isinstance(case.output, str) else "",
        history=history(store, run, case),
        against=against if other else "",
        changes=output_changes(other, case) if other else (),
        verdict=next((each for each in verdicts if each.output_digest == digest), None),
        older_verdicts=tuple(each for each in verdicts if each.output_digest != digest)[:MAX_OLDER],
        before=before,
        behind=behind,
        query=query,
    )


def _as_json(text: str) -> Any:
    if not text[:MAX_SHOWN].lstrip().startswith(("{", "[")) or len(text) > MAX_SHOWN:
        return None
    value = read_json(text)
    return None if isinstance(value, NotJson) else value


def _assertion(result: AssertResult) -> AssertionView:
    return AssertionView(
        kind=kind_label(result),
        status=result.status.value,
        score=result.score,
        weight=result.weight,
        reason=result.reason,
        criteria=_fields(plain(result.criteria)),
        metric=result.metric,
        cost_usd=result.cost_usd,
        error_class=result.error_class,
        details=_laid_out(beside_console(result.details)),
        console=console_of(result.details),
        parts=_parts(result.parts, MAX_PART_DEPTH),
    )


def _parts(parts: Any, depth: int) -> tuple[AssertionView, ...]:
    if not isinstance(parts, (list, tuple)) or depth == 0:
        return ()
    return tuple(_part(part, depth) for part in parts[:MAX_PARTS] if isinstance(part, Mapping))


def _part(part: Mapping[str, Any], depth: int) -> AssertionView:
    """A member: a whole result of an assertion, or what a script said of a part of its own."""
    status = part.get("status")
    if not isinstance(status, str):
        passed = part.get("pass")
        status = "" if not isinstance(passed, bool) else "pass" if passed else "fail"
    criteria = part.get("criteria")
    negated = isinstance(criteria, Mapping) and criteria.get("negate") is True
    kind = str(part.get("kind") or "part")
    score = part.get("score")
    return AssertionView(
        kind=f"not-{kind}" if negated else kind,
        status=status,
        score=score if isinstance(score, (int, float)) else None,
        reason=str(part.get("reason") or ""),
        criteria=_fields(criteria),
        details=_laid_out(beside_console(part.get("details"))),
        console=console_of(part.get("details")),
        parts=_parts(part.get("parts") or part.get("componentResults"), depth - 1),
    )


def _turns(case: CaseResult) -> Iterator[Text]:
    turns = case.prompt.get("messages") if isinstance(case.prompt, dict) else None
    if not isinstance(turns, list):
        if text := prompt_text(case):
            yield _text("prompt", text)
        return
    for turn in turns:
        if isinstance(turn, dict):
            yield _text(str(turn.get("role") or "turn"), "\n".join(_turn_texts(turn)))


def _turn_texts(turn: dict[str, Any]) -> Iterator[str]:
    content = turn.get("content")
    for block in content if isinstance(content, list) else [content]:
        if isinstance(block, dict) and isinstance(block.get("text"), str):
            yield block["text"]
        elif block is not None:
            yield _plain(block)
    for call in turn.get("tool_calls") or ():
        yield _plain(call)


def _texts(case: CaseResult, output: str, kept: Callable[[str], Any]) -> Iterator[tuple[str, str]]:
    yield "output", output
    yield "reasoning", case.reasoning or ""
    yield "trace", "" if case.trace is None else trace_tree(case.trace)
    calls = [f"{call.name} {json_line(call.arguments)}" for call in case.tool_calls]
    yield "tool calls", "\n".join(calls)
    yield "variables", "\n".join(f"{name}: {_plain(value)}" for name, value in case.vars.items())
    yield "console of the transform", console_of(case.error_details)
    yield (
        "error details",
        "" if (details := beside_console(case.error_details)) is None else fields_text(details),
    )
    yield "metadata", _laid_out(case.metadata)
    yield from exchanged(case, kept)


def _text(name: str, text: str) -> Text:
    return Text(name=name, text=text[:MAX_SHOWN], cut=max(0, len(text) - MAX_SHOWN))


def _fields(criteria: object) -> str:
    return "" if criteria is None else fields_text(criteria)


def _laid_out(value: object) -> str:
    return "" if value is None else indented(value)


def _plain(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json_line(value)
