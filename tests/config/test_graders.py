"""Graders as suites write them: for all cases, or for one assertion."""

from pathlib import Path
from typing import Any

import pytest

from evenhand.assertions.rubric import LlmRubric
from evenhand.providers.exec import Exec
from support.written import load, messages

JUDGE = {"type": "exec", "command": ["true"]}
RUBRIC = {"type": "llm-rubric", "value": "Is kind."}


def suite(judge: Any = None, **assertion: Any) -> dict[str, Any]:
    document: dict[str, Any] = {"tests": [{"id": "t", "assert": [{**RUBRIC, **assertion}]}]}
    return document if judge is None else {**document, "grader": judge}


def test_the_suites_grader_is_finished(tmp_path: Path) -> None:
    loaded = load(tmp_path, suite({"provider": {**JUDGE, "id": "j"}, "include_prompt": True}))
    judge = loaded.graders.judge
    assert judge is not None
    assert isinstance(judge.provider, Exec)
    assert (judge.provider.id, judge.include_prompt, judge.timeout_ms) == ("j", True, 120_000)
    assert loaded.has_graded_cases
    assert loaded.warnings == ()


@pytest.mark.parametrize("where", ["inline", "file"])
def test_an_assertion_brings_its_own_grader(where: str, tmp_path: Path) -> None:
    document = suite(grader={"provider": JUDGE, "template": "file://judge.md"})
    files = {"judge.md": "{{rubric}}\n{{output}}"}
    if where == "file":
        import json

        files["t.json"] = json.dumps(document["tests"])
        document = {"tests": ["file://t.json"]}
    (case,) = load(tmp_path, document, files).cases
    (assertion,) = case.assertions
    assert isinstance(assertion, LlmRubric)
    assert assertion.grader is not None
    assert isinstance(assertion.grader.provider, Exec)
    assert assertion.grader.template == "{{rubric}}\n{{output}}"


def test_the_environment_is_filled_into_a_graders_provider(tmp_path: Path) -> None:
    block = {"type": "exec", "command": ["${env:JUDGE}"]}
    loaded = load(tmp_path, suite({"provider": block}), environ={"JUDGE": "./judge"})
    assert loaded.graders.judge is not None
    assert loaded.graders.judge.provider.command == ("./judge",)


@pytest.mark.parametrize(
    ("grader", "message"),
    [
        ({"provider": {"type": "exec"}}, "grader.provider: key 'command' is missing"),
        (
            {"provider": {"type": "exce", "command": ["x"]}},
            "grader.provider.type: unknown provider type 'exce'",
        ),
        ({"provider": JUDGE, "templat": "x"}, "grader.templat: unknown key"),
        ({"provider": JUDGE, "timeout_ms": 0}, "grader.timeout_ms"),
        ({"provider": JUDGE, "verdict_mode": "auto"}, "grader.verdict_mode"),
        (
            {"provider": JUDGE, "template": "{{rubric}}"},
            "grader.template: the template does not show the output",
        ),
        ({"provider": JUDGE, "template": "file://none.md"}, "grader.template: no such file"),
        ({"provider": {"type": "exec", "command": ["${env:NONE}"]}}, "variable 'NONE' is not set"),
    ],
)
def test_a_wrong_grader_is_refused(grader: Any, message: str, tmp_path: Path) -> None:
    assert message in "\n".join(messages(tmp_path, suite(grader)))
    inside = "\n".join(messages(tmp_path, suite(grader=grader)))
    assert message in inside


@pytest.mark.parametrize(
    ("assertion", "words"),
    [
        (RUBRIC, "llm-rubric assertion needs a grader"),
        ({"type": "similar", "value": "x"}, "similar assertion needs an embeddings provider in the suite"),
    ],
)
def test_a_missing_grader_draws_one_warning_at_load(assertion: Any, words: str, tmp_path: Path) -> None:
    cases = [{"id": f"t{n}", "vars": {"n": n}, "assert": [assertion]} for n in range(3)]
    warnings = [str(w) for w in load(tmp_path, {"tests": cases}).warnings]
    assert [words in warning for warning in warnings] == [True]


def test_a_suite_without_graded_assertions_says_so(tmp_path: Path) -> None:
    loaded = load(tmp_path, {"tests": [{"id": "t", "assert": [{"type": "is-json"}]}]})
    assert not loaded.has_graded_cases


def test_another_judge_is_another_question(tmp_path: Path) -> None:
    def digest(command: str) -> str:
        block = {"type": "exec", "command": [command]}
        return load(tmp_path, suite({"provider": block})).digests["grader"]

    assert digest("a") == digest("a")
    assert digest("a") != digest("b")


A, B, C = ({"provider": {**JUDGE, "id": name}} for name in "abc")


def test_graders_may_be_a_list_that_votes(tmp_path: Path) -> None:
    loaded = load(tmp_path, {**suite([A, B], vote="all"), "grader": [A, B, C], "vote": "majority"})
    assert [judge.provider.id for judge in loaded.graders.judges] == ["a", "b", "c"]
    assert loaded.graders.vote == "majority"
    (case,) = loaded.cases
    (rubric,) = case.assertions
    assert isinstance(rubric, LlmRubric)
    assert [provider.id for provider in rubric.asks(loaded.graders)] == ["a", "b", "c"]


def test_an_own_list_replaces_the_suites(tmp_path: Path) -> None:
    loaded = load(tmp_path, suite({"provider": JUDGE}, grader=[A, B, C], vote="all"))
    (case,) = loaded.cases
    (rubric,) = case.assertions
    assert isinstance(rubric, LlmRubric)
    assert [provider.id for provider in rubric.asks(loaded.graders)] == ["a", "b", "c"]
    assert loaded.warnings == ()


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (suite([]), "a list of graders is empty"),
        (suite([A, A]), "two judges are called 'a'; give the provider of each judge its own `id`"),
        (suite([A, {"provider": {"type": "exec"}}]), "grader[1].provider: key 'command' is missing"),
        ({**suite(A), "vote": "all"}, "one judge cannot vote"),
        ({**suite([A, B, C]), "vote": "most"}, "vote"),
        (suite(A, grader=B, vote="all"), "one judge cannot vote"),
        (suite(A, grader=[]), "grader"),
        (suite(A, grader=[A, A]), "two judges are called 'a'"),
    ],
)
def test_lists_that_cannot_vote_are_refused(document: dict[str, Any], message: str, tmp_path: Path) -> None:
    found = messages(tmp_path, document)
    assert any(message in each for each in found), found


def test_a_mean_without_a_threshold_draws_a_warning(tmp_path: Path) -> None:
    (warning,) = load(tmp_path, suite([A, B, C], vote="mean")).warnings
    assert "needs a `threshold`" in str(warning)


def test_an_even_number_of_judges_draws_a_warning(tmp_path: Path) -> None:
    for document in (suite([A, B]), suite(A, grader=[A, B])):
        (warning,) = load(tmp_path, document).warnings
        assert "may be split" in str(warning)
