"""A trace as a tree: who called whom, when, for how long, and what broke."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from evenhand.model.trace import ERROR, Span, Trace
from evenhand.report.figures import duration

MAX_LINES = 60
MAX_INDENT = 20


def trace_tree(trace: Trace) -> str:
    """A line for each span, children under their parents, siblings in the order in which they began."""
    if not trace.spans:
        return "(no spans were received)"
    lines = list(_lines(trace))
    left = len(lines) - MAX_LINES
    shown = lines[:MAX_LINES] + ([f"… and {left} more spans"] if left > 0 else [])
    if trace.dropped_spans:
        shown.append(f"… and {trace.dropped_spans} spans that were not kept")
    return "\n".join(shown)


def _lines(trace: Trace) -> Iterator[str]:
    first_ms = trace.spans[0].start_ms
    return ("  " * min(depth, MAX_INDENT) + _line(span, first_ms) for depth, span in in_order(trace))


def in_order(trace: Trace) -> Iterator[tuple[int, Span]]:
    """Every span with its depth, children behind their parents; each once, whatever the spans say of each other."""
    known = {span.span_id for span in trace.spans}
    children: dict[str | None, list[Span]] = defaultdict(list)
    for span in trace.spans:
        parent = span.parent_span_id
        children[parent if parent in known else None].append(span)
    told: set[int] = set()
    # Spans may name each other as parents, or themselves: those that no root leads to follow at the end.
    for start in (children[None], trace.spans):
        waiting = [(span, 0) for span in reversed(start)]
        while waiting:
            span, depth = waiting.pop()
            if id(span) in told:
                continue
            told.add(id(span))
            yield depth, span
            waiting += [(child, depth + 1) for child in reversed(children.get(span.span_id, ()))]


def _line(span: Span, first_ms: float) -> str:
    took = span.duration_ms
    figures = "no end" if took is None else duration(took)
    line = f"{span.name or '(no name)'}  {figures}, from +{duration(span.start_ms - first_ms)}"
    if span.status_code != ERROR:
        return line
    return f"{line}  error: {span.status_message}" if span.status_message else f"{line}  error"
