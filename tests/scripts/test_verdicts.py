"""What answers of scripts mean, without any script."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.model.outcome import Status
from evenhand.scripts.batch import Answer, Thrown
from evenhand.scripts.verdicts import Terms, thrown_in_words, verdict


def result(**fields: Any) -> Answer:
    return Answer(returned={"$": "object", "class": "Object", "fields": fields})


def listed(*items: Any) -> dict[str, Any]:
    return {"$": "array", "items": list(items)}


def component(**fields: Any) -> dict[str, Any]:
    return {"$": "object", "class": "Object", "fields": fields}


@given(number=st.floats(allow_nan=False, allow_infinity=False), threshold=st.none() | st.floats(-1e6, 1e6))
def test_negating_a_number_turns_the_verdict_and_keeps_the_score(
    number: float, threshold: float | None
) -> None:
    plain = verdict(Answer(returned=number), Terms(threshold))
    negated = verdict(Answer(returned=number), Terms(threshold, negate=True))
    assert plain.score == negated.score == number
    assert plain.passed is not negated.passed


@given(
    passes=st.booleans(), score=st.floats(-10, 10), reason=st.text(), threshold=st.none() | st.floats(-10, 10)
)
def test_a_result_keeps_its_score_and_reason_under_negation(
    passes: bool, score: float, reason: str, threshold: float | None
) -> None:
    answer = result(**{"pass": passes}, score=score, reason=reason)
    plain, negated = verdict(answer, Terms(threshold)), verdict(answer, Terms(threshold, negate=True))
    assert (plain.score, plain.reason) == (negated.score, negated.reason) == (score, reason)
    assert plain.passed is not negated.passed
    assert passes or not plain.passed


WRONG = [
    (result(), "without `pass`"),
    (result(**{"pass": "true"}, score=1, reason=""), "`pass` must be true or false, found the text 'true'"),
    (result(**{"pass": True}, reason=""), "`score` must be a number, found nothing"),
    (result(**{"pass": True}, score=1), "`reason` must be text, found nothing"),
    (
        result(**{"pass": True}, score={"$": "number", "text": "NaN"}, reason=""),
        "`score` must be a finite number",
    ),
    (
        result(**{"pass": True}, score=1, reason="", componentResults=listed({"$": "hole"})),
        "`componentResults[0]` must be a grading result, found a hole",
    ),
    (
        result(
            **{"pass": True},
            score=1,
            reason="",
            componentResults=listed(component(**{"pass": True}, namedScores=component(a="high"))),
        ),
        "`componentResults[0].namedScores.a` must be a finite number, found the text 'high'",
    ),
    (Answer(returned={"$": "undefined"}), "returned undefined"),
    (Answer(returned="pass"), "the text 'pass', which is not a verdict"),
    (Answer(returned=None), "returned null"),
    (Answer(threw=Thrown("TypeError", "x is not a function")), "TypeError: x is not a function"),
]


@pytest.mark.parametrize(("answer", "reason"), WRONG)
@pytest.mark.parametrize("negate", [False, True])
def test_what_is_no_verdict_fails_in_both_polarities_and_says_where(
    answer: Answer, reason: str, negate: bool
) -> None:
    outcome = verdict(answer, Terms(negate=negate))
    assert (outcome.status, outcome.score) == (Status.FAIL, 0.0)
    assert reason in outcome.reason


BROKEN = [
    Answer(timed_out=True),
    Answer(memory=True),
    Answer(too_large=True),
    Answer(unsettled=True),
    Answer(lacks="fetch"),
    Answer(broken="gone"),
]


@pytest.mark.parametrize("answer", BROKEN)
@pytest.mark.parametrize("negate", [False, True])
def test_a_script_that_could_not_run_is_an_error_in_both_polarities(answer: Answer, negate: bool) -> None:
    outcome = verdict(answer, Terms(negate=negate))
    assert (outcome.status, outcome.score, outcome.error_class) == (Status.ERROR, None, "checker_failed")


def test_named_scores_are_recorded_as_numbers() -> None:
    scores = component(a=True, b=None, c=" 0.5 ", d=False, e={"$": "undefined"})
    outcome = verdict(result(**{"pass": True}, score=1, reason="", namedScores=scores), Terms())
    assert outcome.named_scores == {"a": 1.0, "b": 0.0, "c": 0.5, "d": 0.0}


def test_component_results_become_parts_with_their_defaults() -> None:
    parts = listed(component(**{"pass": True}), component(**{"pass": False}, reason="no"))
    outcome = verdict(result(**{"pass": True}, score=1, reason="", componentResults=parts), Terms())
    assert [(part.status, part.score, part.reason) for part in outcome.parts] == [
        (Status.PASS, 1.0, ""),
        (Status.FAIL, 0.0, "no"),
    ]


def test_a_number_that_misses_its_threshold_says_both() -> None:
    assert (
        verdict(Answer(returned=0.49), Terms(0.5)).reason
        == "Custom function returned false: 0.49 < threshold 0.5"
    )


@pytest.mark.parametrize(
    ("stack", "told"),
    [
        ("Error: x\n    at check (file:///suite/checks.mjs:3:7)", "Error: x (checks.mjs:3)"),
        (
            "Error: x\n    at eval (eval at inline (file:///e/node_worker.mjs:113:16), <anonymous>:3:7)",
            "Error: x",
        ),
        ("", "Error: x"),
    ],
)
def test_place_that_threw_is_a_file_of_the_suite(stack: str, told: str) -> None:
    assert thrown_in_words(Thrown("Error", "x", stack)) == told
