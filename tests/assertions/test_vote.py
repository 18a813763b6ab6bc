"""Votes of several judges: what decides, and what an absent judge can no longer change."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.assertions.vote import Ballot, counted
from evenhand.errors import ErrorClass, GraderError
from evenhand.model.grading import Grader, Graders
from evenhand.model.outcome import Outcome, errored, failed, passed
from support.assertions import evidence
from support.graded import Answering, graded

YES, NO = passed("good", score=0.9), failed("bad", score=0.2)
GONE = errored("down", ErrorClass.GRADER_UNAVAILABLE)


def ballots(*outcomes: Outcome) -> list[Ballot]:
    return [Ballot(f"j{index}", outcome) for index, outcome in enumerate(outcomes)]


@pytest.mark.parametrize(
    ("vote", "threshold", "outcomes", "status", "score"),
    [
        ("majority", None, (YES, YES, NO), "pass", 2.0 / 3),
        ("majority", None, (YES, NO, NO), "fail", 1.3 / 3),
        ("majority", None, (YES, NO), "error", None),
        ("majority", None, (YES, YES, GONE), "pass", 0.9),
        ("majority", None, (NO, NO, GONE), "fail", 0.2),
        ("majority", None, (YES, NO, GONE), "error", None),
        ("majority", None, (YES, GONE, GONE), "error", None),
        ("all", None, (YES, YES), "pass", 0.9),
        ("all", None, (YES, NO), "fail", 0.2),
        ("all", None, (NO, GONE), "fail", 0.2),
        ("all", None, (YES, GONE), "error", None),
        ("mean", 0.5, (YES, NO), "pass", 0.55),
        ("mean", 0.6, (YES, NO), "fail", 0.55),
        ("mean", 0.3, (YES, GONE), "pass", 0.9),
        ("mean", 0.7, (NO, GONE), "fail", 0.2),
        ("mean", 0.5, (YES, GONE), "error", None),
        ("mean", 0.0, (GONE, GONE), "error", None),
    ],
)
def test_a_vote_decides(
    vote: Any, threshold: float | None, outcomes: tuple[Outcome, ...], status: str, score: float | None
) -> None:
    outcome = counted(ballots(*outcomes), vote, threshold)
    assert (outcome.status, outcome.score) == (status, score if score is None else pytest.approx(score))
    assert [part.status for part in outcome.parts] == [each.status for each in outcomes]
    assert [part.details["judge"] for part in outcome.parts] == [f"j{n}" for n in range(len(outcomes))]


def test_the_reason_tells_who_disagreed() -> None:
    outcome = counted(ballots(YES, YES, NO), "majority", None)
    assert outcome.reason == (
        "2 of 3 judges pass it (majority): 'j0' pass 0.90 (good); 'j1' pass 0.90 (good); 'j2' fail 0.20 (bad)"
    )
    split = counted(ballots(YES, NO), "majority", None)
    assert split.reason.startswith("no majority of 2 judges, the judges are split: 'j0' pass")


VERDICTS = st.floats(0, 1).map(lambda s: passed("", score=s) if s >= 0.5 else failed("", score=s))


@given(st.lists(VERDICTS, min_size=1, max_size=5), st.data(), st.sampled_from(["majority", "all", "mean"]))
def test_what_is_decided_without_a_judge_is_what_any_verdict_of_it_would_decide(
    given_verdicts: list[Outcome], data: st.DataObject, vote: Any
) -> None:
    threshold = data.draw(st.sampled_from([0.25, 0.5, 0.75]))
    without = counted(ballots(*given_verdicts, GONE), vote, threshold)
    late = data.draw(VERDICTS)
    whole = counted(ballots(*given_verdicts, late), vote, threshold)
    if without.status != "error":
        assert whole.status == without.status


def judge(name: str, **options: Any) -> Grader:
    return Grader(provider=Answering(id=name), **options)


GOOD = {"reasoning": "good", "pass": True, "score": 0.9}
BAD = {"reasoning": "bad", "pass": False, "score": 0.2}
THREE = Graders(judges=(judge("a"), judge("b"), judge("c")))


def test_every_judge_is_asked_and_a_threshold_is_each_judges_own() -> None:
    rubric = {"type": "llm-rubric", "value": "r", "threshold": 0.5}
    outcome, desk = graded(rubric, evidence("x"), [GOOD, {**GOOD, "score": 0.4}, BAD], graders=THREE)
    assert (outcome.status, len(desk.requests)) == ("fail", 3)
    assert [part.status for part in outcome.parts] == ["pass", "fail", "fail"]


def test_the_assertions_vote_counts_before_the_suites() -> None:
    graders = Graders(judges=THREE.judges, vote="all")
    rubric = {"type": "llm-rubric", "value": "r"}
    assert graded(rubric, evidence("x"), [GOOD, GOOD, BAD], graders=graders)[0].status == "fail"
    rubric["vote"] = "majority"
    assert graded(rubric, evidence("x"), [GOOD, GOOD, BAD], graders=graders)[0].status == "pass"


def test_a_negated_rubric_turns_the_vote_round_and_no_error() -> None:
    rubric = {"type": "not-llm-rubric", "value": "r"}
    assert graded(rubric, evidence("x"), [GOOD, BAD, BAD], graders=THREE)[0].status == "pass"
    two = Graders(judges=THREE.judges[:2])
    assert graded(rubric, evidence("x"), [GOOD, BAD], graders=two)[0].status == "error"


def test_a_judge_that_breaks_is_one_of_the_parts() -> None:
    down = GraderError("no connection", ErrorClass.GRADER_UNAVAILABLE)
    rubric = {"type": "llm-rubric", "value": "r"}
    outcome, _ = graded(rubric, evidence("x"), [GOOD, down, GOOD], graders=THREE)
    assert (outcome.status, outcome.parts[1].error_class) == ("pass", "grader_unavailable")
    outcome, _ = graded(rubric, evidence("x"), [GOOD, down, BAD], graders=THREE)
    assert (outcome.status, outcome.error_class) == ("error", "grader_unavailable")


def test_a_mean_needs_a_threshold() -> None:
    graders = Graders(judges=THREE.judges, vote="mean")
    outcome, desk = graded({"type": "llm-rubric", "value": "r"}, evidence("x"), graders=graders)
    assert (outcome.error_class, desk.requests) == ("grader_missing", [])
    assert "needs a `threshold`" in outcome.reason
