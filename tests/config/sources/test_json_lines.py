"""JSONL files: streamed, every line located, nothing but problems from bad ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.config.raw_case import RawCase
from evenhand.config.sources import json_lines
from evenhand.config.sources.source import MAX_PROBLEMS
from evenhand.errors import Location, Problem
from support.case_files import opened, read_file, read_source
from support.json_values import TEXT, json_values


def test_one_object_per_line_is_a_case(tmp_path: Path) -> None:
    read = read_file(tmp_path, "c.jsonl", '{"id": "a", "vars": {"q": 1}}\n\n  \r\n{"tags": ["x"]}')
    assert read.documents == [{"id": "a", "vars": {"q": 1}}, {"tags": ["x"]}]
    assert read.ids == ["a", "c/1"]
    assert not read.problems
    assert not read.warnings


@pytest.mark.parametrize("text", ['\ufeff{"id": "a"}\n{"id": "b"}\n', '{"id": "a"}\r\n{"id": "b"}\r\n'])
def test_byte_order_mark_and_crlf_are_fine(tmp_path: Path, text: str) -> None:
    read = read_file(tmp_path, "c.jsonl", text)
    assert read.ids == ["a", "b"]
    assert [case.origin.locate(("id",)) for case in read.cases] == [
        Location(str(tmp_path / "c.jsonl"), 1, 8),
        Location(str(tmp_path / "c.jsonl"), 2, 8),
    ]


def test_bad_lines_are_problems_and_reading_goes_on(tmp_path: Path) -> None:
    lines = [
        b'{"id": "a"}',
        b'{"id": }',
        b'{"id": "\xff"}',
        b"[1]",
        b'{"x": 1, "x": 2}',
        b'{"a": NaN}',
        b'{"id": "z"}',
    ]
    read = read_file(tmp_path, "c.jsonl", b"\n".join(lines))
    assert read.ids == ["a", "z"]
    assert read.cases[-1].auto_id == "c/6"
    assert read.problems == [
        "c.jsonl:2:8: not valid JSON: a value was expected",
        "c.jsonl:3:9: the text is not UTF-8, found byte 0xff; save it as UTF-8",
        "c.jsonl:4:1: a line must hold an object with the keys of a test, found a list",
        "c.jsonl:5:10: x: key 'x' is given twice; keep one of them",
        "c.jsonl:6:7: a: not valid JSON: `NaN` is no JSON value; write null, or a text",
    ]


def test_problems_are_bounded(tmp_path: Path) -> None:
    read = read_file(tmp_path, "c.jsonl", "nope\n" * 1000)
    assert len(read.problems) == MAX_PROBLEMS + 1
    assert read.problems[-1] == f"c.jsonl: reading stops after {MAX_PROBLEMS} problems"


def test_line_that_is_too_long_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "MAX_LINE_BYTES", 100)
    long = json.dumps({"id": "x" * 1000})
    read = read_file(tmp_path, "c.jsonl", f'{{"id": "a"}}\n{long}\n{{"id": "b"}}\n')
    assert read.ids == ["a", "b"]
    assert len(read.problems) == 1
    assert read.problems[0].startswith("c.jsonl:2:1: the line is longer than")
    assert read.cases[1].origin.locate(("id",)) == Location(str(tmp_path / "c.jsonl"), 3, 8)


def test_places_inside_a_line_are_found_when_asked_for(tmp_path: Path) -> None:
    read = read_file(tmp_path, "c.jsonl", '{"id": "é"}\n {"vars": {"é": "ü", "q": [1, {"x": 2}]}}\n')
    locate = read.cases[1].origin.locate
    file = str(tmp_path / "c.jsonl")
    assert locate(()) == Location(file, 2, 1)
    assert locate(("vars", "q", 1, "x")) == Location(file, 2, 37)
    assert locate(("vars", "nope")) == Location(file, 2, 11)
    (tmp_path / "c.jsonl").unlink()
    assert locate(("vars",)) == Location(file, 2)


def test_source_is_read_again_from_its_start(tmp_path: Path) -> None:
    source = opened(tmp_path, "c.jsonl", '{"id": "a"}\n{"id": "b"}\n')
    first = next(iter(source))
    assert isinstance(first, RawCase)
    assert first.document == {"id": "a"}
    assert read_source(source).ids == read_source(source).ids == ["a", "b"]


def test_file_that_went_away_is_a_problem(tmp_path: Path) -> None:
    source = opened(tmp_path, "c.jsonl", "")
    (tmp_path / "c.jsonl").unlink()
    assert read_source(source).problems == ["c.jsonl: cannot be read: no such file or directory"]


def test_file_without_cases_draws_a_warning(tmp_path: Path) -> None:
    assert read_file(tmp_path, "c.jsonl", "\n\n").warnings == [
        "c.jsonl: holds no cases; write one JSON object per line"
    ]


def test_value_that_looks_like_a_template_draws_one_warning(tmp_path: Path) -> None:
    row = '{"vars": {"a": "x", "b": ["{{ q }}"]}, "assert": [{"value": "{{ q }}"}]}\n'
    plain = '{"vars": {"a": "CSS {#id"}, "assert": [{"value": "{{ q }}"}]}\n'
    assert read_file(tmp_path, "c.jsonl", plain + row + row).warnings == [
        (
            "c.jsonl:2: vars.b[0]: looks like a template, found '{{ q }}', but values of data files "
            "are sent as they are; set `template: true` on the source if its values are templates"
        )
    ]
    assert read_file(tmp_path, "c.jsonl", template=True).warnings == []


@given(
    st.lists(st.dictionaries(TEXT, json_values(), max_size=3), max_size=5),
    st.booleans(),
    st.sampled_from(["\n", "\r\n"]),
)
def test_objects_written_by_another_writer_are_read_back(
    tmp_path_factory: pytest.TempPathFactory, objects: list[dict[str, object]], ascii_only: bool, end: str
) -> None:
    folder = tmp_path_factory.getbasetemp()
    text = "".join(json.dumps(item, ensure_ascii=ascii_only) + end for item in objects)
    read = read_file(folder, "law.jsonl", text)
    assert read.documents == objects
    assert not read.problems


@given(
    st.lists(
        st.binary(max_size=30) | st.sampled_from([b'{"id": "a"}', b"\xef\xbb\xbf", b'{"vars": {}}', b"{}"]),
        max_size=8,
    )
)
def test_any_bytes_are_cases_or_located_problems(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    source = opened(tmp_path_factory.getbasetemp(), "fuzz.jsonl", b"\n".join(lines))
    for row in source:
        if isinstance(row, Problem):
            assert row.location is not None
            assert row.location.line or "UTF-16" in row.message
        else:
            assert isinstance(row.document, dict)
