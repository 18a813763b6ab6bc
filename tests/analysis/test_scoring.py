"""The arithmetic of a case's verdict."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.analysis.scoring import ScoreOverflow, Weighed, case_passes, case_score, graders_matter, meets
from evenhand.errors import ErrorClass
from evenhand.model.outcome import Outcome, errored, failed, passed, skipped


def weighed(score: float, weight: float = 1.0) -> Weighed:
    return Weighed(passed("held", score=score) if score >= 0.5 else failed("missed", score=score), weight)


ERRORED = Weighed(errored("broken", ErrorClass.ASSERT_FAILED), 1.0)
SKIPPED = Weighed(skipped("decided"), 1.0)

outcomes: st.SearchStrategy[Outcome] = st.one_of(
    st.floats(0, 1).map(lambda score: passed("held", score=score)),
    st.floats(0, 1).map(lambda score: failed("missed", score=score)),
)
locals_ = st.lists(st.builds(Weighed, outcomes, st.floats(0, 100)), max_size=5)


def test_score_is_the_weighted_mean() -> None:
    assert case_score([weighed(1.0, 1), weighed(0.0, 3)]) == 0.25


def test_errored_and_skipped_assertions_are_left_out_of_the_mean() -> None:
    assert case_score([weighed(1.0), ERRORED, SKIPPED]) == 1.0


def test_case_without_assertions_scores_one() -> None:
    assert case_score([]) == 1.0


def test_all_weights_zero_score_one_and_the_verdict_still_needs_every_assertion() -> None:
    items = [weighed(0.0, 0.0)]
    assert case_score(items) == 1.0
    assert not case_passes(items, 1.0, None)


def test_case_whose_every_assertion_errored_has_no_score_and_does_not_pass() -> None:
    assert case_score([ERRORED]) is None
    assert not case_passes([ERRORED], None, 0.0)
    assert not case_passes([ERRORED], None, None)


def test_mean_that_overflows_is_no_score() -> None:
    with pytest.raises(ScoreOverflow):
        case_score([Weighed(passed("", score=1e308), 1e308), Weighed(passed("", score=1e308), 1e308)])


def test_threshold_forgives_float_noise_and_nothing_more() -> None:
    assert meets(sum([0.1] * 8), 0.8)
    assert meets(12 / 15, 0.8)
    assert not meets(0.7999999, 0.8)


def test_weight_zero_failure_fails_an_all_must_pass_case_but_not_a_threshold() -> None:
    items = [weighed(1.0), weighed(0.0, 0.0)]
    assert not case_passes(items, case_score(items), None)
    assert case_passes(items, case_score(items), 1.0)


@given(locals_, st.lists(st.floats(0, 100), min_size=1, max_size=4), st.none() | st.floats(0, 1), st.data())
def test_skipped_graders_could_not_have_changed_the_verdict(
    local: list[Weighed], weights: list[float], threshold: float | None, data: st.DataObject
) -> None:
    if graders_matter(local, weights, threshold):
        return
    before = case_passes(local, case_score(local), threshold)
    grades = data.draw(st.lists(outcomes, min_size=len(weights), max_size=len(weights)))
    everything = [*local, *(Weighed(o, w) for o, w in zip(grades, weights, strict=True))]
    score = case_score(everything)
    if (
        threshold is not None
        and score is not None
        and math.isclose(score, threshold, rel_tol=0, abs_tol=1e-8)
    ):
        return
    if threshold is not None and not sum(item.weight for item in local):
        return
    assert case_passes(everything, score, threshold) == before


@given(locals_, st.floats(0.1, 100), st.floats(0, 1))
def test_graders_that_matter_could_tip_the_verdict_either_way(
    local: list[Weighed], weight: float, threshold: float
) -> None:
    if not graders_matter(local, [weight], threshold):
        return
    best = [*local, Weighed(passed(""), weight)]
    worst = [*local, Weighed(failed(""), weight)]
    assert case_passes(best, case_score(best), threshold)
    assert not case_passes(worst, case_score(worst), threshold)


def test_errored_local_assertion_decides_the_case() -> None:
    assert not graders_matter([weighed(1.0), ERRORED], [1.0], None)
    assert not graders_matter([weighed(1.0), ERRORED], [1.0], 0.9)


def test_grader_of_weight_zero_runs_only_where_every_assertion_must_pass() -> None:
    assert graders_matter([weighed(1.0)], [0.0], None)
    assert not graders_matter([weighed(1.0)], [0.0], 0.5)
