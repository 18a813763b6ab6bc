"""Weighted means by name."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.analysis.named_means import MAX_NAMES, NamedMeans
from evenhand.analysis.summary import SummaryFold
from evenhand.model.named_scores import Share, member_of, shares
from evenhand.model.outcome import Outcome, Status
from evenhand.model.result import AssertResult, Run
from evenhand.report.figures import notes
from support.stored_results import a_result, an_assert

shares_ = st.lists(st.builds(Share, st.sampled_from("ab"), st.floats(-4, 4), st.floats(-1, 9)), max_size=8)


def means_of(*given: Share) -> NamedMeans:
    means = NamedMeans()
    means.add("p", given)
    return means


@given(shares_)
def test_mean_is_the_weighted_mean(items: list[Share]) -> None:
    for name, score in means_of(*items).scores().items():
        mine = [item for item in items if item.name == name]
        weight = math.fsum(item.weight for item in mine)
        if weight > 1e-6:
            total = math.fsum(item.score * item.weight for item in mine)
            assert score == pytest.approx(total / weight, rel=1e-6, abs=1e-6)


def test_name_under_which_nothing_weighs_has_the_mean_zero() -> None:
    assert means_of(Share("a", 1.0, 0.0), Share("b", 1.0, -1.0)).scores() == {"a": 0.0, "b": 0.0}


def test_names_are_bounded_and_what_is_left_out_is_told() -> None:
    fold = SummaryFold()
    for number in range(MAX_NAMES + 5):
        fold.add(a_result(number, asserts=(an_assert(metric=f"name {number}"),)))
    fold.add(a_result(asserts=(an_assert(metric="x" * 300),)))
    summary = fold.summary()
    assert len(summary.named_scores) == MAX_NAMES
    assert summary.named_scores_left_out == 6
    assert "6 named scores left out" in "".join(notes(Run(run_id="r", summary=summary)))


def test_members_count_with_the_weights_of_the_groups_around_them() -> None:
    member = AssertResult(kind="contains", status=Status.PASS, score=1.0, weight=3.0, metric="m")
    skipped = AssertResult(kind="contains", status=Status.SKIPPED, metric="m")
    component = Outcome(status=Status.PASS, score=1.0, named_scores={"of a script": 1.0})
    group = AssertResult(kind="any-of", status=Status.PASS, weight=2.0, parts=(member, skipped, component))
    assert list(shares(group)) == [Share("m", 1.0, 6.0)]


def test_only_results_of_members_are_members() -> None:
    assert member_of({"kind": "contains", "status": "pass"}) == AssertResult(
        kind="contains", status=Status.PASS
    )
    assert member_of({"status": "pass"}) is None
    assert member_of({"kind": "contains", "status": "unheard of"}) is None
    assert member_of("text") is None
