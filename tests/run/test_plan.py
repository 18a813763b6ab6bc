"""Which cells a run consists of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evenhand.errors import UsageError
from evenhand.model.result import Filters
from evenhand.model.suite import Case, Prompt
from evenhand.run.plan import Known, Plan, selects
from support.suites import provider, suite
from support.vectors import row_id, topic

CASES = [Case(id="a", tags=("smoke",)), Case(id="b/x"), Case(id="b/y", skip_providers=("two",))]


@pytest.mark.parametrize("row", topic("filter"), ids=row_id)
def test_filters_follow_the_table(row: dict[str, Any], tmp_path: Path) -> None:
    given = row["suite_fragment"]
    options = given.get("options", {})
    case = Case(
        id=given.get("test_id", "t"),
        tags=tuple(given.get("test_tags", ())),
        only_providers=tuple(given.get("test", {}).get("only_providers", ())),
        skip_providers=tuple(given.get("test", {}).get("skip_providers", ())),
    )
    filters = Filters(
        tags=tuple(options.get("tags", ())),
        filters=tuple(options.get("filters", ())),
        providers=tuple(given.get("--provider", ())),
    )
    providers = (provider(given.get("provider", "one")), provider("gpt"))
    plan = Plan(suite(tmp_path, [case], providers=providers), filters)
    selected = any(cell.provider is providers[0] for cell in plan.cells())
    assert selected is row["expected"]["selected"]


def test_id_with_brackets_can_be_named_as_it_is() -> None:
    assert selects(Filters(filters=("g[a=x]",)), "g[a=x]", ())


def cells_of(plan: Plan) -> list[tuple[str, str, str | None, int]]:
    return [(c.key.test_id, c.key.provider_id, c.key.prompt_id, c.key.repeat) for c in plan.cells()]


def test_cells_of_one_case_stand_together(tmp_path: Path) -> None:
    plan = Plan(
        suite(tmp_path, CASES, providers=(provider("one"), provider("two")), prompts=(Prompt(id="p"),)),
        repeat=2,
    )
    assert cells_of(plan) == [
        ("a", "one", "p", 0),
        ("a", "one", "p", 1),
        ("a", "two", "p", 0),
        ("a", "two", "p", 1),
        ("b/x", "one", "p", 0),
        ("b/x", "one", "p", 1),
        ("b/x", "two", "p", 0),
        ("b/x", "two", "p", 1),
        ("b/y", "one", "p", 0),
        ("b/y", "one", "p", 1),
    ]
    assert plan.total() == 10


def test_suite_without_prompts_asks_each_provider_once(tmp_path: Path) -> None:
    assert cells_of(Plan(suite(tmp_path, CASES[:1]))) == [("a", "one", None, 0)]


def test_finished_cells_are_left_out_and_the_others_keep_their_place(tmp_path: Path) -> None:
    loaded = suite(tmp_path, CASES)
    everything = list(Plan(loaded).cells())
    rest = Plan(loaded, known=Known({everything[0].case_key}))
    assert [(cell.index, cell.case_key) for cell in rest.cells()] == [
        (cell.index, cell.case_key) for cell in everything[1:]
    ]


def test_only_named_cells_are_run_again(tmp_path: Path) -> None:
    loaded = suite(tmp_path, CASES)
    wanted = list(Plan(loaded).cells())[1].case_key
    assert [cell.case_key for cell in Plan(loaded, only_keys={wanted}).cells()] == [wanted]


def test_unknown_provider_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="did you mean 'one'"):
        Plan(suite(tmp_path, CASES), Filters(providers=("onee",)))
