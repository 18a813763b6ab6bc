from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.cli.meter import BAR_COLUMNS, RATE_WINDOW_S, Meter, clock_time
from evenhand.model.result import CaseStatus

BEGAN_S = 100.0


def meter(total: int | None, *statuses: str) -> Meter:
    found = Meter()
    found.start(BEGAN_S, total)
    for status in statuses:
        found.counts[CaseStatus(status)] += 1
    return found


def line(meter: Meter, after_s: float = 10.0, columns: int = 120) -> str:
    return "".join(part.text for part in meter.parts(BEGAN_S + after_s, columns))


def test_line_tells_share_counts_rate_and_times() -> None:
    statuses = [*["pass"] * 6, "xfail", "fail", "xpass", "error", "skip"]
    full = BAR_COLUMNS * 11 // 40
    assert line(meter(40, *statuses), 5) == (
        f" 27%  11/40  {'━' * full}{'─' * (BAR_COLUMNS - full)}  7 passed  2 failed  1 errored  1 skipped  2.2/s  0:05"
        "  0:13 left"
    )


def test_line_without_a_known_total_tells_what_it_knows() -> None:
    assert line(meter(None, "pass")) == "1 cell  1 passed  0 failed  0 errored  0 skipped  0.1/s  0:10"


def test_line_before_the_first_cell_promises_no_end() -> None:
    assert line(meter(40)).endswith("0.0/s  0:10")


def test_a_run_without_cells_is_done() -> None:
    assert line(meter(0)).startswith("100%  0/0  0 passed")


@pytest.mark.parametrize("columns", [30, 50, 79])
def test_the_bar_goes_first_where_there_is_no_room(columns: int) -> None:
    found = line(meter(1_000, "pass", "fail"), columns=columns)
    assert found.startswith("  0%  2/1,000  1 passed")
    assert "━" not in found
    assert "─" not in found


@given(
    total=st.none() | st.integers(0, 10**9),
    statuses=st.lists(st.sampled_from(CaseStatus), max_size=20),
    after_s=st.floats(0, 1e6),
    columns=st.integers(1, 200),
)
def test_line_never_takes_more_than_its_room(
    total: int | None, statuses: list[CaseStatus], after_s: float, columns: int
) -> None:
    assert 0 < len(line(meter(total, *statuses), after_s, columns)) <= columns


def test_rate_follows_the_last_seconds() -> None:
    found = meter(10_000)
    for second in range(1, 101):
        found.counts[CaseStatus.PASS] += 100 if second <= 50 else 1
        found.parts(BEGAN_S + second, 120)
    assert "  1.0/s  " in line(found, 100)
    assert RATE_WINDOW_S < 50


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0:00"), (-1, "0:00"), (5.4, "0:05"), (750, "12:30"), (3_723, "1:02:03")]
)
def test_times_are_read_as_a_clock(seconds: float, text: str) -> None:
    assert clock_time(seconds) == text
