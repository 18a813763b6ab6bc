from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenhand import load_suite, run_suite
from evenhand.errors import UsageError
from evenhand.model.result import CaseResult
from evenhand.report.columns import columns_of
from evenhand.report.notebook import MAX_ROWS, TYPES, data_frame, notebook_table
from support.results import SAMPLE_CASES, SAMPLE_RUN, case_results, cell_result, query, run_of


def test_a_notebook_shows_what_did_not_pass_first() -> None:
    shown = notebook_table(SAMPLE_RUN, query(SAMPLE_CASES))
    assert shown.startswith("<p><b>ERROR</b> 6 passed, 4 failed")
    assert shown.index("refunds/partial") < shown.index("greeting/0")


@settings(max_examples=60, deadline=None)
@given(cases=st.lists(case_results, max_size=3))
def test_a_notebook_shows_text_of_models_as_text(cases: list[CaseResult]) -> None:
    shown = notebook_table(run_of(cases), query(cases))
    assert shown.count("<tr>") == 1 + len(cases)
    assert shown.count("<") == shown.count(">")


def test_a_notebook_shows_a_few_cells_and_counts_the_rest() -> None:
    cases = [cell_result(f"t{n}", "pass") for n in range(MAX_ROWS + 5)]
    assert "and 5 more cells" in notebook_table(run_of(cases), query(cases))


@pytest.fixture(params=TYPES)
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The one library for data frames that can be imported."""
    for name in TYPES:
        if name != request.param:
            monkeypatch.setitem(sys.modules, name, None)
    return str(request.param)


def column(frame: Any, name: str) -> list[Any]:
    """The values of a column, None where there is none."""
    return [None if str(value) in ("None", "nan", "<NA>") else value for value in frame[name].to_list()]


def test_a_data_frame_is_one_of_the_library_that_is_installed(library: str) -> None:
    frame = data_frame(SAMPLE_RUN, query(SAMPLE_CASES))
    assert type(frame).__module__.partition(".")[0] == library
    assert list(frame.columns) == [column.name for column in columns_of(SAMPLE_RUN)]
    assert frame.shape == (len(SAMPLE_CASES), len(columns_of(SAMPLE_RUN)))


def test_a_data_frame_has_a_row_for_each_cell_with_every_value_as_it_is(library: str) -> None:
    frame = data_frame(SAMPLE_RUN, query(SAMPLE_CASES))
    for each in columns_of(SAMPLE_RUN):
        assert column(frame, each.name) == [each.value(case) for case in SAMPLE_CASES], each.name


def test_columns_have_their_types_whatever_stands_in_them(library: str) -> None:
    whole, empty = data_frame(SAMPLE_RUN, query(SAMPLE_CASES)), data_frame(SAMPLE_RUN, query([]))
    assert list(map(str, whole.dtypes)) == list(map(str, empty.dtypes))
    assert empty.shape == (0, len(columns_of(SAMPLE_RUN)))


def test_a_column_may_begin_with_nothing_and_go_on_with_values(library: str) -> None:
    cases = [cell_result(f"t{n}", "pass", error=None if n < 300 else "x", latency_ms=3) for n in range(400)]
    frame = data_frame(run_of(cases), query(cases))
    assert column(frame, "error")[299:301] == [None, "x"]
    assert sum(column(frame, "latency_ms")) == 1_200


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cases=st.lists(case_results, max_size=3))
def test_any_cells_make_a_data_frame(library: str, cases: list[CaseResult]) -> None:
    frame = data_frame(run_of(cases), query(cases))
    assert frame.shape[0] == len(cases)


def test_a_finished_run_is_a_data_frame(library: str) -> None:
    suite = {"providers": [{"type": "echo"}], "tests": [{"id": "a", "assert": [{"type": "is-json"}]}]}
    frame = run_suite(load_suite(suite), save=False).to_dataframe()
    assert (column(frame, "test_id"), column(frame, "status")) == (["a"], ["fail"])


def test_without_a_library_for_frames_it_is_told_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pandas", "polars"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UsageError, match="pip install pandas"):
        data_frame(SAMPLE_RUN, query(SAMPLE_CASES))


def test_a_finished_run_shows_itself() -> None:
    suite = {"providers": [{"type": "echo"}], "tests": [{"id": "<b>", "assert": [{"type": "is-json"}]}]}
    finished = run_suite(load_suite(suite), save=False)
    assert "&lt;b&gt;" in finished._repr_html_()
