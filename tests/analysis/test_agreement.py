"""How far a judge agrees with people, and what its errors do to a pass rate."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.analysis.agreement import (
    Confusion,
    bootstrapped,
    cohens_kappa,
    confusion_of,
    corrected_rate,
    krippendorffs_alpha,
    length_bias,
    self_consistency,
)

counts = st.integers(0, 200)
confusions = st.builds(Confusion, counts, counts, counts, counts)


def test_kappa_is_that_of_the_textbook_example() -> None:
    # 50 grant applications, two readers: 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no give 0.4.
    assert cohens_kappa(Confusion(20, 10, 15, 5)) == pytest.approx(0.4)
    assert cohens_kappa(Confusion(30, 0, 20, 0)) == 1
    assert cohens_kappa(Confusion(25, 25, 25, 25)) == 0
    assert cohens_kappa(Confusion(9, 0, 0, 0)) is None
    assert cohens_kappa(Confusion()) is None


@given(confusions)
def test_kappa_lies_between_minus_one_and_one(confusion: Confusion) -> None:
    kappa = cohens_kappa(confusion)
    assert kappa is None or -1 <= kappa <= 1 + 1e-12


def test_alpha_is_that_of_krippendorffs_own_examples() -> None:
    # "Computing Krippendorff's alpha-reliability" (2011): B, two observers and binary data; C, four and nominal data.
    meg = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    owen = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    assert krippendorffs_alpha(list(zip(meg, owen, strict=True))) == pytest.approx(0.095, abs=5e-4)
    units = [
        [1, 1, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4],
        [4, 4, 4, 4], [1, 1, 2, 1], [2, 2, 2, 2], [5, 5, 5], [1, 1], [3],
    ]  # fmt: skip
    assert krippendorffs_alpha(units) == pytest.approx(0.743, abs=5e-4)


def test_alpha_without_variation_or_pairs_is_unknown() -> None:
    assert krippendorffs_alpha([[1, 1], [1, 1]]) is None
    assert krippendorffs_alpha([[1], [2]]) is None
    assert krippendorffs_alpha([]) is None


def test_confusion_counts_every_verdict() -> None:
    found = confusion_of([(True, [True, False]), (False, [False]), (False, [True, True])])
    assert found == Confusion(1, 2, 1, 1)
    assert (found.sensitivity, found.specificity, found.agreement) == (0.5, pytest.approx(1 / 3), 0.4)
    assert Confusion(3, 0, 0, 1).specificity is None


def test_self_consistency_is_the_share_of_equal_pairs() -> None:
    assert self_consistency([[True, True, False], [False, False]]) == pytest.approx(2 / 4)
    assert self_consistency([[True], []]) is None


def test_length_bias_is_the_excess_of_passes_in_the_longer_half() -> None:
    fair = [(10, True, 1.0), (20, False, 0.0), (30, True, 1.0), (40, False, 0.0)]
    assert length_bias(fair) == 0
    assert length_bias([(10, True, 0.0), (20, False, 0.0), (30, False, 1.0), (40, True, 1.0)]) == 1
    assert length_bias([(10, True, 1.0)]) is None
    assert length_bias([(10, True, 1.0), (10, False, 1.0)]) is None


def test_the_bootstrap_is_deterministic_and_holds_the_value() -> None:
    pairs = [(True, [True]), (True, [False]), (False, [False]), (False, [False])] * 10
    found = bootstrapped(pairs, lambda some: cohens_kappa(confusion_of(some)))
    assert found == bootstrapped(pairs, lambda some: cohens_kappa(confusion_of(some)))
    assert found is not None
    assert found.value == pytest.approx(0.5)
    assert found.low < 0.5 < found.high


def test_a_perfect_judge_needs_little_correction() -> None:
    found = corrected_rate(80, 100, Confusion(500, 0, 500, 0))
    assert found is not None
    assert found.rate == pytest.approx(0.8)
    assert found.low == pytest.approx(0.71, abs=0.02)
    assert found.high == pytest.approx(0.87, abs=0.02)


def test_the_correction_is_rogan_and_gladens() -> None:
    # 0.3 apparent with 90 % sensitivity and 80 % specificity: (0.3 + 0.8 - 1) / (0.9 + 0.8 - 1).
    found = corrected_rate(300, 1_000, Confusion(90, 20, 80, 10))
    assert found is not None
    assert found.rate == pytest.approx(1 / 7)
    assert found.low < 1 / 7 < found.high


def test_a_judge_no_better_than_chance_corrects_nothing() -> None:
    assert corrected_rate(50, 100, Confusion(50, 50, 50, 50)) is None
    assert corrected_rate(50, 100, Confusion(10, 0, 0, 0)) is None
    assert corrected_rate(0, 0, Confusion(9, 1, 9, 1)) is None


@given(st.integers(0, 300), st.integers(0, 300), confusions)
def test_the_corrected_rate_is_a_share_inside_its_bounds(
    passed: int, failed: int, confusion: Confusion
) -> None:
    found = corrected_rate(passed, passed + failed, confusion)
    assert found is None or 0 <= found.low <= found.rate <= found.high <= 1


def test_the_corrected_interval_covers_the_true_rate() -> None:
    draw = random.Random(8)
    true_rate, sensitivity, specificity = 0.7, 0.9, 0.75
    covered = 0
    trials = 1_000
    for _ in range(trials):
        right_pass = sum(draw.random() < sensitivity for _ in range(60))
        right_fail = sum(draw.random() < specificity for _ in range(60))
        confusion = Confusion(right_pass, 60 - right_fail, right_fail, 60 - right_pass)
        chance = true_rate * sensitivity + (1 - true_rate) * (1 - specificity)
        found = corrected_rate(sum(draw.random() < chance for _ in range(150)), 150, confusion)
        covered += found is not None and found.low <= true_rate <= found.high
    assert covered / trials >= 0.93
