"""Further right answers, in the shapes of tests/data/vectors: assertions, groups, suites, templates and filters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evenhand.errors import TemplateError
from evenhand.model.assertion import Assertion
from evenhand.model.result import Filters
from evenhand.model.suite import Case
from evenhand.run.plan import selects
from evenhand.template import Engine, Scope
from support.assertions import build, evidence, judged_case
from support.vectors import row_id
from support.written import load, messages

TABLE = Path(__file__).parent / "data" / "further-cases.jsonl"
ROWS = [json.loads(line) for line in TABLE.read_text(encoding="utf-8").splitlines()]

EXPECT_FAIL: dict[str | None, object] = {"": True}
"""What is written for the `expect_fail` of a finished case: without a reason it is empty there."""


def rows(kind: str) -> list[dict[str, Any]]:
    return [row for row in ROWS if _kind(row) == kind]


def _kind(row: dict[str, Any]) -> str:
    if row["topic"] in ("template", "filter"):
        return str(row["topic"])
    if "assert" not in row:
        return "suite"
    return "refused" if row["expected"]["status"] == "load_error" else "assert"


def output_of(row: dict[str, Any]) -> Any:
    if "output_repeat" in row:
        return "".join(piece * times for piece, times in row["output_repeat"])
    return row["output"]


@pytest.mark.parametrize("row", rows("assert"), ids=row_id)
def test_assertion_judges_as_the_table_says(row: dict[str, Any]) -> None:
    assertion, expected = build(row["assert"]), row["expected"]
    assert isinstance(assertion, Assertion), assertion
    seen = evidence(output_of(row), vars=row.get("vars"), response=row.get("metrics"))
    outcome = judged_case((assertion,), seen)[0].outcome
    assert (outcome.status, outcome.score) == (expected["status"], expected.get("score")), outcome.reason
    assert expected.get("reason_contains", "") in outcome.reason


@pytest.mark.parametrize("row", rows("refused"), ids=row_id)
def test_assertion_is_refused_at_load(row: dict[str, Any], tmp_path: Path) -> None:
    assert messages(tmp_path, {"tests": [{"assert": [row["assert"]]}]})


@pytest.mark.parametrize("row", rows("template"), ids=row_id)
def test_template_renders_as_the_table_says(row: dict[str, Any]) -> None:
    source, expected = row["suite_fragment"]["template"], row["expected"]
    scope = Scope(row.get("vars", {}))
    if expected["status"] == "error":
        with pytest.raises(TemplateError):
            Engine().render(source, scope)
    else:
        assert Engine().render(source, scope) == expected["rendered"]


@pytest.mark.parametrize("row", rows("filter"), ids=row_id)
def test_filters_select_as_the_table_says(row: dict[str, Any]) -> None:
    given = row["suite_fragment"]
    options = {name: tuple(values) for name, values in given["options"].items()}
    selected = selects(Filters(**options), given["test_id"], given["test_tags"])
    assert selected == row["expected"]["selected"]


@pytest.mark.parametrize("row", rows("suite"), ids=row_id)
def test_suite_loads_as_the_table_says(row: dict[str, Any], tmp_path: Path) -> None:
    fragment, files, expected = row["suite_fragment"], row.get("files", {}), row["expected"]
    if expected["status"] == "load_error":
        found = "\n".join(messages(tmp_path, fragment, files))
        assert expected.get("reason_contains", "") in found
        return
    found = resolved(list(load(tmp_path, fragment, files).cases))
    assert {name: found[name] for name in expected if name != "status"} == {
        name: value for name, value in expected.items() if name != "status"
    }


def resolved(cases: list[Case]) -> dict[str, list[Any]]:
    """What cases resolve to, under the names that the table uses."""
    return {
        "test_ids": [case.id for case in cases],
        "test_tags": [list(case.tags) for case in cases],
        "test_vars": [{name: value.authored for name, value in case.vars.items()} for case in cases],
        "thresholds": [case.threshold for case in cases],
        "cache_salt": [case.cache_salt for case in cases],
        "assert_types": [[assertion.kind for assertion in case.assertions] for case in cases],
        "expect_fail": [EXPECT_FAIL.get(case.expect_fail, case.expect_fail) for case in cases],
    }
