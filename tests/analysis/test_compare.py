"""Two results of one cell side by side, and all of them together."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from evenhand.analysis.compare import CaseDiff, CompareFold, Side, compare
from evenhand.analysis.verdict import Delta
from evenhand.model.result import CaseResult, CaseStatus, CellKey
from support.stored_results import a_result

PASS, FAIL, ERROR = CaseStatus.PASS, CaseStatus.FAIL, CaseStatus.ERROR


def side(place: int = 0, **fields: Any) -> Side:
    fields.setdefault("output", "an answer")
    return as_side(a_result(place, **fields))


def as_side(result: CaseResult) -> Side:
    return msgspec.json.decode(msgspec.json.encode(result), type=Side)


def folded(*pairs: tuple[Side | None, Side | None]) -> Any:
    fold = CompareFold()
    for base, head in pairs:
        fold.add(compare(base, head), base, head)
    return fold.comparison(base="one", base_runs=("one",), head="two")


@pytest.mark.parametrize(
    ("change", "causes"),
    [
        ({"prompt_digest": "sha256:2"}, ("prompt",)),
        ({"vars": {"q": "other"}}, ("vars",)),
        ({"provider_digest": "sha256:2", "output": "another"}, ("provider", "output")),
        ({"assert_digest": "sha256:2"}, ("assertions",)),
        ({"model": "newer", "output": "another"}, ("model", "output")),
        ({"answered_by_provider_id": "spare"}, ("fallback",)),
        ({"output": "another"}, ("output",)),
        ({}, ("unstable check",)),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, (dict, tuple)) else None,
)
def test_a_change_is_put_down_to_what_differs(change: dict[str, Any], causes: tuple[str, ...]) -> None:
    diff = compare(side(), side(status=FAIL, **change))
    assert (diff.delta, diff.causes) == (Delta.NEWLY_FAILING, causes)


def test_another_grader_is_a_cause_only_where_something_changed() -> None:
    assert compare(side(), side(status=FAIL), grader_changed=True).causes == ("grader",)
    assert compare(side(), side(), grader_changed=True).causes == ()


def test_an_error_without_other_cause_is_called_so() -> None:
    assert compare(side(), side(status=ERROR, score=None)).causes == ("error",)


def test_presence_and_output_count_as_change() -> None:
    assert compare(None, side()).delta is Delta.ADDED
    assert compare(side(), None).delta is Delta.REMOVED
    changed = compare(side(), side(output="another"))
    assert (changed.delta, changed.output_changed, changed.changed) == (Delta.UNCHANGED, True, True)
    assert not compare(side(), side()).changed
    with pytest.raises(ValueError, match="neither run"):
        compare(None, None)


def test_only_cells_judged_in_both_runs_enter_rates_and_tests() -> None:
    found = folded(
        (side(0), side(0, status=FAIL)),
        (side(1), side(1, status=ERROR, score=None)),
        (side(2, unchecked=True), side(2)),
        (side(3), None),
        (None, side(4)),
    )
    assert (found.newly_failing, found.added, found.removed) == (2, 1, 1)
    assert (found.pairs, found.worse, found.better) == (1, 1, 0)
    assert (found.base_pass_rate, found.head_pass_rate) == (1, 0)
    assert found.minimum_detectable_change is None


def test_nothing_judged_in_both_runs_leaves_rates_and_tests_absent() -> None:
    found = folded((None, side(0)))
    assert found.base_pass_rate is found.p_value is found.minimum_detectable_change is None


def test_repeats_of_a_question_count_as_one_case() -> None:
    def cells(status: CaseStatus) -> list[Side]:
        return [
            side(status=status, cell=CellKey(provider_id="p", test_id=f"t/{test}", repeat=repeat))
            for test in range(4)
            for repeat in range(5)
        ]

    found = folded(*zip(cells(PASS), cells(FAIL), strict=True))
    # Twenty cells, yet four questions: 2 / 2**4 is as small as the chance of four equal signs can be.
    assert (found.pairs, found.cases, found.worse) == (20, 4, 20)
    assert found.p_value == pytest.approx(0.125)


def test_metrics_are_compared_over_the_cases_that_have_them_in_both_and_corrected_together() -> None:
    found = folded(
        *(
            (side(i, named_scores={"tone": 0.2, "old": 1.0}), side(i, named_scores={"tone": 0.6, "new": 1.0}))
            for i in range(12)
        )
    )
    score, tone = found.metrics
    assert (score.name, score.mean, score.p_value) == ("score", 0, 1)
    assert (tone.name, tone.cases, tone.mean) == ("tone", 12, pytest.approx(0.4))
    assert tone.p_value < 0.01
    assert tone.p_adjusted == pytest.approx(3 * tone.p_value)


def test_a_comparison_can_be_stored_and_read_again() -> None:
    found = folded((side(0), side(0, status=FAIL)))
    assert msgspec.json.decode(msgspec.json.encode(found), type=type(found)) == found
    assert isinstance(compare(side(), side()), CaseDiff)
