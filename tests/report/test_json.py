from __future__ import annotations

import json

import jsonschema_rs
import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.model.result import RESULT_SCHEMA_VERSION, CaseResult, Run, RunDocument
from support.results import SAMPLE_CASES, SAMPLE_RUN, case_results, cell_result, rendered, run_of

SCHEMA = jsonschema_rs.validator_for(msgspec.json.schema(RunDocument), offline=True)


def test_document_reads_back_as_the_run_and_its_cases() -> None:
    document = msgspec.json.decode(rendered("json", SAMPLE_RUN, SAMPLE_CASES), type=RunDocument)
    assert document.cases == SAMPLE_CASES
    for field in Run.__struct_fields__:
        assert getattr(document, field) == getattr(SAMPLE_RUN, field), field


def test_document_states_its_schema_version_and_status_even_at_their_defaults() -> None:
    document = json.loads(rendered("json", Run(run_id="x"), []))
    assert document["schema_version"] == RESULT_SCHEMA_VERSION
    assert document["status"] == "running"


def test_document_matches_the_published_schema() -> None:
    SCHEMA.validate(json.loads(rendered("json", SAMPLE_RUN, SAMPLE_CASES)))
    SCHEMA.validate(json.loads(rendered("json", run_of([]), [])))


def test_each_case_stands_on_its_own_line() -> None:
    lines = rendered("json", SAMPLE_RUN, SAMPLE_CASES).splitlines()
    cases = [line for line in lines if line.startswith('  {"cell"')]
    assert len(cases) == len(SAMPLE_CASES)


@settings(max_examples=60, deadline=None)
@given(st.lists(case_results, max_size=3))
def test_document_is_json_for_any_results(cases: list[CaseResult]) -> None:
    document = json.loads(rendered("json", run_of(cases), cases))
    assert [case["status"] for case in document["cases"]] == [case.status for case in cases]


def test_a_case_with_an_output_that_is_no_unicode_is_kept_whole() -> None:
    case = cell_result("t", "fail", output="a\ud800b")
    assert json.loads(rendered("json", run_of([case]), [case]))["cases"][0]["output"] == "a\ud800b"
