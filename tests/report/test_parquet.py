from __future__ import annotations

import io
import sys
from collections.abc import Sequence

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import UsageError
from evenhand.model.result import CaseResult, Run
from evenhand.report import REPORTS
from evenhand.report.columns import columns_of, encodable
from support.results import SAMPLE_CASES, SAMPLE_RUN, case_results, run_of


def table(run: Run, cases: Sequence[CaseResult]):
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")

    def query(*, statuses=None):
        return iter(cases)

    REPORTS["parquet"].render(run, query, out)
    out.buffer.seek(0)
    return pq.read_table(out.buffer)


def test_the_table_has_a_row_for_each_cell_with_typed_columns() -> None:
    read = table(SAMPLE_RUN, SAMPLE_CASES)
    assert read.column_names == [column.name for column in columns_of(SAMPLE_RUN)]
    assert str(read.schema.field("score").type) == "double"
    assert read.column("status").to_pylist() == [case.status.value for case in SAMPLE_CASES]


@settings(max_examples=30, deadline=None)
@given(cases=st.lists(case_results, max_size=4))
def test_outputs_read_back_whatever_a_model_said(cases: list[CaseResult]) -> None:
    run = run_of(cases)
    outputs = next(column.value for column in columns_of(run) if column.name == "output")
    expected = [None if outputs(case) is None else encodable(outputs(case)) for case in cases]
    assert table(run, cases).column("output").to_pylist() == expected


def test_a_missing_library_is_told_with_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"pip install 'evenhand\[parquet\]'"):
        table(SAMPLE_RUN, SAMPLE_CASES)
