"""Graded runs from suite to exit code, with real programs as systems, judges and checkers."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from evenhand import RunOptions, SuiteError, load_suite, run_suite
from evenhand.api import FinishedRun

JUDGE = """
import json, pathlib, sys
asked = json.load(sys.stdin)
reply = json.loads(pathlib.Path("reply.json").read_text())
with open("asked.jsonl", "a") as log:
    log.write(json.dumps(asked) + "\\n")
print(json.dumps(reply))
"""

GOOD = {"reasoning": "kind", "pass": True, "score": 0.9}


def judged(
    folder: Path,
    reply: Any,
    *,
    assertion: Any = None,
    output: str = "hello",
) -> FinishedRun:
    """A run of one case over a provider that echoes, judged by a program that replies so."""
    (folder / "judge.py").write_text(JUDGE, encoding="utf-8")
    (folder / "reply.json").write_text(json.dumps(reply), encoding="utf-8")
    suite = {
        "version": 1,
        "providers": [{"id": "app", "type": "echo"}],
        "prompts": [{"id": "p", "template": output}],
        "grader": {"provider": {"id": "judge", "type": "exec", "command": [sys.executable, "judge.py"]}},
        "runner": {"retries": 0},
        "tests": [{"id": "t", "assert": [assertion or {"type": "llm-rubric", "value": "Is kind."}]}],
    }
    (folder / "evenhand.yaml").write_text(json.dumps(suite), encoding="utf-8")
    return run_suite(load_suite(folder), save=False)


def asked(folder: Path) -> list[Any]:
    log = folder / "asked.jsonl"
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []


def test_a_program_can_be_the_judge_and_its_cost_stands_apart(tmp_path: Path) -> None:
    run = judged(tmp_path, {"output": GOOD, "cost_usd": 0.002})
    (case,) = run.cases()
    assert (run.exit_code, case.status, case.score) == (0, "pass", 0.9)
    assert case.asserts[0].reason == "kind"
    assert case.asserts[0].cost_usd == 0.002
    assert (run.summary.cost_usd, run.summary.grader_cost_usd) == (None, 0.002)
    (question,) = asked(tmp_path)
    system, user = question["prompt"]["messages"]
    assert (system["role"], user["role"]) == ("system", "user")
    assert "hello" in user["content"]


@pytest.mark.parametrize(
    ("output", "error_class", "asks"),
    [
        ("I believe that the answer is kind.", "grader_failed", 3),
        ({"reasoning": "?", "pass": True, "score": 0}, "grader_failed", 3),
        ({"reasoning": "cut"}, "grader_failed", 3),
    ],
)
def test_a_judge_without_a_verdict_is_no_failure_of_the_model(
    output: Any, error_class: str, asks: int, tmp_path: Path
) -> None:
    run = judged(tmp_path, {"output": output, "cost_usd": 0.001})
    (case,) = run.cases()
    assert (run.exit_code, case.status, case.error_class) == (3, "error", error_class)
    assert case.score is None
    assert len(asked(tmp_path)) == asks
    assert run.summary.grader_cost_usd == pytest.approx(0.001 * asks)


def test_a_truncated_verdict_is_no_verdict(tmp_path: Path) -> None:
    run = judged(tmp_path, {"output": GOOD, "stop_reason": "max_tokens"})
    (case,) = run.cases()
    assert (run.exit_code, case.status, case.error_class) == (3, "error", "grader_failed")


@pytest.mark.parametrize(
    ("error_class", "as_grader", "exit_code"),
    [
        ("provider_unavailable", "grader_unavailable", 3),
        ("provider_rate_limit", "grader_unavailable", 3),
        ("provider_auth", "provider_auth", 3),
        ("provider_request", "grader_missing", 2),
    ],
)
def test_a_judges_outage_has_a_class_of_its_own(
    error_class: str, as_grader: str, exit_code: int, tmp_path: Path
) -> None:
    run = judged(tmp_path, {"error": {"message": "down", "class": error_class}})
    (case,) = run.cases()
    assert (run.exit_code, case.status, case.error_class) == (exit_code, "error", as_grader)
    assert "grader 'judge': down" in (case.error or "")


def test_what_is_decided_costs_nothing(tmp_path: Path) -> None:
    group = {"type": "llm-rubric", "value": "r"}
    (tmp_path / "app").mkdir()
    suite_run = judged(tmp_path, {"output": GOOD}, assertion=group)
    assert len(asked(tmp_path)) == 1
    document = json.loads((tmp_path / "evenhand.yaml").read_text(encoding="utf-8"))
    document["tests"][0]["assert"].insert(0, {"type": "contains", "value": "absent"})
    (tmp_path / "evenhand.yaml").write_text(json.dumps(document), encoding="utf-8")
    run = run_suite(load_suite(tmp_path), save=False)
    (case,) = run.cases()
    assert [a.status for a in case.asserts] == ["fail", "skipped"]
    assert len(asked(tmp_path)) == 1
    assert suite_run.exit_code == 0


def write_missing(folder: Path) -> None:
    suite = {
        "version": 1,
        "providers": [{"id": "app", "type": "echo"}],
        "tests": [
            {"id": "plain", "assert": [{"type": "equals", "value": ""}]},
            {"id": "rubric", "assert": [{"type": "llm-rubric", "value": "r"}]},
            {"id": "near", "assert": [{"type": "similar", "value": "r"}]},
        ],
    }
    (folder / "evenhand.yaml").write_text(json.dumps(suite), encoding="utf-8")


def test_a_run_that_needs_a_grader_nobody_configures_does_not_start(tmp_path: Path) -> None:
    write_missing(tmp_path)
    with pytest.raises(SuiteError) as refused:
        run_suite(load_suite(tmp_path), save=False)
    assert [str(problem).partition(";")[0] for problem in refused.value.problems] == [
        "case 'rubric': llm-rubric assertion needs a grader",
        "case 'near': similar assertion needs an embeddings provider in the suite",
    ]


def test_a_grader_that_no_selected_case_needs_may_be_missing(tmp_path: Path) -> None:
    write_missing(tmp_path)
    run = run_suite(load_suite(tmp_path), RunOptions(filters=("plain",)), save=False)
    assert (run.exit_code, run.summary.passed) == (0, 1)


def test_what_several_judges_cost_adds_up(tmp_path: Path) -> None:
    judges = [
        {"provider": {"id": name, "type": "exec", "command": [sys.executable, "judge.py"]}} for name in "abc"
    ]
    rubric = {"type": "llm-rubric", "value": "Is kind.", "grader": judges, "vote": "all"}
    run = judged(tmp_path, {"output": GOOD, "cost_usd": 0.002}, assertion=rubric)
    (case,) = run.cases()
    assert (run.exit_code, case.score, len(case.asserts[0].parts)) == (0, 0.9, 3)
    assert run.summary.grader_cost_usd == case.asserts[0].cost_usd == pytest.approx(0.006)
    assert len(asked(tmp_path)) == 3
