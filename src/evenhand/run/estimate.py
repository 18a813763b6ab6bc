"""What a run will ask and what that may cost, before anything is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from evenhand.errors import TemplateError
from evenhand.model.assertion import walk
from evenhand.model.exchange import Request, Response, Usage
from evenhand.model.grading import GradedAssertion
from evenhand.model.provider import Provider
from evenhand.model.suite import Suite
from evenhand.run.plan import Cell, Plan
from evenhand.run.render import render_request
from evenhand.run.tokens import estimated_tokens
from evenhand.template import order_vars, render_scope

ANSWER_TOKENS = 300
"""Tokens that an answer is taken to have, unless its provider allows it fewer."""
VERDICT_TOKENS = 150
INSTRUCTION_TOKENS = 400
"""For what a judge is told beside the rubric and the answer."""

Known = Callable[[Cell, Request], Response | None]
"""The answer to a cell's question that is known without a call, None where there is none."""


class ExpectedCall(NamedTuple):
    """One call that a cell will lead to, as far as can be known."""

    provider: Provider
    role: str
    """`system` under test, or `grader`."""
    usage: Usage
    cost_usd: float | None
    """None where nobody knows the price."""
    known: bool = False
    """Whether the answer is there already, so that nothing is asked or paid."""


class ExpectedCalls(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The calls to one provider in one role."""

    provider_id: str
    role: str
    model: str | None = None
    calls: int
    known: int
    """Questions beside these whose answers are known already."""
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    """None where the price is not known."""


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """What a run would ask. Tokens are estimated from lengths, so that costs are rough; re-asks are not in it."""

    cells: int
    cells_without_question: int
    """Cells whose question does not render, and which will end as errors."""
    calls: tuple[ExpectedCalls, ...]
    input_tokens: int
    output_tokens: int
    cost_usd: float
    """Of the calls whose price is known."""
    unpriced_calls: int
    answer_tokens: int = ANSWER_TOKENS
    """What an answer is taken to have where its provider allows as many."""


def expected_calls(cell: Cell, suite: Suite, known: Known | None = None) -> Iterator[ExpectedCall]:
    """The calls of one cell: to the system under test, and to graders as if none were skipped.

    Raises `TemplateError` where the question does not render, so that there will be none.
    """
    values, scope = render_scope(order_vars(cell.case.vars, suite.engine), suite.env)
    request = render_request(suite, cell.case, cell.prompt, cell.key.repeat, values, scope)
    answer = None if known is None else known(cell, request)
    usage = answer.usage if answer is not None else None
    if usage is None:
        usage = Usage(
            input_tokens=estimated_tokens(request),
            output_tokens=cell.provider.answer_tokens(ANSWER_TOKENS),
        )
    cost = 0.0 if answer is not None else cell.provider.cost_of(usage)
    yield ExpectedCall(cell.provider, "system", usage, cost, answer is not None)
    for assertion in walk(cell.case.assertions):
        if isinstance(assertion, GradedAssertion):
            yield from _graders_calls(assertion, usage.output_tokens, suite)


def _graders_calls(assertion: GradedAssertion, answer_tokens: int, suite: Suite) -> Iterator[ExpectedCall]:
    for provider in assertion.asks(suite.graders):
        for _ in range(assertion.calls_each):
            if provider.embeds:
                usage = Usage(input_tokens=answer_tokens)
            else:
                usage = Usage(
                    input_tokens=INSTRUCTION_TOKENS + answer_tokens,
                    output_tokens=provider.answer_tokens(VERDICT_TOKENS),
                )
            yield ExpectedCall(provider, "grader", usage, provider.cost_of(usage))


def estimate(plan: Plan, known: Known | None = None) -> Estimate:
    """The sum over the cells of a plan; nothing of them is held."""
    sums: dict[tuple[str, str], _Sum] = {}
    cells = broken = 0
    for cell in plan.cells():
        cells += 1
        try:
            calls = list(expected_calls(cell, plan.suite, known))
        except TemplateError:
            broken += 1
            continue
        for call in calls:
            sums.setdefault((call.role, call.provider.id), _Sum(call.provider)).add(call)
    rows = [total.row(role) for (role, _), total in sorted(sums.items(), key=_systems_first)]
    return Estimate(
        cells=cells,
        cells_without_question=broken,
        calls=tuple(rows),
        input_tokens=sum(row.input_tokens for row in rows),
        output_tokens=sum(row.output_tokens for row in rows),
        cost_usd=round(sum(row.cost_usd or 0.0 for row in rows), 6),
        unpriced_calls=sum(row.calls for row in rows if row.cost_usd is None),
    )


def _systems_first(item: tuple[tuple[str, str], _Sum]) -> bool:
    return item[0][0] != "system"


class _Sum:
    """The calls to one provider so far."""

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self.calls = self.known = self.input_tokens = self.output_tokens = 0
        self.cost_usd: float | None = 0.0

    def add(self, call: ExpectedCall) -> None:
        if call.known:
            self.known += 1
            return
        self.calls += 1
        self.input_tokens += call.usage.input_tokens
        self.output_tokens += call.usage.output_tokens
        if self.cost_usd is not None:
            self.cost_usd = None if call.cost_usd is None else self.cost_usd + call.cost_usd

    def row(self, role: str) -> ExpectedCalls:
        return ExpectedCalls(
            provider_id=self.provider.id,
            role=role,
            model=getattr(self.provider, "model", None),
            calls=self.calls,
            known=self.known,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cost_usd=None if self.cost_usd is None else round(self.cost_usd, 6),
        )
