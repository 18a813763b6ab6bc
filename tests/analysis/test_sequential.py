"""Deciding while a case is repeated."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate

from evenhand.analysis.sequential import Decision, decide, log_evidence_above

counts = st.integers(0, 30)
inner = st.floats(0.05, 0.95)


@settings(max_examples=40, deadline=None)
@given(counts, counts, inner)
def test_the_evidence_is_the_average_likelihood_ratio(passed: int, failed: int, share: float) -> None:
    def ratio(chance: float) -> float:
        return math.exp(
            passed * math.log(chance / share)
            + failed * math.log((1 - chance) / (1 - share))
            - math.log1p(-share)
        )

    expected, _ = integrate.quad(ratio, share, 1 - 1e-15, epsrel=1e-10, limit=200)
    assert math.exp(log_evidence_above(passed, failed, share)) == pytest.approx(expected, rel=1e-5)


@given(counts, counts, inner)
def test_passes_and_failures_are_treated_alike(passed: int, failed: int, share: float) -> None:
    turned = {Decision.PASSING: Decision.FAILING, Decision.FAILING: Decision.PASSING}
    one, other = decide(passed, failed, pass_rate=share), decide(failed, passed, pass_rate=1 - share)
    assert one is turned.get(other, Decision.UNDECIDED)


def test_a_case_that_always_passes_is_decided_after_eight_answers() -> None:
    assert decide(7, 0) is Decision.UNDECIDED
    assert decide(8, 0) is Decision.PASSING
    assert decide(0, 8) is Decision.FAILING
    assert decide(0, 0) is Decision.UNDECIDED
    assert decide(400, 400) is Decision.UNDECIDED


@pytest.mark.parametrize("alpha", [0.05, 0.2])
@pytest.mark.parametrize(("chance", "wrong"), [(0.5, None), (0.4, Decision.PASSING), (0.6, Decision.FAILING)])
def test_looking_after_every_answer_does_not_raise_the_error_rate(
    alpha: float, chance: float, wrong: Decision | None
) -> None:
    draw = random.Random(17)
    table: dict[tuple[int, int], Decision] = {}
    errors = 0
    trials = 1_000
    for _ in range(trials):
        passed = failed = 0
        decision = Decision.UNDECIDED
        while decision is Decision.UNDECIDED and passed + failed < 100:
            passes = draw.random() < chance
            passed, failed = passed + passes, failed + (not passes)
            decision = table.setdefault((passed, failed), decide(passed, failed, alpha=alpha))
        errors += decision is not Decision.UNDECIDED if wrong is None else decision is wrong
    assert errors / trials <= alpha
