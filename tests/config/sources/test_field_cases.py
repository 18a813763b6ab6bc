"""What users of such tools met with tables and data: the rows of the field cases, through the loader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evenhand.template import Scope
from support.vectors import row_id, rows
from support.written import load, messages, warnings

FIELD = rows("field-cases")
TABLES = [row for row in FIELD if row["kind"] == "csv"]
OTHER_DIALECT = "__expected"
SUITE = {"tests": ["file://c.csv"]}


def is_ours(row: dict[str, Any]) -> bool:
    """Whether a table is written in this project's language; promptfoo's keeps its checks in other columns."""
    return f",{OTHER_DIALECT}" not in row["input"]["csv"]


def loaded_vars(folder: Path, table: str) -> list[dict[str, Any]]:
    suite = load(folder, SUITE, {"c.csv": table})
    return [
        {name: value.render(suite.engine, Scope({})) for name, value in case.vars.items()}
        for case in suite.cases
    ]


@pytest.mark.parametrize("row", [row for row in TABLES if is_ours(row)], ids=row_id)
def test_table_loads_as_the_field_case_says(row: dict[str, Any], tmp_path: Path) -> None:
    table, expected = row["input"]["csv"], row["expected"]
    if expected.get("status") == "load_error":
        found = messages(tmp_path, SUITE, {"c.csv": table})
        assert found
        assert all(message.startswith("c.csv:") and "row " in message for message in found)
        return
    assert {"vars", "warning"} & set(expected)
    if "vars" in expected:
        assert loaded_vars(tmp_path, table) == expected["vars"]
    if "warning" in expected:
        assert any(expected["warning"] in warning for warning in warnings(tmp_path, SUITE, {"c.csv": table}))


@pytest.mark.parametrize("row", [row for row in TABLES if not is_ours(row)], ids=row_id)
def test_table_of_the_other_dialect_is_refused_with_what_to_write(
    row: dict[str, Any], tmp_path: Path
) -> None:
    (first, *_) = messages(tmp_path, SUITE, {"c.csv": row["input"]["csv"]})
    assert first.startswith(f"c.csv:1: row 1: column `{OTHER_DIALECT}")
    assert "write assertions as a JSON list in a column `__assert`" in first


@pytest.mark.parametrize("row", [row for row in FIELD if row["kind"] == "path-traversal"], ids=row_id)
def test_data_does_not_reach_files(row: dict[str, Any], tmp_path: Path) -> None:
    assert loaded_vars(tmp_path, row["input"]["csv"]) == [{"q": row["expected"]["prompt"]}]


def test_marks_in_data_mean_what_they_mean_in_a_suite(tmp_path: Path) -> None:
    table = 'a,b,c\n"{""$raw"": ""{{x}}""}","{""$file"": ""d.txt""}",{{ y }}\n'
    suite = load(tmp_path, SUITE, {"c.csv": table, "d.txt": "{{ z }}"})
    (case,) = suite.cases
    assert {name: value.render(suite.engine, Scope({})) for name, value in case.vars.items()} == {
        "a": "{{x}}",
        "b": "{{ z }}",
        "c": "{{ y }}",
    }
