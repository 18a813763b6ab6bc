"""The library as scripts, tests and notebooks use it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evenhand import (
    EvenhandError,
    FinishedRun,
    GeneratorError,
    PluginError,
    RunOptions,
    ServerError,
    UsageError,
    load_suite,
    run_suite,
)
from evenhand.report import REPORTS

SUITE = {
    "suite": "capitals",
    "providers": [{"type": "echo"}],
    "prompts": [{"id": "ask", "template": "{{ answer }}"}],
    "tests": [
        {"id": "right", "vars": {"answer": "Paris"}, "assert": [{"type": "equals", "value": "Paris"}]},
        {"id": "wrong", "vars": {"answer": "Rome"}, "assert": [{"type": "equals", "value": "Paris"}]},
    ],
}


@pytest.fixture(scope="module")
def finished() -> FinishedRun:
    return run_suite(load_suite(SUITE), save=False)


def test_a_run_shows_what_came_out_of_it(finished: FinishedRun) -> None:
    assert repr(finished) == (
        f"<FinishedRun {finished.run.run_id}: FAILED, 1 passed, 1 failed, 0 errored, 0 skipped>"
    )


def test_a_suite_shows_what_is_in_it() -> None:
    assert repr(load_suite(SUITE)) == "<Suite 'capitals' in suite: 2 cases, providers ['echo']>"


def test_a_run_tells_what_failed_as_the_command_line_does(finished: FinishedRun) -> None:
    report = finished.report()
    assert "FAILED wrong" in report
    assert "FAILED  1 passed, 1 failed" in report
    assert "\x1b" not in report
    assert json.loads(finished.report("json"))["summary"]["failed"] == 1


@pytest.mark.parametrize("name", [name for name, report in REPORTS.items() if report.is_text])
def test_every_report_that_is_text_can_be_had_as_one(name: str, finished: FinishedRun) -> None:
    assert "wrong" in finished.report(name)


@pytest.mark.parametrize("name", ["parquet", "xml"])
def test_another_report_is_refused_with_those_there_are(name: str, finished: FinishedRun) -> None:
    with pytest.raises(UsageError, match=f"no format '{name}' that is text; there are table, json"):
        finished.report(name)


def test_cases_can_be_had_by_one_status_or_several(finished: FinishedRun) -> None:
    assert [case.cell.test_id for case in finished.cases(statuses="fail")] == ["wrong"]
    assert [case.cell.test_id for case in finished.cases(statuses=("pass", "error"))] == ["right"]


@pytest.mark.parametrize(
    ("status", "hint"), [("failed", "did you mean 'fail'"), ("red", "there are pass, fail, error")]
)
def test_a_status_that_there_is_not_is_refused(status: str, hint: str, finished: FinishedRun) -> None:
    with pytest.raises(UsageError, match=hint):
        finished.cases(statuses=[status])


def test_a_path_or_a_mapping_is_run_as_the_suite_that_it_means(tmp_path: Path) -> None:
    assert run_suite(SUITE, RunOptions(filters=("right",)), save=False).passed
    (tmp_path / "evenhand.yaml").write_text(json.dumps(SUITE), encoding="utf-8")
    assert run_suite(tmp_path, save=False).summary.failed == 1
    assert run_suite(str(tmp_path), save=False).summary.failed == 1


def test_options_of_another_type_are_refused_in_plain_words() -> None:
    with pytest.raises(UsageError, match="options must be a `RunOptions`, found dict"):
        run_suite(SUITE, {"tags": ("x",)}, save=False)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="tags: expected a tuple, found 'smoke'"):
        run_suite(SUITE, RunOptions(tags="smoke"), save=False)  # type: ignore[arg-type]


def test_every_failure_of_a_run_can_be_caught_as_one() -> None:
    assert all(issubclass(error, EvenhandError) for error in (GeneratorError, PluginError, ServerError))
