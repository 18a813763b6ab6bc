"""The tables of right answers about templates and vars."""

from __future__ import annotations

from typing import Any

import pytest

from evenhand.errors import TemplateError
from evenhand.template import Engine, Scope, Val, order_vars, render_vars
from support.vectors import row_id, rows, topic

TEMPLATES = topic("template")
VARS = topic("vars")
FIELD_CASES = [
    row
    for row in rows("field-cases")
    if row["kind"] in ("templating", "vars")
    and "prompt" in row["input"]
    and ("prompt" in str(row["expected"]) or row["expected"].get("status") == "load_error")
]


@pytest.mark.parametrize("row", TEMPLATES, ids=row_id)
def test_template_renders_as_the_table_says(row: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in row.get("env", {}).items():
        monkeypatch.setenv(name, value)
    scope = Scope({**row["vars"], "env": row.get("env", {})})
    source = row["suite_fragment"]["template"]
    if row["expected"]["status"] == "error":
        with pytest.raises(TemplateError):
            Engine().render(source, scope)
    else:
        assert Engine().render(source, scope) == row["expected"]["rendered"]


@pytest.mark.parametrize("row", VARS, ids=row_id)
def test_vars_render_as_the_table_says(row: dict[str, Any]) -> None:
    engine = Engine()
    plan = order_vars({name: Val(value) for name, value in row["suite_fragment"]["vars"].items()}, engine)
    if row["expected"]["status"] == "error":
        with pytest.raises(TemplateError) as caught:
            render_vars(plan, row["env"])
        assert caught.value.error_class == row["expected"]["error_class"]
    else:
        assert render_vars(plan, row["env"]) == row["expected"]["rendered_vars"]


@pytest.mark.parametrize("row", FIELD_CASES, ids=row_id)
def test_prompt_is_what_the_field_taught(row: dict[str, Any]) -> None:
    engine, given, expected = Engine(), row["input"], row["expected"]
    if expected.get("status") == "load_error":
        assert engine.check_template(given["prompt"]) is not None
        return
    if "prompts" in expected:
        assert engine.check_template(given["prompt"]) is None
        return
    expected = expected.get("domarinn", expected)
    scope = Scope({**given.get("vars", {}), "env": given.get("env", {})})
    assert engine.render(given["prompt"], scope) == expected["prompt"]


def test_tables_have_rows() -> None:
    assert len(TEMPLATES) >= 30
    assert len(VARS) >= 5
    assert len(FIELD_CASES) >= 5
