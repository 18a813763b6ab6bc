"""Calls that carry a trace: one for each attempt, none for graders, none where the run does not trace."""

from __future__ import annotations

import asyncio
from pathlib import Path

from evenhand.errors import ErrorClass, ProviderError
from evenhand.io.fake import FakeClock
from evenhand.model.exchange import Request, Response
from evenhand.model.result import CaseResult, CaseStatus
from evenhand.model.suite import Case
from evenhand.model.trace import Span
from evenhand.run.cell import run_cell
from evenhand.run.plan import Plan
from evenhand.run.services import Services
from evenhand.traces.collector import Collector
from support.assertions import built
from support.suites import suite


class Reporting:
    """A system under test that reports one span for each call, and fails as often as asked."""

    def __init__(self, collector: Collector, *, failures: int = 0) -> None:
        self.collector = collector
        self.failures = failures
        self.traceparents: list[str | None] = []

    async def complete(self, request: Request) -> Response:
        self.traceparents.append(request.traceparent)
        if request.traceparent is not None:
            _, trace_id, parent, _ = request.traceparent.split("-")
            name = f"call {len(self.traceparents)}"
            span = Span(span_id="1" * 16, parent_span_id=parent, name=name, start_ms=0, end_ms=1)
            self.collector.add([(trace_id, span)])
        if len(self.traceparents) <= self.failures:
            raise ProviderError("busy", ErrorClass.PROVIDER_UNAVAILABLE, retriable=True)
        return Response(output="x")

    async def close(self) -> None:
        return None


CASE = Case(id="a", assertions=(built({"type": "trace-span-count", "min": 1, "max": 1}),))


def run_traced(folder: Path, *, failures: int = 0, traces: bool = True) -> tuple[CaseResult, Reporting]:
    async def work() -> tuple[CaseResult, Reporting]:
        collector = Collector(wait_ms=60_000, max_spans=10)
        session = Reporting(collector, failures=failures)
        loaded = suite(folder, [CASE])
        async with Services(
            loaded,
            loaded.providers,
            sessions={"one": session},
            clock=FakeClock(),
            traces=collector if traces else None,
        ) as services:
            return await run_cell(next(Plan(loaded).cells()), services), session

    return asyncio.run(work())


def test_result_keeps_the_trace_of_its_call(tmp_path: Path) -> None:
    result, _ = run_traced(tmp_path)
    assert result.status is CaseStatus.PASS
    assert result.trace is not None
    assert [(span.name, span.parent_span_id) for span in result.trace.spans] == [("call 1", None)]


def test_every_attempt_has_a_trace_of_its_own_and_the_answer_that_of_the_last(tmp_path: Path) -> None:
    result, session = run_traced(tmp_path, failures=2)
    assert len(set(session.traceparents)) == 3
    assert len({str(parent).split("-")[1] for parent in session.traceparents}) == 3
    assert result.status is CaseStatus.PASS
    assert result.trace is not None
    assert [span.name for span in result.trace.spans] == ["call 3"]


def test_failed_call_keeps_what_came_of_its_last_attempt(tmp_path: Path) -> None:
    result, _ = run_traced(tmp_path, failures=99)
    assert result.status is CaseStatus.ERROR
    assert result.trace is not None
    assert [span.name for span in result.trace.spans] == ["call 3"]


def test_run_that_does_not_trace_hands_out_no_context(tmp_path: Path) -> None:
    result, session = run_traced(tmp_path, traces=False)
    assert session.traceparents == [None]
    assert result.trace is None
    assert result.status is CaseStatus.ERROR
