"""Groups of assertions as suites write them: every check of a suite sees the members."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evenhand.model.assertion import Assertion, walk
from evenhand.model.group import Group
from support.written import load, messages, warnings

YES = {"type": "contains", "value": "yes"}
TWO = {"providers": [{"id": "app", "type": "exec", "command": ["true"]}, {"type": "echo"}]}


def of(*assertions: Any, **suite: Any) -> dict[str, Any]:
    return {**suite, "tests": [{"assert": list(assertions)}]}


def any_of(*members: Any) -> dict[str, Any]:
    return {"type": "any-of", "assert": list(members)}


def test_members_are_finished_assertions_at_every_depth(tmp_path: Path) -> None:
    suite = load(
        tmp_path, of(any_of(YES, {"type": "not-all-of", "assert": [{"type": "not-regex", "value": "x"}]}))
    )
    (case,) = suite.cases
    found = list(walk(case.assertions))
    assert [(a.kind, a.negate) for a in found] == [
        ("any-of", False),
        ("contains", False),
        ("all-of", True),
        ("regex", True),
    ]
    assert all(isinstance(assertion, Assertion) for assertion in found)
    assert isinstance(case.assertions[0], Group)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (of(any_of()), "tests[0].assert[0].assert: expected a list that is not empty, found an empty list"),
        (of({"type": "any-of"}), "tests[0].assert[0]: key 'assert' is missing"),
        (of({"type": "any-of", "assert": YES}), "tests[0].assert[0].assert: expected a list"),
        (of(any_of("yes")), "tests[0].assert[0].assert[0]: expected a mapping with a `type`"),
        (
            of(any_of(YES, {"type": "contain", "value": "x"})),
            "tests[0].assert[0].assert[1].type: unknown assertion",
        ),
        (
            of(YES, any_of(any_of(YES, {"type": "regex", "value": "("}))),
            "tests[0].assert[1].assert[0].assert[1].value",
        ),
        (
            of({"type": "at-least", "n": 2, "assert": [YES]}),
            "tests[0].assert[0].n: 2 of 1 member can never pass",
        ),
        (of(any_of({**YES, "weight": -1})), "tests[0].assert[0].assert[0].weight: a weight is"),
        (of(any_of({"type": "equals", "value": "{{ nope }}"})), "needs the variable 'nope'"),
        (of({**YES, "metric": "{{ nope }}"}), "`metric` of 'contains' needs the variable 'nope'"),
        (of({**YES, "metric": "{{ nope"}), "tests[0].assert[0].metric: the template is wrong"),
        (
            of(any_of({"type": "javascript", "value": "1 +* 2"})),
            "assert[0].assert[0].value: the code does not compile",
        ),
        (of(any_of({"type": "python", "value": "file://none.py"})), "tests[0].assert[0].assert[0].value"),
        (of({"type": "none-of", "assert": [{"type": "tool-call", "name": "f"}]}, **TWO), "would always hold"),
        (
            of(any_of({"type": "not-tool-call", "name": "f"}), **TWO),
            "tests[0].assert[0].assert[0]: provider 'echo'",
        ),
    ],
)
def test_problems_inside_groups_are_told_with_their_place(
    document: dict[str, Any], message: str, tmp_path: Path
) -> None:
    found = messages(tmp_path, document)
    assert any(message in line for line in found), found


def test_problem_inside_a_group_is_told_once_and_without_others_that_follow_from_it(tmp_path: Path) -> None:
    document = of({"type": "at-least", "n": 2, "assert": [YES, {"type": "regex"}]})
    assert len(messages(tmp_path, document)) == 1


def test_groups_are_nested_to_a_limit(tmp_path: Path) -> None:
    nested: dict[str, Any] = YES
    for _ in range(11):
        nested = any_of(nested)
    (message,) = messages(tmp_path, of(nested))
    assert "groups are nested more than 10 deep" in message


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (of(any_of({"type": "llm-rubric", "value": "Is kind."})), "grader"),
        (
            of(any_of(YES, {**YES, "weight": 2})),
            "tests[0].assert[0].assert[1].weight: a weight changes nothing",
        ),
        (
            of(any_of({"type": "tool-call", "name": "f"}), **TWO),
            "tests[0].assert[0].assert[0]: provider 'echo'",
        ),
        (of({"type": "assert-set", "threshold": 0, "assert": [YES]}), "a threshold of 0 is always met"),
    ],
)
def test_what_is_suspicious_inside_groups_draws_a_warning(
    document: dict[str, Any], message: str, tmp_path: Path
) -> None:
    found = warnings(tmp_path, document)
    assert any(message in line for line in found), found


def test_suite_with_a_grader_inside_a_group_knows_that_it_grades(tmp_path: Path) -> None:
    assert load(tmp_path, of(any_of({"type": "llm-rubric", "value": "Is kind."}))).has_graded_cases


def test_threshold_of_a_case_may_be_any_number_where_a_group_holds_a_script(tmp_path: Path) -> None:
    script = {"type": "javascript", "value": "5"}
    document = {"tests": [{"threshold": 3, "assert": [{"type": "all-of", "assert": [script]}]}]}
    assert len(load(tmp_path, document).cases) == 1


def test_vars_and_variables_that_only_members_use_are_seen(tmp_path: Path) -> None:
    members = [{"type": "jinja", "value": "output == word + env.REGION"}, YES]
    document = {"tests": [{"vars": {"word": "x"}, "assert": [any_of(*members)]}]}
    assert warnings(tmp_path, document, environ={"REGION": "north"}) == []
    assert load(tmp_path, document, environ={"REGION": "north"}).env == {"REGION": "north"}
