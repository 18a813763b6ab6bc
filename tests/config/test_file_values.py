"""Marks in values become what their files hold, or problems at the mark."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evenhand.config.file_values import MAX_NESTED_FILES, FileValues
from evenhand.config.sandbox import Sandbox
from evenhand.errors import DocumentPath, Location, SuiteError
from support.case_files import write_files


def locate(path: DocumentPath) -> Location:
    """Places that show the path they were asked for."""
    return Location("suite.yaml", 1, len(path) + 1)


def resolved(folder: Path, value: Any, files: Mapping[str, str | bytes] | None = None) -> Any:
    write_files(folder, files or {})
    return FileValues(Sandbox(folder)).resolve(value, locate)


def refused(folder: Path, value: Any, files: Mapping[str, str | bytes] | None = None) -> list[str]:
    with pytest.raises(SuiteError) as caught:
        resolved(folder, value, files)
    assert all(problem.location for problem in caught.value.problems)
    return [str(problem).replace(f"{folder}/", "") for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("name", "content", "options", "expected"),
    [
        ("d.txt", "hello\r\n", {}, "hello\r\n"),
        ("d.txt", '{"k": 1}', {"parse": True}, '{"k": 1}'),
        ("d.md", "\ufeffx", {}, "x"),
        ("d.json", '{"k": 1}', {}, {"k": 1}),
        ("d.json", '{"k": 1}', {"parse": False}, '{"k": 1}'),
        ("D.JSON", "[1]", {}, [1]),
        ("d.yaml", "k: [no, 007]", {}, {"k": ["no", "007"]}),
        ("d.yml", "- a", {"parse": True}, ["a"]),
        ("d.txt", "{{7*7}}", {"raw": True}, {"$raw": "{{7*7}}"}),
        ("d.json", '["{{x}}"]', {"raw": True}, {"$raw": ["{{x}}"]}),
        ("d.txt", "x", {"raw": False}, "x"),
        ("d.json", "1", {"parse": False, "raw": True}, {"$raw": "1"}),
    ],
)
def test_mark_becomes_the_content(
    tmp_path: Path, name: str, content: str, options: dict[str, bool], expected: Any
) -> None:
    assert resolved(tmp_path, {"$file": name, **options}, {name: content}) == expected


def test_marks_are_found_at_every_depth(tmp_path: Path) -> None:
    value = {"a": [{"b": {"$file": "d.txt"}}, 1], "c": {"$file": "d.txt"}}
    assert resolved(tmp_path, value, {"d.txt": "x"}) == {"a": [{"b": "x"}, 1], "c": "x"}


def test_value_without_marks_is_the_same_value(tmp_path: Path) -> None:
    value = {"a": [1, {"b": "$file"}]}
    assert resolved(tmp_path, value) is value


def test_raw_value_is_not_looked_into(tmp_path: Path) -> None:
    value = {"x": {"$raw": {"$file": "none.txt"}}, "y": {"$file": "d.txt"}}
    assert resolved(tmp_path, value, {"d.txt": "d"}) == {"x": {"$raw": {"$file": "none.txt"}}, "y": "d"}


def test_marks_inside_a_file_are_relative_to_the_suite(tmp_path: Path) -> None:
    files = {
        "data/a.yaml": "x: {$file: data/b.json}",
        "data/b.json": '{"$file": "c.txt"}',
        "c.txt": "end",
    }
    assert resolved(tmp_path, {"$file": "data/a.yaml"}, files) == {"x": "end"}


def test_content_that_is_raw_keeps_its_marks(tmp_path: Path) -> None:
    files = {"a.json": '{"$file": "none.txt"}'}
    assert resolved(tmp_path, {"$file": "a.json", "raw": True}, files) == {"$raw": {"$file": "none.txt"}}


def test_file_is_read_once(tmp_path: Path) -> None:
    write_files(tmp_path, {"d.txt": "old"})
    values = FileValues(Sandbox(tmp_path))
    assert values.resolve({"$file": "d.txt"}, locate) == "old"
    write_files(tmp_path, {"d.txt": "new"})
    assert values.resolve({"$file": "d.txt"}, locate) == "old"


@pytest.mark.parametrize(
    ("mark", "message"),
    [
        ({"$file": "d.txt", "prase": True}, "x.prase: unknown `$file` option 'prase'; did you mean 'parse'?"),
        (
            {"$file": "d.txt", "other": 1},
            "x.other: unknown `$file` option 'other'; its options are `parse` and `raw`",
        ),
        ({"$file": 5}, "x.$file: `$file` must be a string path, found the number 5"),
        ({"$file": "d.txt", "raw": "yes"}, "x.raw: `raw` of `$file` must be true or false, found text 'yes'"),
        ({"$file": "e.txt"}, "x: no such file, found 'e.txt'; did you mean 'd.txt'?"),
        ({"$file": ""}, "x: '' names no file; write the path of a file"),
    ],
)
def test_bad_mark_is_refused_at_its_place(tmp_path: Path, mark: dict[str, Any], message: str) -> None:
    place = f"suite.yaml:1:{2 + message.split(':')[0].count('.')}"
    assert refused(tmp_path, {"x": mark}, {"d.txt": ""}) == [f"{place}: {message}"]


def test_every_bad_mark_is_reported(tmp_path: Path) -> None:
    value = {"a": {"$file": "none", "x": 1, "raw": 2}, "b": [{"$file": "../s"}, {"$file": None}]}
    found = refused(tmp_path, value)
    assert [line.split(": ")[1] for line in found] == ["a.x", "a.raw", "b[0]", "b[1].$file"]
    assert "refuses to read outside" in found[2]


def test_broken_file_is_reported_at_its_own_place(tmp_path: Path) -> None:
    files = {"d.json": '{"a": 1,\n "a": 2}', "e.txt": b"ok\n\xff", "f.yaml": "a: [1"}
    value = [{"$file": name} for name in files]
    found = refused(tmp_path, value, files)
    assert found[0] == "d.json:2:2: a: key 'a' is given twice; keep one of them"
    assert found[1] == "e.txt:2:1: the file is not UTF-8, found byte 0xff; save it as UTF-8"
    assert found[2].startswith("f.yaml:2:1: not valid YAML")


def test_files_that_lead_back_are_named_as_a_circle(tmp_path: Path) -> None:
    files = {"a.yaml": "x: {$file: b.yaml}", "b.yaml": "- {$file: ./a.yaml}"}
    (found,) = refused(tmp_path, {"$file": "a.yaml"}, files)
    assert found == "b.yaml:1:3: [0]: the files lead back to themselves: a.yaml → b.yaml → a.yaml"


def test_chain_of_files_is_bounded(tmp_path: Path) -> None:
    files = {f"{n}.json": f'{{"$file": "{n + 1}.json"}}' for n in range(MAX_NESTED_FILES + 1)}
    (found,) = refused(tmp_path, {"$file": "0.json"}, files)
    assert f"more than {MAX_NESTED_FILES} files lead from one to the next" in found
