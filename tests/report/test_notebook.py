from __future__ import annotations

import sys
import types

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand import load_suite, run_suite
from evenhand.errors import UsageError
from evenhand.model.result import CaseResult
from evenhand.report.columns import columns_of
from evenhand.report.notebook import MAX_ROWS, data_frame, notebook_table
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


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_data_frame_has_a_row_for_each_cell(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library's own part is one call, for which a module that keeps what it is given stands here."""
    for name in ("pandas", "polars"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, library, types.SimpleNamespace(DataFrame=dict))
    frame = data_frame(SAMPLE_RUN, query(SAMPLE_CASES))
    assert list(frame) == [column.name for column in columns_of(SAMPLE_RUN)]
    assert frame["test_id"] == [case.cell.test_id for case in SAMPLE_CASES]


def test_without_a_library_for_frames_it_is_told_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pandas", "polars"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UsageError, match="pip install pandas"):
        data_frame(SAMPLE_RUN, query(SAMPLE_CASES))


def test_a_finished_run_shows_itself() -> None:
    suite = {"providers": [{"type": "echo"}], "tests": [{"id": "<b>", "assert": [{"type": "is-json"}]}]}
    finished = run_suite(load_suite(suite), save=False)
    assert "&lt;b&gt;" in finished._repr_html_()
