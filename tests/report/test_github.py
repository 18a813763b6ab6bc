from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.model.result import CaseResult
from evenhand.report.github import MAX_ANNOTATIONS
from support.results import SAMPLE_CASES, SAMPLE_RUN, assertion, case_results, cell_result, rendered, run_of


def test_a_failure_is_an_error_at_the_place_of_its_case() -> None:
    failure = assertion("contains", "fail", "found 100% of\nnothing", 0.0)
    case = cell_result("a/b", "fail", failure, location="evals/cases.yaml:41:5")
    first, last = rendered("github", run_of([case], exit_code=1), [case]).splitlines()
    assert first == (
        "::error file=evals/cases.yaml,line=41,col=5,title=a/b::contains: found 100%25 of%0Anothing"
    )
    assert last.startswith("FAILED: 0 passed, 1 failed, 0 errored, 0 skipped")


def test_what_errored_is_a_warning_with_its_class() -> None:
    case = cell_result("t", "error", error="no answer, at all", error_class="provider_timeout")
    first = rendered("github", run_of([case], exit_code=3), [case]).splitlines()[0]
    assert first == "::warning title=t::provider_timeout: no answer, at all"


@settings(max_examples=60, deadline=None)
@given(cases=st.lists(case_results, max_size=4))
def test_nothing_that_a_model_said_is_a_command(cases: list[CaseResult]) -> None:
    lines = rendered("github", run_of(cases, exit_code=1), cases).splitlines()
    assert all(line.startswith(("::error ", "::warning ", "::notice::")) for line in lines[:-1])
    assert not lines[-1].startswith("::")


def test_annotations_are_bounded_and_the_rest_is_counted() -> None:
    cases = [cell_result(f"t{n}", "fail", assertion("contains", "fail", "no", 0.0)) for n in range(30)]
    lines = rendered("github", run_of(cases, exit_code=1), cases).splitlines()
    assert sum(line.startswith("::error") for line in lines) == MAX_ANNOTATIONS
    assert lines[-2].startswith("::notice::20 more cells did not pass")


def test_a_job_gets_its_summary_and_its_outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    summary, outputs = tmp_path / "summary.md", tmp_path / "outputs"
    summary.write_text("before\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    monkeypatch.setenv("GITHUB_OUTPUT", str(outputs))
    rendered("github", SAMPLE_RUN, SAMPLE_CASES)
    assert summary.read_text(encoding="utf-8").startswith("before\n## ")
    pairs = dict(line.split("=", 1) for line in outputs.read_text(encoding="utf-8").splitlines())
    assert pairs["run_id"] == SAMPLE_RUN.run_id
    assert pairs["failed"] == str(SAMPLE_RUN.summary.failed + SAMPLE_RUN.summary.xpassed)
