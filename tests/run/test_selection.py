"""Filters that leave nothing are refused with what was meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenhand.errors import UsageError
from evenhand.model.result import Filters
from evenhand.model.suite import Case
from evenhand.run.plan import Plan
from evenhand.run.selection import selecting
from support.suites import suite

CASES = [
    Case(id="billing/refund", tags=("smoke", "money")),
    Case(id="billing/late", tags=("slow",)),
    Case(id="greeting"),
]


def plan(tmp_path: Path, cases: list[Case], **filters: tuple[str, ...]) -> Plan:
    return Plan(suite(tmp_path, cases), Filters(**filters))


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ({"tags": ("smok",)}, "no case has the tag 'smok'; did you mean 'smoke'?"),
        ({"tags": ("x",)}, "no case has the tag 'x'; the suite has money, slow, smoke"),
        ({"tags": ("x", "y")}, "no case has the tag 'x' or 'y'; the suite has money, slow, smoke"),
        ({"filters": ("greetign",)}, "no case has an id that matches 'greetign'; did you mean 'greeting'?"),
        ({"filters": ("billing",)}, "no case has an id that matches 'billing'; did you mean 'billing/*'?"),
        ({"filters": ("refund",)}, "no case has an id that matches 'refund'; did you mean '*refund*'?"),
        (
            {"tags": ("slow",), "filters": ("greeting",)},
            "no case has the tag 'slow' and an id that matches 'greeting'; `evenhand list tests` shows ids and tags",
        ),
    ],
)
def test_filters_that_leave_nothing_are_refused(
    filters: dict[str, tuple[str, ...]], message: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError) as caught:
        selecting(plan(tmp_path, CASES, **filters), allow_empty=False)
    assert str(caught.value) == message


def test_a_suite_without_tags_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no case of the suite has `tags`"):
        selecting(plan(tmp_path, [Case(id="a")], tags=("x",)), allow_empty=False)


def test_an_empty_selection_may_be_allowed(tmp_path: Path) -> None:
    asked = plan(tmp_path, CASES, tags=("x",))
    assert selecting(asked, allow_empty=True) is asked


def test_an_empty_suite_is_not_the_fault_of_filters(tmp_path: Path) -> None:
    asked = plan(tmp_path, [], tags=("x",))
    assert selecting(asked, allow_empty=False) is asked
