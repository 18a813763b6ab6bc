"""Where things stand in plots."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evenhand.model.trace import Span, Trace
from evenhand.web.plots import BARS, HEIGHT, WIDTH, histogram, scatter, trend, waterfall


@given(values=st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=30))
def test_a_histogram_counts_every_finite_value_inside_its_box(values: list[float]) -> None:
    plot = histogram(values, str)
    if plot is None:
        return
    assert len(plot.bars) == BARS
    assert sum(int(bar.label.split(" ")[0].replace(",", "")) for bar in plot.bars) == plot.count
    assert all(0 <= bar.y <= HEIGHT and 0 <= bar.height <= HEIGHT for bar in plot.bars)


@given(
    pairs=st.lists(st.tuples(st.floats(0, 1e6), st.floats(-2, 2), st.just("a"), st.just("/a")), max_size=20)
)
def test_points_stay_in_their_box(pairs: list[tuple[float, float, str, str]]) -> None:
    plot = scatter(pairs, str)
    points = () if plot is None else plot.points
    assert len(points) == len(pairs)
    assert all(0 <= point.x <= WIDTH and 0 <= point.y <= HEIGHT for point in points)


def test_a_trend_goes_from_left_to_right() -> None:
    points = trend([(0.0, "a", "/a"), (0.5, "b", "/b"), (1.0, "c", "/c")])
    assert [(point.x, point.y) for point in points] == [(0, HEIGHT), (WIDTH / 2, HEIGHT / 2), (WIDTH, 0)]


SPANS = st.builds(
    Span,
    span_id=st.sampled_from("abc"),
    parent_span_id=st.none() | st.sampled_from("abcd"),
    name=st.text(max_size=3),
    start_ms=st.floats(0, 1e13),
    end_ms=st.none() | st.floats(0, 1e13),
    status_code=st.integers(0, 2),
)


@given(spans=st.lists(SPANS, max_size=6))
def test_every_span_has_its_row_inside_the_waterfall_whatever_spans_say_of_each_other(
    spans: list[Span],
) -> None:
    rows = waterfall(Trace(trace_id="t", spans=tuple(spans)))
    assert len(rows) == len(spans)
    assert all(0 <= row.x <= WIDTH and 0 < row.width <= WIDTH for row in rows)


def test_children_stand_below_their_parents() -> None:
    spans = (
        Span(span_id="a", name="answer", start_ms=0, end_ms=100),
        Span(span_id="b", parent_span_id="a", name="search", start_ms=10, end_ms=60, status_code=2),
    )
    one, two = waterfall(Trace(trace_id="t", spans=spans))
    assert (one.name, one.depth, one.x, one.width) == ("answer", 0, 0, WIDTH)
    assert (two.name, two.depth, two.x, two.width, two.failed) == ("search", 1, 32, 160, True)
