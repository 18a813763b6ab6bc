"""One case of a run: everything that was asked, answered and found."""

from __future__ import annotations

from typing import Any

import msgspec

from evenhand.model.result import CaseResult, Run
from evenhand.report.encode import json_line
from evenhand.report.labels import kind_label, output_text, prompt_text
from evenhand.web.case_index import CaseIndex
from evenhand.web.pages.runs import RunRow, run_row
from evenhand.web.queries import CaseQuery, Neighbour, neighbours
from evenhand.web.rendering import plain

MAX_SHOWN = 200_000
"""Characters of one text that a page shows; the `.json` twin has all of it."""

MAX_ASSERTIONS = 500
"""Assertions that a page shows, those that did not pass first."""


class Text(msgspec.Struct, frozen=True, kw_only=True):
    """A text under a name; `cut` is how many characters are left out at its end."""

    name: str
    text: str
    cut: int = 0


class AssertionView(msgspec.Struct, frozen=True, kw_only=True):
    """One assertion and what it found."""

    kind: str
    status: str
    score: float | None
    weight: float
    reason: str
    criteria: str
    metric: str | None
    cost_usd: float | None
    error_class: str | None
    details: str


class CasePage(msgspec.Struct, frozen=True, kw_only=True):
    """A case with the way to its neighbours in the list that it was opened from."""

    run: RunRow
    case: Any
    assertions: tuple[AssertionView, ...]
    assertions_left_out: int
    texts: tuple[Text, ...]
    before: Neighbour
    behind: Neighbour
    query: CaseQuery


def case_page(index: CaseIndex, run: Run, case: CaseResult, query: CaseQuery) -> CasePage:
    """The page of a case."""
    before, behind = neighbours(index, run.run_id, query, case.case_key)
    ordered = sorted(case.asserts, key=lambda each: each.status == "pass")
    return CasePage(
        run=run_row(run),
        case=plain(
            msgspec.structs.replace(case, asserts=(), output=None, raw=None, reasoning=None, prompt=None)
        ),
        assertions=tuple(
            AssertionView(
                kind=kind_label(each),
                status=each.status.value,
                score=each.score,
                weight=each.weight,
                reason=each.reason,
                criteria=json_line(plain(each.criteria)) if each.criteria is not None else "",
                metric=each.metric,
                cost_usd=each.cost_usd,
                error_class=each.error_class,
                details=json_line(each.details) if each.details is not None else "",
            )
            for each in ordered[:MAX_ASSERTIONS]
        ),
        assertions_left_out=max(0, len(ordered) - MAX_ASSERTIONS),
        texts=tuple(_texts(case)),
        before=before,
        behind=behind,
        query=query,
    )


def _texts(case: CaseResult) -> list[Text]:
    found = [
        ("output", output_text(case) if case.output is not None else ""),
        ("prompt", prompt_text(case)),
        ("reasoning", case.reasoning or ""),
        ("tool calls", "\n".join(f"{call.name} {json_line(call.arguments)}" for call in case.tool_calls)),
        ("variables", "\n".join(f"{name}: {_plain(value)}" for name, value in case.vars.items())),
        ("error details", _plain(case.error_details) if case.error_details is not None else ""),
        ("raw answer", _plain(case.raw) if case.raw is not None else ""),
    ]
    return [
        Text(name=name, text=text[:MAX_SHOWN], cut=max(0, len(text) - MAX_SHOWN))
        for name, text in found
        if text
    ]


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json_line(value)
