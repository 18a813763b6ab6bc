"""Parquet tables keep the types of their columns."""

from __future__ import annotations

import datetime as dt
import decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.case_files import Reading, opened, read_file, read_source


def read_table(folder: Path, columns: dict[str, Any]) -> Reading:
    pq.write_table(pa.table(columns), folder / "c.parquet")
    return read_file(folder, "c.parquet")


def test_columns_are_keys_and_vars_with_their_types(tmp_path: Path) -> None:
    columns = {
        "id": ["a", "b"],
        "tags": [["x"], []],
        "threshold": [0.5, None],
        "expect_fail": [None, True],
        "__assert": ['[{"type": "is-json"}]', None],
        "n": [1, 2],
        "q": ["x", None],
        "deep": [{"a": [1.5]}, {"a": []}],
        "mark": ['{"$raw": "x"}', "y"],
    }
    read = read_table(tmp_path, columns)
    assert read.documents == [
        {
            "id": "a",
            "tags": ["x"],
            "threshold": 0.5,
            "assert": [{"type": "is-json"}],
            "vars": {"n": 1, "q": "x", "deep": {"a": [1.5]}, "mark": {"$raw": "x"}},
        },
        {
            "id": "b",
            "tags": [],
            "expect_fail": True,
            "vars": {"n": 2, "q": None, "deep": {"a": []}, "mark": "y"},
        },
    ]
    assert read.cases[1].origin.locate(("vars", "n")).line == 2
    assert read.cases[1].auto_id == "c/1"
    assert all(case.is_data for case in read.cases)


def test_dates_and_decimals_become_text(tmp_path: Path) -> None:
    columns = {
        "day": [dt.date(2024, 1, 5)],
        "moment": [dt.datetime(2024, 1, 5, 12, tzinfo=dt.UTC)],
        "price": [decimal.Decimal("1.10")],
    }
    assert read_table(tmp_path, columns).vars == [
        {"day": "2024-01-05", "moment": "2024-01-05T12:00:00+00:00", "price": "1.10"}
    ]


def test_values_that_json_does_not_have_are_problems_with_row_and_column(tmp_path: Path) -> None:
    read = read_table(tmp_path, {"x": [1.0, float("nan")], "image": [None, b"\x89PNG"], "id": ["a", "b"]})
    assert read.ids == ["a"]
    assert read.problems == [
        "c.parquet:2: row 2, column `x`: not a number that JSON has, found nan; write null",
        "c.parquet:2: row 2, column `image`: cannot be sent, found a value of type bytes; leave the column out",
    ]


def test_reserved_column_of_another_type_is_a_problem(tmp_path: Path) -> None:
    read = read_table(tmp_path, {"id": [1]})
    assert read.problems == ["c.parquet:1: row 1, column `id`: must be text, found the number 1"]


def test_headers_are_those_of_csv(tmp_path: Path) -> None:
    (problem,) = read_table(tmp_path, {"__expected": ["x"]}).problems
    assert problem.startswith("c.parquet: column `__expected` belongs to promptfoo's tables of tests")


def test_large_table_is_read_in_batches_and_again(tmp_path: Path) -> None:
    pq.write_table(pa.table({"n": list(range(2500))}), tmp_path / "c.parquet")
    source = opened(tmp_path, "c.parquet")
    for _ in range(2):
        assert [values["n"] for values in read_source(source).vars] == list(range(2500))


def test_template_looking_values_and_empty_tables_draw_warnings(tmp_path: Path) -> None:
    assert "looks like a template" in read_table(tmp_path, {"q": ["{{ x }}"]}).warnings[0]
    assert "did you mean the reserved column `id`?" in read_table(tmp_path, {"ID": [1]}).warnings[0]
    assert read_table(tmp_path, {"q": pa.array([], pa.string())}).warnings == [
        "c.parquet: holds no cases; write one case per row"
    ]


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + b"\0" * 100 + b"PAR1", b"q\n1\n"])
def test_file_that_is_no_parquet_is_a_problem(tmp_path: Path, content: bytes) -> None:
    (problem,) = read_file(tmp_path, "c.parquet", content).problems
    assert problem.startswith("c.parquet: cannot be read as Parquet: ")
