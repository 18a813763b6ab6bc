"""YAML and JSON files of tests: a list, or a mapping with one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.config.sources import FileSource
from evenhand.errors import Location, Problem
from support.case_files import opened, read_file, read_source


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("c.yaml", "- id: a\n- vars: {q: x}\n", 2),
        ("c.yaml", "x-note: free\ntests:\n- id: a\n- vars: {q: x}\n", 4),
        ("c.json", '[{"id": "a"},\n {"vars": {"q": "x"}}]', 2),
        ("c.json", '{"tests": [{"id": "a"},\n\n {"vars": {"q": "x"}}]}', 3),
    ],
)
def test_cases_have_ids_and_places(tmp_path: Path, name: str, content: str, line: int) -> None:
    read = read_file(tmp_path, name, content)
    assert read.documents == [{"id": "a"}, {"vars": {"q": "x"}}]
    assert read.ids == ["a", "c/1"]
    second = read.cases[1]
    assert second.origin.locate(second.base_path).line == line
    assert second.origin.locate((*second.base_path, "vars", "q")).column > 3


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        (
            "c.yaml",
            "",
            "c.yaml: must hold a list of tests, found null; write a list, or a mapping with the list under `tests`",
        ),
        ("c.yaml", "just text", "c.yaml:1:1: must hold a list of tests, found text 'just text'"),
        ("c.yaml", "tests: 3", "c.yaml:1:8: tests: must hold a list of tests, found the number 3"),
        ("c.yaml", "test: []", "c.yaml:1:7: test: unknown key 'test'; did you mean `tests`?"),
        (
            "c.json",
            '{"cases": []}',
            "c.json:1:11: cases: unknown key 'cases'; a file of tests holds `tests` alone",
        ),
        ("c.json", "", "c.json: the file is empty"),
        ("c.json", '[{"id": 1, "id": 2}]', "c.json:1:12: [0].id: key 'id' is given twice"),
        ("c.yaml", "- {id: a, id: b}", "c.yaml:1:11: [0].id: key 'id' is given twice"),
        ("c.yaml", b"- id: \xff", "c.yaml:1:7: the file is not UTF-8, found byte 0xff"),
        ("c.json", b'["\xff"]', "c.json:1:3: the text is not UTF-8, found byte 0xff"),
        ("c.yaml", "- [", "c.yaml:"),
        ("c.json", "[" * 3000 + "]" * 3000, "c.json:1:1: values are nested too deeply"),
    ],
)
def test_other_files_are_problems_with_a_place(
    tmp_path: Path, name: str, content: str | bytes, problem: str
) -> None:
    read = read_file(tmp_path, name, content)
    assert not read.cases
    assert len(read.problems) == 1
    assert read.problems[0].startswith(problem)


def test_entry_that_is_no_mapping_is_a_problem_and_reading_goes_on(tmp_path: Path) -> None:
    read = read_file(tmp_path, "c.yaml", "- id: a\n- text\n- id: b\n")
    assert read.ids == ["a", "b"]
    assert read.cases[1].auto_id == "c/2"
    assert read.problems == ["c.yaml:2:3: [1]: a test must be a mapping, found text 'text'"]


@pytest.mark.parametrize(("name", "content"), [("c.yaml", "[]"), ("c.json", '{"tests": []}')])
def test_file_without_cases_draws_a_warning(tmp_path: Path, name: str, content: str) -> None:
    assert read_file(tmp_path, name, content).warnings == [f"{name}: holds no cases; write a list of tests"]


def test_tags_of_yaml_become_marks(tmp_path: Path) -> None:
    read = read_file(tmp_path, "c.yaml", "- vars: {a: !raw '{{x}}', b: !file d.txt}")
    assert read.vars == [{"a": {"$raw": "{{x}}"}, "b": {"$file": "d.txt"}}]


def test_templates_in_data_draw_a_warning_and_in_yaml_none(tmp_path: Path) -> None:
    assert read_file(tmp_path, "c.json", '[{}, {"vars": {"q": "{{ x }}"}}]').warnings == [
        (
            "c.json:1: vars.q: looks like a template, found '{{ x }}', but values of data files are sent as they are; "
            "set `template: true` on the source if its values are templates"
        )
    ]
    assert not read_file(tmp_path, "d.yaml", "- vars: {q: '{{ x }}'}").warnings


def test_both_formats_are_read_again(tmp_path: Path) -> None:
    for name, content in (("c.yaml", "- id: a"), ("c.json", '[{"id": "a"}]')):
        source = opened(tmp_path, name, content)
        assert read_source(source).ids == read_source(source).ids == ["a"]


def test_file_above_the_bound_is_refused_by_size(tmp_path: Path) -> None:
    with (tmp_path / "c.yaml").open("wb") as stream:
        stream.truncate(40 * 1024 * 1024)
    (problem,) = read_file(tmp_path, "c.yaml").problems
    assert problem.startswith("c.yaml: is larger than 32 MiB; keep large data in a `.jsonl` or `.csv` file")


@given(st.binary(max_size=60), st.sampled_from(["json", "yaml"]))
def test_any_bytes_are_cases_or_located_problems(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, extension: str
) -> None:
    source: FileSource = opened(tmp_path_factory.getbasetemp(), f"fuzz.{extension}", data)
    for row in source:
        assert not isinstance(row, Problem) or isinstance(row.location, Location)
