from __future__ import annotations

import json

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.model.result import CaseResult
from support.results import SAMPLE_CASES, SAMPLE_RUN, case_results, cell_result, rendered, run_of


def test_lines_read_back_as_the_results() -> None:
    lines = rendered("jsonl", SAMPLE_RUN, SAMPLE_CASES).splitlines()
    assert tuple(msgspec.json.decode(line, type=CaseResult) for line in lines) == SAMPLE_CASES


@settings(max_examples=60, deadline=None)
@given(st.lists(case_results, max_size=4))
def test_there_is_one_line_per_case_whatever_a_model_said(cases: list[CaseResult]) -> None:
    text = rendered("jsonl", run_of(cases), cases)
    # `str.splitlines` is the strictest reader: it takes U+2028, U+0085 and the like for ends of lines.
    assert len(text.splitlines()) == len(cases)
    assert all(
        json.loads(line)["status"] == case.status for line, case in zip(text.splitlines(), cases, strict=True)
    )


def test_separators_in_an_output_survive() -> None:
    case = cell_result("t", "pass", output="a\u2028b\u2029c\x85d\ne\x0bf\x1cg")
    text = rendered("jsonl", run_of([case]), [case])
    assert len(text.splitlines()) == 1
    assert json.loads(text)["output"] == case.output
