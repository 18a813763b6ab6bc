"""Spans find their calls; waits are bounded; nothing grows without end."""

from __future__ import annotations

import asyncio
import logging

import pytest

from evenhand.model.trace import Span, Trace
from evenhand.traces import collector as module
from evenhand.traces.collector import Collector, Watch

LONG_MS = 600_000.0


def span(name: str, span_id: str, parent: str | None = None, start_ms: float = 0.0) -> Span:
    return Span(span_id=span_id, parent_span_id=parent, name=name, start_ms=start_ms, end_ms=start_ms + 1)


def parent_of(watch: Watch) -> str:
    return watch.traceparent.split("-")[2]


def test_traceparent_is_that_of_w3c() -> None:
    with Collector(wait_ms=0, max_spans=9).watch() as watch:
        version, trace_id, parent, flags = watch.traceparent.split("-")
    assert (version, trace_id, flags) == ("00", watch.trace_id, "01")
    assert len(bytes.fromhex(trace_id)) == 16
    assert len(bytes.fromhex(parent)) == 8


def test_every_call_has_a_trace_of_its_own() -> None:
    collector = Collector(wait_ms=0, max_spans=9)
    with collector.watch() as one, collector.watch() as other:
        collector.add([(one.trace_id, span("a", "01")), (other.trace_id, span("b", "02"))])
        assert [s.name for s in one.trace().spans] == ["a"]
        assert [s.name for s in other.trace().spans] == ["b"]


def test_span_right_under_the_call_has_no_parent() -> None:
    collector = Collector(wait_ms=0, max_spans=9)
    with collector.watch() as watch:
        collector.add(
            [(watch.trace_id, span("top", "01", parent_of(watch))), (watch.trace_id, span("in", "02", "01"))]
        )
        assert [(s.name, s.parent_span_id) for s in watch.trace().spans] == [("top", None), ("in", "01")]


def test_spans_are_told_in_the_order_in_which_they_began() -> None:
    collector = Collector(wait_ms=0, max_spans=9)
    with collector.watch() as watch:
        collector.add(
            [(watch.trace_id, span(str(start), f"{start:02}", start_ms=start)) for start in (3, 1, 2)]
        )
        assert [s.name for s in watch.trace().spans] == ["1", "2", "3"]


def test_repeated_span_counts_once() -> None:
    collector = Collector(wait_ms=0, max_spans=9)
    with collector.watch() as watch:
        collector.add([(watch.trace_id, span("a", "01"))] * 3)
        assert len(watch.trace().spans) == 1


async def settled_after(*batches: list[Span], wait_ms: float) -> Trace:
    """The trace of a call whose spans come batch by batch, each as soon as the one before was taken in."""
    collector = Collector(wait_ms=wait_ms, max_spans=9)
    with collector.watch() as watch:
        waiting = asyncio.create_task(watch.settled())
        for batch in batches:
            await asyncio.sleep(0)
            collector.add([(watch.trace_id, item) for item in batch])
        return await asyncio.wait_for(waiting, 60)


def test_wait_ends_once_every_parent_has_come() -> None:
    child, top = span("child", "02", "01", 1), span("top", "01")
    trace = asyncio.run(settled_after([child], [top], wait_ms=LONG_MS))
    assert [s.name for s in trace.spans] == ["top", "child"]


def test_wait_for_a_parent_that_never_comes_is_bounded() -> None:
    trace = asyncio.run(settled_after([span("orphan", "02", "01")], wait_ms=20))
    assert [s.name for s in trace.spans] == ["orphan"]


def test_wait_for_spans_that_never_come_is_bounded() -> None:
    assert asyncio.run(settled_after(wait_ms=20)).spans == ()


def test_without_a_wait_only_what_is_there_counts() -> None:
    assert asyncio.run(settled_after(wait_ms=0)).spans == ()


def test_spans_beyond_the_limit_are_counted_and_dropped() -> None:
    collector = Collector(wait_ms=0, max_spans=2)
    with collector.watch() as watch:
        collector.add([(watch.trace_id, span("s", f"{n:02}")) for n in range(5)])
        assert (len(watch.trace().spans), watch.trace().dropped_spans) == (2, 3)


def test_spans_beyond_the_memory_of_a_trace_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_TRACE_BYTES", 400)
    collector = Collector(wait_ms=0, max_spans=100)
    with collector.watch() as watch:
        collector.add([(watch.trace_id, span("s" * 100, f"{n:02}")) for n in range(5)])
        assert watch.trace().dropped_spans == 3


def test_memory_of_ended_calls_is_free_again() -> None:
    collector = Collector(wait_ms=0, max_spans=100)
    with collector.watch() as watch:
        collector.add([(watch.trace_id, span("s", "01"))])
        assert collector.size > 0
    assert collector.size == 0


def test_late_and_foreign_spans_are_told_apart(caplog: pytest.LogCaptureFixture) -> None:
    collector = Collector(wait_ms=0, max_spans=9)
    with collector.watch() as watch:
        assert collector.is_wanted(watch.trace_id)
    assert not collector.is_wanted(watch.trace_id)
    assert not collector.is_wanted("ff" * 16)
    assert (collector.late, collector.foreign) == (1, 1)
    with caplog.at_level(logging.WARNING, "evenhand"):
        collector.report()
    assert "came after their answers were judged: 1;" in caplog.text
    assert "belong to no call, which were dropped: 1" in caplog.text


def test_foreign_spans_are_told_where_no_span_of_the_call_came() -> None:
    collector = Collector(wait_ms=0, max_spans=9)
    with collector.watch() as watch:
        collector.is_wanted("ff" * 16)
        assert watch.trace().foreign_spans == 1
        collector.add([(watch.trace_id, span("s", "01"))])
        assert watch.trace().foreign_spans == 0


def test_memory_of_ended_traces_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REMEMBERED", 2)
    collector = Collector(wait_ms=0, max_spans=9)
    ended = []
    for _ in range(3):
        with collector.watch() as watch:
            ended.append(watch.trace_id)
    for trace_id in ended:
        collector.is_wanted(trace_id)
    assert (collector.foreign, collector.late) == (1, 2)
