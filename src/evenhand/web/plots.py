"""Plots as numbers: where bars, points and lines stand in a box, for templates to draw as SVG."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import msgspec

from evenhand.model.trace import ERROR, Span, Trace
from evenhand.report.figures import duration
from evenhand.report.trace_tree import in_order

WIDTH, HEIGHT = 320.0, 90.0
"""The box of a plot, in its own units."""

BARS = 24

MAX_SPANS = 200
MAX_DEPTH = 12
"""Spans of a trace that are drawn, and how deep they are set in."""

MAX_POINTS = 400
"""Points of one scatter; of more, evenly spaced ones are drawn."""


class Bar(msgspec.Struct, frozen=True, kw_only=True):
    """One bar of a histogram and what it counts."""

    x: float
    y: float
    width: float
    height: float
    label: str


class Histogram(msgspec.Struct, frozen=True, kw_only=True):
    """How values are distributed, with the least and the greatest in words."""

    bars: tuple[Bar, ...]
    count: int
    low: str
    high: str


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """One point of a scatter or a line."""

    x: float
    y: float
    label: str = ""
    address: str = ""


class Scatter(msgspec.Struct, frozen=True, kw_only=True):
    """Points over two axes, with the ends of the horizontal one in words."""

    points: tuple[Point, ...]
    low: str
    high: str


class WaterfallRow(msgspec.Struct, frozen=True, kw_only=True):
    """One span of a trace: its depth, and when it went on as shares of the width of the plot."""

    depth: int
    name: str
    x: float
    width: float
    label: str
    failed: bool


def waterfall(trace: Trace) -> tuple[WaterfallRow, ...]:
    """The spans of a trace, children below their parents, from the first beginning to the last end."""
    spans = trace.spans[:MAX_SPANS]
    times = [span.start_ms for span in spans] + [span.end_ms for span in spans if span.end_ms is not None]
    if not times or not all(map(math.isfinite, times)):
        return ()
    first, span_of_time = min(times), (max(times) - min(times)) or 1.0
    shown = itertools.islice(in_order(trace), MAX_SPANS)
    return tuple(_waterfall_row(depth, span, first, span_of_time) for depth, span in shown)


def _waterfall_row(depth: int, span: Span, first_ms: float, whole_ms: float) -> WaterfallRow:
    took = max(0.0, span.duration_ms or 0.0)
    words = "no end" if span.duration_ms is None else duration(took)
    return WaterfallRow(
        depth=min(depth, MAX_DEPTH),
        name=span.name or "(no name)",
        x=round(min(WIDTH, max(0.0, WIDTH * (span.start_ms - first_ms) / whole_ms)), 2),
        width=round(min(WIDTH, max(1.0, WIDTH * took / whole_ms)), 2),
        label=f"{words}, from +{duration(max(0.0, span.start_ms - first_ms))}",
        failed=span.status_code == ERROR,
    )


def histogram(values: Sequence[float], word: Callable[[float], str]) -> Histogram | None:
    """The distribution of values, None where there is none to show. `word` says a value as people read it."""
    finite = [value for value in values if math.isfinite(value)]
    if len(finite) < 2:
        return None
    low, high = min(finite), max(finite)
    if low == high:
        return None
    counts = [0] * BARS
    step = (high - low) / BARS
    if step == 0 or not math.isfinite(step):
        return None
    for value in finite:
        counts[min(int((value - low) / step), BARS - 1)] += 1
    most = max(counts)
    slot = WIDTH / BARS
    bars = (
        Bar(
            x=round(place * slot, 2),
            y=round(HEIGHT - HEIGHT * count / most, 2),
            width=round(slot - 1, 2),
            height=round(HEIGHT * count / most, 2),
            label=f"{count:,} from {word(low + place * step)} to {word(low + (place + 1) * step)}",
        )
        for place, count in enumerate(counts)
    )
    return Histogram(bars=tuple(bars), count=len(finite), low=word(low), high=word(high))


def scatter(pairs: Sequence[tuple[float, float, str, str]], word: Callable[[float], str]) -> Scatter | None:
    """Points of (horizontal value, share of 1, label, address); None where there is none to show."""
    finite = [pair for pair in pairs if math.isfinite(pair[0]) and math.isfinite(pair[1])]
    if not finite:
        return None
    stride = max(1, len(finite) // MAX_POINTS)
    low, high = min(x for x, *_ in finite), max(x for x, *_ in finite)
    span = high - low or 1.0
    points = (
        Point(
            x=round(WIDTH * (x - low) / span, 2),
            y=round(HEIGHT * (1 - min(max(y, 0.0), 1.0)), 2),
            label=label,
            address=address,
        )
        for x, y, label, address in finite[::stride]
    )
    return Scatter(points=tuple(points), low=word(low), high=word(high))


def trend(shares: Sequence[tuple[float, str, str]]) -> tuple[Point, ...]:
    """A line through (share of 1, label, address), evenly spaced from left to right."""
    step = WIDTH / max(1, len(shares) - 1)
    return tuple(
        Point(x=round(place * step, 2), y=round(HEIGHT * (1 - share), 2), label=label, address=address)
        for place, (share, label, address) in enumerate(shares)
    )
