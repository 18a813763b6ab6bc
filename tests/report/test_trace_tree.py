"""Traces as trees, sound and broken ones."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evenhand.model.trace import Span, Trace
from evenhand.report.trace_tree import MAX_LINES, trace_tree


def span(
    name: str, number: int, parent: int | None = None, *, took: float | None = 1.0, broke: str | None = None
) -> Span:
    return Span(
        span_id=f"{number:016x}",
        parent_span_id=None if parent is None else f"{parent:016x}",
        name=name,
        start_ms=1_000.0 + number,
        end_ms=None if took is None else 1_000.0 + number + took,
        status_code=0 if broke is None else 2,
        status_message=broke,
    )


def tree(*spans: Span) -> list[str]:
    return trace_tree(Trace(trace_id="0", spans=spans)).split("\n")


def test_children_stand_under_their_parents() -> None:
    assert tree(
        span("answer", 0, took=1_200), span("search", 1, 0), span("chat", 2, 0), span("http", 3, 2)
    ) == [
        "answer  1.2 s, from +0.0 ms",
        "  search  1.0 ms, from +1.0 ms",
        "  chat  1.0 ms, from +2.0 ms",
        "    http  1.0 ms, from +3.0 ms",
    ]


def test_errors_and_missing_ends_are_told() -> None:
    assert tree(span("a", 0, broke="timed out"), span("b", 1, took=None)) == [
        "a  1.0 ms, from +0.0 ms  error: timed out",
        "b  no end, from +1.0 ms",
    ]


def test_trace_without_spans_says_so() -> None:
    assert tree() == ["(no spans were received)"]


def test_long_trace_is_cut() -> None:
    lines = tree(*(span("s", number) for number in range(200)))
    assert len(lines) == MAX_LINES + 1
    assert lines[-1] == f"… and {200 - MAX_LINES} more spans"


def test_dropped_spans_are_told() -> None:
    shown = trace_tree(Trace(trace_id="0", spans=(span("s", 0),), dropped_spans=4))
    assert shown.endswith("… and 4 spans that were not kept")


@given(st.lists(st.tuples(st.integers(0, 5), st.none() | st.integers(0, 5)), max_size=12))
def test_every_span_is_told_once_whatever_its_parent(shape: list[tuple[int, int | None]]) -> None:
    spans = [span(f"s{index}", number, parent) for index, (number, parent) in enumerate(shape)]
    told = [line.split()[0] for line in tree(*spans)] if spans else []
    assert sorted(told) == sorted(s.name for s in spans)
