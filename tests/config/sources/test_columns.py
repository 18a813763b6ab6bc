"""What each column of a table means, and what it cannot mean."""

from __future__ import annotations

from typing import Any

import pytest

from evenhand.config.sources.columns import Columns


def document(header: list[str], cells: list[Any]) -> dict[str, Any]:
    columns = Columns(header)
    assert not columns.faults
    faults: list[Any] = []
    result = columns.document(cells, faults)
    assert not faults
    return result


def cell_fault(column: str, cell: Any) -> tuple[str, str]:
    faults: list[Any] = []
    Columns([column]).document([cell], faults)
    ((name, message, hint),) = faults
    assert name == column
    return message, hint


@pytest.mark.parametrize(
    ("column", "cell", "expected"),
    [
        ("id", "q1", {"id": "q1"}),
        ("id", "", {"id": ""}),
        ("description", "what", {"description": "what"}),
        ("description", " ", {}),
        ("tags", "smoke, fast ,,", {"tags": ["smoke", "fast"]}),
        ("threshold", " 0.5 ", {"threshold": 0.5}),
        ("threshold", "", {}),
        ("cache_salt", "", {"cache_salt": ""}),
        ("cache_salt", "v 1", {"cache_salt": "v 1"}),
        ("expect_fail", "TRUE", {"expect_fail": True}),
        ("expect_fail", "false", {"expect_fail": False}),
        ("expect_fail", "known bug (#123)", {"expect_fail": "known bug (#123)"}),
        ("expect_fail", " ", {}),
        ("__assert", '[{"type": "is-json"}]', {"assert": [{"type": "is-json"}]}),
        ("__assert", "", {}),
        (
            "__history",
            '[{"role": "user", "content": "hi"}]',
            {"history": [{"role": "user", "content": "hi"}]},
        ),
        ("__history", " file://t.yaml", {"history": "file://t.yaml"}),
        ("__history", "", {}),
        ("question", " 007 ", {"vars": {"question": " 007 "}}),
        (" question ", "x", {"vars": {"question": "x"}}),
        ("name, full", "x", {"vars": {"name, full": "x"}}),
        ("n:int", "007", {"vars": {"n": 7}}),
        ("n:int", " -3", {"vars": {"n": -3}}),
        ("n:int", "", {"vars": {"n": None}}),
        ("p:float", " ", {"vars": {"p": None}}),
        ("f:bool", "", {"vars": {"f": None}}),
        ("d:json", "", {"vars": {"d": None}}),
        ("p:float", "1e3", {"vars": {"p": 1000.0}}),
        ("p:float", ".5", {"vars": {"p": 0.5}}),
        ("f:bool", "False", {"vars": {"f": False}}),
        ("d:json", '{"a": [1]}', {"vars": {"d": {"a": [1]}}}),
        ("a:b:int", "1", {"vars": {"a:b": 1}}),
        ("time:utc", "x", {"vars": {"time:utc": "x"}}),
        ("q", "file:///etc/passwd", {"vars": {"q": "file:///etc/passwd"}}),
    ],
)
def test_cell_becomes_a_key_or_a_var(column: str, cell: str, expected: dict[str, Any]) -> None:
    assert document([column], [cell]) == expected


@pytest.mark.parametrize(
    ("column", "cell", "message"),
    [
        ("threshold", "high", "not a number, found 'high'"),
        ("threshold", "nan", "not a number, found 'nan'"),
        ("threshold", "0,5", "not a number, found '0,5'"),
        ("n:int", "1.0", "not an integer, found '1.0'"),
        ("n:int", "1_000", "not an integer, found '1_000'"),
        ("n:int", "٣", "not an integer, found '٣'"),
        ("n:int", "9" * 500, "not an integer, found '" + "9" * 40 + "'"),
        ("p:float", "1e999", "not a number, found '1e999'"),
        ("p:float", "inf", "not a number, found 'inf'"),
        ("f:bool", "yes", "not a boolean, found 'yes'"),
        (
            "d:json",
            "{'a': 1}",
            "not valid JSON: a key in double quotes was expected, at character 2 of \"{'a': 1}\"",
        ),
        ("__assert", "contains:x", "not valid JSON: a value was expected, at character 1 of 'contains:x'"),
        ("__assert", '{"type": "is-json"}', "must be a JSON list of assertions, found a mapping"),
        ("__history", "hello", "must be a JSON list of turns or a file:// reference, found 'hello'"),
        ("tags", 3, "must be text, found the number 3"),
        ("threshold", True, "must be text, found true"),
    ],
)
def test_cell_that_does_not_fit_is_a_fault(column: str, cell: Any, message: str) -> None:
    assert cell_fault(column, cell)[0] == message


def test_decimal_comma_is_explained() -> None:
    assert cell_fault("p:float", "1,5")[1] == "write decimals with a point"


@pytest.mark.parametrize(
    ("header", "message", "hint"),
    [
        (["a", ""], "column 2 has no name", "name it, or delete the column"),
        (["a", "b", "a "], "columns 1 and 3 are both called 'a'", "rename one of them"),
        (["n", "n:int"], "columns 1 and 2 are both called 'n'", "rename one of them"),
        (["id", "id:int"], "columns 1 and 2 are both called 'id'", "rename one of them"),
        (["tags:json"], "column `tags:json` is reserved and takes no type", "call it `tags`"),
        (["__expected"], "column `__expected` belongs to promptfoo's tables of tests", "__assert"),
        (["__expected0"], "column `__expected0` belongs to promptfoo's tables of tests", "__assert"),
        (
            ["__asert"],
            "unknown column `__asert`: names that begin with `__` are reserved",
            "did you mean `__assert`?",
        ),
        (["__metric"], "unknown column `__metric`: names that begin with `__` are reserved", "rename it"),
        (["assert"], "column `assert` would be a var and assert nothing", "__assert"),
    ],
)
def test_header_that_cannot_be_meant_is_refused(header: list[str], message: str, hint: str) -> None:
    ((found, advice),) = Columns(header).faults
    assert found == message
    assert hint in advice


def test_every_fault_of_a_header_is_found() -> None:
    assert len(Columns(["", "a", "a", "__x", "assert"]).faults) == 4


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("_expected", "did you mean __expected"),
        ("_expected1", "did you mean __expected"),
        ("_assert", "did you mean the reserved column `__assert`?"),
        ("ID", "did you mean the reserved column `id`?"),
        ("Tags", "did you mean the reserved column `tags`?"),
        ("n:integer", "did you mean `n:int`?"),
        ("n:boolean", "did you mean `n:bool`?"),
    ],
)
def test_column_that_is_almost_something_else_draws_a_warning(name: str, advice: str) -> None:
    columns = Columns([name])
    assert not columns.faults
    ((_, hint),) = columns.warnings
    assert advice in hint


@pytest.mark.parametrize("name", ["history", "question", "Expected", "time:utc", "assertions"])
def test_ordinary_column_draws_no_warning(name: str) -> None:
    columns = Columns([name])
    assert not columns.warnings
    assert not columns.faults


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ('{"$raw": "{{x}}"}', {"$raw": "{{x}}"}),
        (' { "$file" : "a.txt", "raw": true}', {"$file": "a.txt", "raw": True}),
        ('{"$file": "a.txt", "prase": 1}', {"$file": "a.txt", "prase": 1}),
        ('{"$raw": 1, "other": 2}', '{"$raw": 1, "other": 2}'),
        ('{"a": 1}', '{"a": 1}'),
        ('say {"$raw": 1}', 'say {"$raw": 1}'),
    ],
)
def test_cell_that_is_a_mark_becomes_its_object(cell: str, expected: Any) -> None:
    columns = Columns(["q"])
    faults: list[Any] = []
    values = columns.document([cell], faults)["vars"]
    columns.read_marks(values, faults)
    assert values == {"q": expected}
    assert not faults


def test_mark_that_is_not_json_is_a_fault() -> None:
    columns = Columns(["q"])
    faults: list[Any] = []
    columns.read_marks({"q": '{"$file": a.txt}'}, faults)
    assert (
        faults[0].message == "not valid JSON: a value was expected, at character 11 of '{\"$file\": a.txt}'"
    )
