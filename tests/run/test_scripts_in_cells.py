"""Script assertions inside a run: one batch per case, before anything graded, beside the other kinds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evenhand.api import load_suite, run_suite
from evenhand.model.result import CaseResult

HEAD = "version: 1\nproviders: [{id: echo, type: echo}]\nprompts: [{id: p, template: 'say {{ word }}'}]\ntests:\n"


def cases_of(folder: Path, tests: str) -> list[CaseResult]:
    (folder / "evenhand.yaml").write_text(HEAD + tests, encoding="utf-8")
    return list(run_suite(load_suite(folder), save=False).cases())


def test_scripts_see_the_case_as_written_and_the_question_as_asked(tmp_path: Path) -> None:
    check = (
        "context.prompt === 'say hi' && context.vars.word === 'hi' && context.test.vars.word === 'hi'"
        " && context.test.id === 'one' && context.provider.id() === 'echo' && context.config.n === 1"
        " && context.providerResponse.output === output && context.logProbs === undefined && !('metadata' in context)"
    )
    tests = f'  - {{id: one, vars: {{word: hi}}, assert: [{{type: javascript, value: "{check}", config: {{n: 1}}}}]}}\n'
    (case,) = cases_of(tmp_path, tests)
    assert case.asserts[0].status == "pass", case.asserts[0]


def test_outcomes_keep_the_order_of_the_assertions(tmp_path: Path) -> None:
    tests = """\
  - id: one
    vars: {word: hi}
    assert:
      - {type: javascript, value: "0.25"}
      - {type: contains, value: absent}
      - {type: python, value: "0.5"}
      - {type: javascript, value: "0.75", engine: node}
"""
    (case,) = cases_of(tmp_path, tests)
    assert [result.score for result in case.asserts] == [0.25, 0.0, 0.5, 0.75]
    assert case.status == "fail"


def test_named_scores_of_a_case_are_weighted_means(tmp_path: Path) -> None:
    def result(score: float, weights: dict[str, Any]) -> str:
        return f"({{pass: true, score: 1, reason: '', namedScores: {{tone: {score}}}, namedScoreWeights: {weights}}})"

    tests = (
        "  - id: one\n    vars: {word: hi}\n    assert:\n"
        f'      - {{type: javascript, value: "{result(1, {"tone": 3})}"}}\n'
        f'      - {{type: javascript, value: "{result(0, {})}"}}\n'
    )
    (case,) = cases_of(tmp_path, tests)
    assert case.named_scores == {"tone": 0.75}


def test_negated_script_cannot_pass_on_an_empty_answer(tmp_path: Path) -> None:
    tests = "  - {id: one, vars: {word: ''}, assert: [{type: not-javascript, value: 'output.length > 9'}]}\n"
    (tmp_path / "evenhand.yaml").write_text(
        HEAD.replace("say {{ word }}", "{{ word }}") + tests, encoding="utf-8"
    )
    (case,) = run_suite(load_suite(tmp_path), save=False).cases()
    assert case.asserts[0].status == "fail"
    assert "cannot pass vacuously" in case.asserts[0].reason


def test_long_verdict_comes_back_whole(tmp_path: Path) -> None:
    check = "({pass: true, score: 1, reason: output.repeat(10000) + context.vars.word})"
    tests = f'  - {{id: one, vars: {{word: hi}}, assert: [{{type: javascript, value: "{check}"}}]}}\n'
    (case,) = cases_of(tmp_path, tests)
    assert case.asserts[0].reason == "say hi" * 10_000 + "hi"
