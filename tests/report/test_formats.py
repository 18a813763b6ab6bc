from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.report import REPORTS, Page
from support.golden import assert_golden
from support.results import SAMPLE_CASES, SAMPLE_RUN, case_results, rendered, run_of

TEXTS = [report.name for report in REPORTS.values() if report.is_text]


def test_every_report_is_named_described_and_has_its_own_suffix() -> None:
    assert list(REPORTS) == [report.name for report in REPORTS.values()]
    assert all(report.description.endswith(".") for report in REPORTS.values())
    assert len({report.suffix for report in REPORTS.values()}) == len(REPORTS)


@pytest.mark.parametrize("name", TEXTS)
def test_report_of_the_sample_run_is_as_it_was_found_right(name: str) -> None:
    page = Page(stored_in="~/shop/.evenhand/runs.sqlite", view_command=f"evenhand view {SAMPLE_RUN.run_id}")
    assert_golden(f"report/sample{REPORTS[name].suffix}", rendered(name, SAMPLE_RUN, SAMPLE_CASES, page))


@pytest.mark.parametrize("name", TEXTS)
def test_report_of_a_run_without_cells_is_complete(name: str) -> None:
    assert_golden(f"report/empty{REPORTS[name].suffix}", rendered(name, run_of([], exit_code=2), []))


@pytest.mark.parametrize("name", TEXTS)
@settings(max_examples=60, deadline=None)
@given(cases=st.lists(case_results, max_size=4), repeat=st.integers(1, 2))
def test_any_results_render_in_every_format(name: str, cases: list, repeat: int) -> None:
    text = rendered(name, run_of(cases, repeat=repeat, suite="s"), cases)
    assert not text or text.endswith("\n")


@pytest.mark.parametrize("name", TEXTS)
def test_report_is_the_same_each_time(name: str) -> None:
    first = rendered(name, SAMPLE_RUN, SAMPLE_CASES)
    assert rendered(name, SAMPLE_RUN, SAMPLE_CASES) == first


def test_choosing_among_formats_loads_no_renderer() -> None:
    code = "import sys, evenhand.report; print([m for m in sys.modules if m.startswith(('rich', 'xml'))])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
