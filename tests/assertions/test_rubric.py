"""`llm-rubric`: who judges, how often it is asked, and what decides."""

from typing import Any

import pytest

from evenhand.errors import ErrorClass, GraderError
from evenhand.model.assertion import Assertion
from evenhand.model.exchange import Response
from evenhand.model.grading import GradedAssertion, Grader, Graders
from evenhand.providers.anthropic import Anthropic
from support.assertions import build, built, evidence
from support.graded import graded

GOOD = {"pass": True, "score": 0.8, "reasoning": "fine"}
BAD = {"pass": False, "score": 0.3, "reasoning": "poor"}


def on(output: str, replies: list[Any], **options: Any) -> Any:
    return graded(
        {"type": "llm-rubric", "value": "Is {{ how }}.", **options},
        evidence(output, vars={"how": "kind"}),
        replies,
    )


def test_the_verdict_decides_and_its_reasoning_is_the_reason() -> None:
    outcome, desk = on("x", [GOOD])
    assert (outcome.status, outcome.score, outcome.reason) == ("pass", 0.8, "fine")
    assert "Is kind." in str(desk.requests[0].transcript)
    assert desk.requests[0].answer_form is not None


@pytest.mark.parametrize(
    ("verdict", "threshold", "status"),
    [(GOOD, 0.9, "fail"), (GOOD, 0.8, "pass"), (BAD, 0.3, "pass"), (BAD, 0.31, "fail"), (BAD, 0.0, "pass")],
)
def test_with_a_threshold_the_score_decides(verdict: Any, threshold: float, status: str) -> None:
    outcome, _ = on("x", [verdict], threshold=threshold)
    assert (outcome.status, outcome.score) == (status, verdict["score"])


def test_an_unusable_verdict_is_asked_for_again() -> None:
    outcome, desk = on("x", ["well…", {"pass": True}, GOOD])
    assert outcome.status == "pass"
    assert len(desk.requests) == 3


def test_a_judge_is_asked_at_most_three_times() -> None:
    outcome, desk = on("x", ["well…"] * 5)
    assert (outcome.status, outcome.error_class) == ("error", "grader_failed")
    assert len(desk.requests) == 3


def test_a_truncated_verdict_fails_the_grader_and_not_the_model() -> None:
    outcome, _ = on("x", [Response(output=GOOD, stop_reason="max_tokens")] * 3)
    assert (outcome.status, outcome.error_class) == ("error", "grader_failed")
    assert "truncated" in outcome.reason


@pytest.mark.parametrize(
    "error_class", [ErrorClass.GRADER_UNAVAILABLE, ErrorClass.PROVIDER_AUTH, ErrorClass.GRADER_MISSING]
)
def test_an_outage_is_not_asked_again_here(error_class: ErrorClass) -> None:
    outcome, desk = on("x", [GraderError("out of order", error_class)])
    assert (outcome.status, outcome.error_class) == ("error", error_class)
    assert len(desk.requests) == 1


def test_an_unreadable_answer_counts_as_an_unusable_verdict() -> None:
    outcome, _ = on("x", [GraderError("no JSON", ErrorClass.GRADER_FAILED), GOOD])
    assert outcome.status == "pass"


def test_a_rubric_that_does_not_render_is_an_error() -> None:
    outcome, desk = graded({"type": "llm-rubric", "value": "{{ missing }}"}, evidence("x"), [GOOD])
    assert (outcome.status, outcome.error_class) == ("error", "render_failed")
    assert desk.requests == []


def test_without_any_grader_the_assertion_errors() -> None:
    outcome, _ = graded({"type": "llm-rubric", "value": "r"}, evidence("x"), [GOOD], graders=Graders())
    assert (outcome.status, outcome.error_class) == ("error", "grader_missing")
    assert "llm-rubric assertion needs a grader" in outcome.reason


def test_a_negated_rubric_cannot_pass_on_silence() -> None:
    outcome, _ = graded({"type": "not-llm-rubric", "value": "r"}, evidence(""), [BAD])
    assert (outcome.status, outcome.score) == ("fail", 0.0)


def test_parameters_of_the_assertion_go_to_the_judge() -> None:
    _, desk = on("x", [GOOD], params={"temperature": 0})
    assert desk.requests[0].params == {"temperature": 0}


@pytest.mark.parametrize(
    "options",
    [
        {"value": ""},
        {"value": 3},
        {"value": "r", "threshold": 1.1},
        {"value": "r", "threshold": float("nan")},
    ],
)
def test_what_can_never_work_is_refused(options: dict[str, Any]) -> None:
    assert not isinstance(build({"type": "llm-rubric", **options}), Assertion)


@pytest.mark.parametrize(
    ("own", "params", "found"),
    [
        ({"thinking": {"type": "enabled", "budget_tokens": 2048}}, {}, "while it thinks"),
        ({}, {"thinking": {"type": "adaptive"}}, "while it thinks"),
        ({"thinking": {"type": "enabled"}}, {"thinking": {"type": "disabled"}}, None),
        ({"temperature": 0}, {}, None),
    ],
)
def test_a_judge_that_cannot_keep_to_the_form_is_told_before_it_is_asked(
    own: dict[str, Any], params: dict[str, Any], found: str | None
) -> None:
    judge = Anthropic(id="j", model="claude-haiku-4-5", params=own)
    graders = Graders(judges=(Grader(provider=judge),))
    rubric = built({"type": "llm-rubric", "value": "r", "params": params})
    assert isinstance(rubric, GradedAssertion)
    missing = rubric.missing(graders)
    assert missing is None if found is None else found in (missing or "")
