"""Whole JSON files know where their values stand, once somebody asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenhand.config.json_document import JsonDocument, read_json_document
from evenhand.errors import Location, SuiteError

TEXT = """{
  "tests": [
    {"id": "a", "vars": {"é": "x"}},
    {"id": "b",
     "tags": ["x", "y"]}
  ]
}
"""


def document(tmp_path: Path, text: str = TEXT) -> JsonDocument:
    (tmp_path / "f.json").write_bytes(text.encode())
    return read_json_document(tmp_path / "f.json", "f.json")


@pytest.mark.parametrize(
    ("path", "line", "column"),
    [
        ((), 1, 1),
        (("tests",), 2, 12),
        (("tests", 0), 3, 5),
        (("tests", 0, "vars", "é"), 3, 31),
        (("tests", 1, "tags", 1), 5, 20),
        (("tests", 1, "nope"), 4, 5),
        (("tests", 9), 2, 12),
        (("nope", 0), 1, 1),
    ],
)
def test_values_are_located_by_line_and_column(
    tmp_path: Path, path: tuple[str | int, ...], line: int, column: int
) -> None:
    assert document(tmp_path).locate(path) == Location("f.json", line, column)


def test_file_that_has_changed_is_located_as_a_file(tmp_path: Path) -> None:
    read = document(tmp_path)
    (tmp_path / "f.json").write_text("{")
    assert read.locate(("tests", 0)) == Location("f.json")


def test_byte_order_mark_and_crlf_are_fine(tmp_path: Path) -> None:
    read = document(tmp_path, "\ufeff" + TEXT.replace("\n", "\r\n"))
    assert read.value["tests"][0]["id"] == "a"
    assert read.locate(("tests", 0)) == Location("f.json", 3, 5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[\n {"a": 1,\n  "a": 2}]', "f.json:3:3: [0].a: key 'a' is given twice; keep one of them"),
        (
            "[\n1,\n]",
            "f.json:2:2: not valid JSON: a `,` stands before the end of the list or object; remove it",
        ),
        (" \n", "f.json: the file is empty"),
    ],
)
def test_problems_have_a_line_and_a_column(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SuiteError) as caught:
        document(tmp_path, text)
    assert str(caught.value) == message
