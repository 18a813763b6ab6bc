"""Groups and named scores in whole runs: with scripts and graders, from the store, in every report."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from evenhand.api import RunOptions, load_suite, run_suite
from evenhand.model.result import CaseResult, Run
from evenhand.report import REPORTS

HEAD: dict[str, Any] = {
    "version": 1,
    "providers": [{"id": "a", "type": "echo"}, {"id": "b", "type": "echo"}],
    "prompts": [{"id": "p", "template": "{{ answer }}"}],
}
YES = {"type": "contains", "value": "yes"}
NO = {"type": "contains", "value": "no"}
SCRIPT = {
    "type": "javascript",
    "value": "({pass: false, score: 0.5, reason: 'half', componentResults: [{pass: false, reason: 'no title'}]})",
}
CHECKER = (
    "import json, sys\\n"
    "asked = json.load(sys.stdin)\\n"
    "open('asked', 'a').write('x')\\n"
    "print(json.dumps({'pass': True, 'score': 1.0, 'reason': 'fine'}))\\n"
)


def run(folder: Path, *assertions: Any, answer: str = "yes", **case: Any) -> tuple[Run, list[CaseResult]]:
    document = {
        **HEAD,
        "tests": [{"id": "t", "vars": {"answer": answer}, "assert": list(assertions), **case}],
    }
    (folder / "evenhand.yaml").write_text(json.dumps(document), encoding="utf-8")
    finished = run_suite(load_suite(folder), RunOptions(), save=False)
    return finished.run, list(finished.cases())


def test_tree_of_a_failed_group_is_printed_in_every_report_for_people(tmp_path: Path) -> None:
    group = {
        "type": "all-of",
        "assert": [YES, {"type": "any-of", "assert": [{**NO, "negate": False}, SCRIPT]}],
    }
    finished, cases = run(tmp_path, group)

    def answer(**_: Any) -> Any:
        return iter(cases)

    for name in ("table", "md", "junit"):
        out = io.StringIO()
        REPORTS[name].render(finished, answer, out)
        text = out.getvalue()
        for words in (
            "every member must pass: 1 passed, 1 failed",
            "one member must pass: 2 failed",
            "no title",
        ):
            assert words in text, name
        assert text.index("any-of") < text.index("javascript") < text.index("component")


def test_tree_is_the_same_after_it_was_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENHAND_HOME", str(tmp_path / "home"))
    document = {
        **HEAD,
        "tests": [{"vars": {"answer": "yes"}, "assert": [{"type": "any-of", "assert": [NO, SCRIPT]}]}],
    }
    (tmp_path / "evenhand.yaml").write_text(json.dumps(document), encoding="utf-8")
    finished = run_suite(load_suite(tmp_path))
    stored = next(iter(finished.cases()))
    (group,) = stored.asserts
    first, second = group.parts
    assert (first["kind"], first["status"], first["criteria"]["value"]) == ("contains", "fail", "no")
    assert second["parts"][0]["reason"] == "no title"


def test_script_of_a_group_sees_the_case_and_its_own_config_only(tmp_path: Path) -> None:
    seen = "context.config === undefined && context.test.assert[0].type === 'assert-set'"
    configured = {"type": "javascript", "value": "context.config.n", "config": {"n": 2}}
    members = [{"type": "javascript", "value": seen}, configured]
    _, cases = run(tmp_path, {"type": "assert-set", "config": {"n": 9}, "assert": members})
    assert [case.status for case in cases] == ["pass", "pass"]
    assert cases[0].asserts[0].score == 1.5


def test_checker_inside_a_group_is_only_asked_where_it_matters(tmp_path: Path) -> None:
    (tmp_path / "check.py").write_text(CHECKER.encode().decode("unicode_escape"), encoding="utf-8")
    checker = {"type": "exec", "command": ["python3", "check.py"]}
    _, cases = run(tmp_path, {"type": "any-of", "assert": [checker, YES]})
    assert [case.status for case in cases] == ["pass", "pass"]
    assert not (tmp_path / "asked").exists()
    _, cases = run(tmp_path, {"type": "all-of", "assert": [checker, YES]})
    assert [case.status for case in cases] == ["pass", "pass"]
    assert (tmp_path / "asked").read_text() == "xx"


def test_grader_inside_a_group_that_nobody_configures_refuses_the_run(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="grader"):
        run(tmp_path, {"type": "any-of", "assert": [{"type": "llm-rubric", "value": "Is kind."}, NO]})


def test_case_whose_groups_hold_only_unenforced_budgets_is_unchecked(tmp_path: Path) -> None:
    budget = {"type": "cost", "max": 1}
    _, cases = run(tmp_path, {"type": "all-of", "assert": [budget, {"type": "none-of", "assert": [budget]}]})
    assert all(case.unchecked for case in cases)


def test_named_scores_are_collected_by_case_by_provider_and_over_the_run(tmp_path: Path) -> None:
    members = [{**YES, "metric": "inner", "weight": 3}, {**NO, "metric": "{{ answer }}"}]
    assertions = [
        {"type": "assert-set", "threshold": 0.5, "metric": "outer", "weight": 2, "assert": members},
        {**NO, "metric": "inner", "weight": 1},
    ]
    finished, cases = run(tmp_path, *assertions, threshold=0.1)
    expected = {"inner": pytest.approx(6 / 7), "outer": 0.75, "yes": 0.0}
    assert cases[0].named_scores == expected
    summary = finished.summary
    assert summary.named_scores == expected
    assert summary.named_counts == {"inner": 4, "outer": 2, "yes": 2}
    assert summary.named_scores_by_provider == {"a": expected, "b": expected}
    for name in ("table", "md"):
        out = io.StringIO()
        REPORTS[name].render(finished, lambda **_: iter(cases), out)
        assert "0.857" in out.getvalue()
        assert "outer" in out.getvalue()


def test_named_score_under_the_metric_of_its_assertion_is_left_out(tmp_path: Path) -> None:
    script = "({pass: true, score: 1, reason: '', namedScores: {tone: 0.2, other: 0.4}})"
    _, cases = run(tmp_path, {"type": "javascript", "value": script, "metric": "tone"})
    assert cases[0].named_scores == {"tone": 1.0, "other": 0.4}


def test_metric_that_renders_to_nothing_is_none_and_one_that_does_not_render_names_itself(
    tmp_path: Path,
) -> None:
    _, cases = run(tmp_path, {**YES, "metric": "{{ '' }}"}, {**YES, "metric": "{{ answer.a.b }}"})
    assert cases[0].named_scores == {"{{ answer.a.b }}": 1.0}
