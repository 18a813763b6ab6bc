"""CSV and TSV: every cell as it was written, every row in its place."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.config.sources import delimited
from evenhand.config.sources.source import MAX_PROBLEMS
from evenhand.errors import Location, Problem
from support.case_files import opened, read_file, read_source

CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)


def test_rows_become_cases_with_ids_and_lines(tmp_path: Path) -> None:
    read = read_file(tmp_path, "c.csv", 'id,q\na,x\n,"two\nlines"\n\nc,z\n')
    assert read.documents == [
        {"id": "a", "vars": {"q": "x"}},
        {"id": "", "vars": {"q": "two\nlines"}},
        {"id": "c", "vars": {"q": "z"}},
    ]
    assert [case.auto_id for case in read.cases] == ["c/0", "c/1", "c/2"]
    assert [case.origin.locate(("vars", "q")) for case in read.cases] == [
        Location(str(tmp_path / "c.csv"), line) for line in (2, 3, 6)
    ]
    assert not read.problems
    assert not read.warnings


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("c.csv", "\ufeffa,b\r\n1,2\r\n"),
        ("c.csv", "a;b\n1;2"),
        ("c.csv", "a\tb\n1\t2\n"),
        ("c.csv", '"a";"b"\n"1";2\n'),
        ("c.csv", "\n\na,b\n1,2\n"),
        ("c.tsv", "a\tb\n1\t2\n"),
    ],
)
def test_marks_line_ends_and_delimiters_are_recognised(tmp_path: Path, name: str, content: str) -> None:
    read = read_file(tmp_path, name, content)
    assert read.vars == [{"a": "1", "b": "2"}]
    assert not read.problems


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('"a, b";c\nx;y\n', {"a, b": "x", "c": "y"}),
        ('"a;b;c",d\nx,y\n', {"a;b;c": "x", "d": "y"}),
        ('"a\n;",b\nx,y\n', {"a\n;": "x", "b": "y"}),
        ("only\nx;y,z\n", {"only": "x;y,z"}),
        ("a;b\n1,5;2\n", {"a": "1,5", "b": "2"}),
    ],
)
def test_delimiter_is_the_one_outside_quotes_in_the_header(
    tmp_path: Path, content: str, expected: dict[str, str]
) -> None:
    read = read_file(tmp_path, "c.csv", content)
    if "only" in expected:
        assert read.problems
    else:
        assert read.vars == [expected]


def test_tsv_has_tabs_whatever_its_header_looks_like(tmp_path: Path) -> None:
    read = read_file(tmp_path, "c.tsv", "a,b\nx,y\n")
    assert read.vars == [{"a,b": "x,y"}]
    (warning,) = read.warnings
    assert warning.startswith("c.tsv:1: no tab divides its header, so that it has one column, 'a,b'; divide")


def test_tsv_may_have_one_column(tmp_path: Path) -> None:
    assert not read_file(tmp_path, "c.tsv", "question\nx,y\n").warnings


@pytest.mark.parametrize("cell", ["007", "1e5", "1.10", "TRUE", "2024-01-05", "nan", " x ", "=1+1", "null"])
def test_cells_stay_text(tmp_path: Path, cell: str) -> None:
    assert read_file(tmp_path, "c.csv", f"a,b\n{cell},\n").vars == [{"a": cell, "b": ""}]


def test_ragged_rows_are_problems_with_their_row(tmp_path: Path) -> None:
    read = read_file(tmp_path, "c.csv", 'a,b\n1\n"x\ny",2\n1,2,3\n')
    assert read.vars == [{"a": "x\ny", "b": "2"}]
    assert read.problems == [
        (
            "c.csv:2: row 2: 1 cell where the header has 2 columns; column `b` and what follows is missing; cells are "
            "divided by `,`"
        ),
        "c.csv:5: row 4: 3 cells where the header has 2 columns; '3' is one too many; quote cells that hold `,`",
    ]


def test_bad_cells_are_problems_with_row_and_column(tmp_path: Path) -> None:
    content = "id,threshold,n:int\na,0.5,1\nb,high,x\nc,,2\n"
    read = read_file(tmp_path, "c.csv", content)
    assert read.ids == ["a", "c"]
    assert read.cases[1].document == {"id": "c", "vars": {"n": 2}}
    assert read.problems == [
        "c.csv:3: row 3, column `n:int`: not an integer, found 'x'; write digits only, or leave out the type `int`",
        "c.csv:3: row 3, column `threshold`: not a number, found 'high'",
    ]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "c.csv: has no header row; name the columns in the first row"),
        ("\n \n".replace(" ", ""), "c.csv: has no header row; name the columns in the first row"),
        ("a,a\n1,2\n", "c.csv:1: row 1: columns 1 and 2 are both called 'a'; rename one of them"),
        ("a,\n1,2\n", "c.csv:1: row 1: column 2 has no name; name it, or delete the column"),
        (
            "q,__expected\nx,y\n",
            "c.csv:1: row 1: column `__expected` belongs to promptfoo's tables of tests; ",
        ),
        (b"\xff\xfea\0", "c.csv: the file is UTF-16; save it as UTF-8"),
        (b"a,\xe9\n", "c.csv:1:3: the file is not UTF-8, found byte 0xe9; save it as UTF-8"),
        ("a,b\0\n", "c.csv:1:4: found a NUL character; save the file as UTF-8 text"),
    ],
)
def test_header_that_cannot_be_used_is_the_only_problem(
    tmp_path: Path, content: str | bytes, problem: str
) -> None:
    read = read_file(tmp_path, "c.csv", content)
    assert not read.cases
    assert len(read.problems) == 1
    assert read.problems[0].startswith(problem)


def test_bad_lines_are_problems_and_reading_goes_on(tmp_path: Path) -> None:
    lines = [b"a,b", b"1,2", b'"x"y,2', b"\xc3\xa9\xff,2", b"3,4", b'5,"open', b"6,7"]
    read = read_file(tmp_path, "c.csv", b"\n".join(lines))
    assert read.vars == [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]
    assert read.cases[1].auto_id == "c/3"
    assert read.problems == [
        'c.csv:3: row 3: text stands after a closing quote; double the quotes inside a quoted cell: `""`',
        "c.csv:4:2: the file is not UTF-8, found byte 0xff; save it as UTF-8",
        "c.csv:6: row 6: a quote is opened and never closed; close it, or double quotes inside quotes",
    ]


def test_bare_carriage_returns_are_named(tmp_path: Path) -> None:
    read = read_file(tmp_path, "c.csv", "a,b\r1,2\r")
    assert read.problems == [
        "c.csv:1: row 1: a bare carriage return ends a line; save the file with LF or CRLF line ends"
    ]


def test_row_without_an_end_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "MAX_ROW_BYTES", 1000)
    for hostile in ('x,"' + "y" * 2000, 'x,"' + '","\n' * 500, "," * 2000):
        read = read_file(tmp_path, "c.csv", f"a,b\n1,2\n{hostile}")
        assert read.vars == [{"a": "1", "b": "2"}]
        assert "the row that ends here is longer than" in read.problems[-1]


def test_cells_above_the_csv_modules_own_limit_are_read(tmp_path: Path) -> None:
    large = "x" * 1_000_000
    assert read_file(tmp_path, "c.csv", f"a,b\n{large},2\n").vars == [{"a": large, "b": "2"}]


def test_problems_are_bounded(tmp_path: Path) -> None:
    read = read_file(tmp_path, "c.csv", "a,b\n" + "1\n" * 1000)
    assert len(read.problems) == MAX_PROBLEMS + 1


def test_marks_in_cells_become_objects(tmp_path: Path) -> None:
    content = 'a,b\n"{""$raw"": ""{{x}}""}","{""$file"": ""d.txt""}"\n'
    assert read_file(tmp_path, "c.csv", content).vars == [{"a": {"$raw": "{{x}}"}, "b": {"$file": "d.txt"}}]


def test_values_that_look_like_templates_draw_one_warning(tmp_path: Path) -> None:
    content = "a\nx {#id\n{{ q }}\n{% if %}\n"
    (warning,) = read_file(tmp_path, "c.csv", content).warnings
    assert warning.startswith("c.csv:3: vars.a: looks like a template, found '{{ q }}'")
    assert not read_file(tmp_path, "c.csv", template=True).warnings


def test_suspicious_columns_and_empty_tables_draw_warnings(tmp_path: Path) -> None:
    read = read_file(tmp_path, "c.csv", "q,_expected\n")
    assert [warning.split(": ")[1] for warning in read.warnings] == [
        (
            "column `_expected` is a var and asserts nothing; did you mean __expected? That column belongs to "
            "promptfoo's tables; write assertions as a JSON list in a column `__assert`"
        ),
        "holds no cases; write one case per row below the header",
    ]


def test_source_is_read_again_from_its_start(tmp_path: Path) -> None:
    source = opened(tmp_path, "c.csv", "id\na\nb\n")
    next(iter(source))
    assert read_source(source).ids == read_source(source).ids == ["a", "b"]


@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), max_size=6)
    ),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.booleans(),
)
def test_table_written_by_the_csv_module_is_read_back(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[list[str]],
    delimiter: str,
    end: str,
    quoting: int,
    mark: bool,
) -> None:
    names = [f"column{index}" for index in range(len(rows[0]) if rows else 1)]
    if end == "\n" and any("\r" in cell for row in rows for cell in row):
        quoting = (
            csv.QUOTE_ALL
        )  # That writer leaves a carriage return bare, as if it were half of a line end.
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator=end, quoting=quoting).writerows([names, *rows])  # type: ignore[call-overload]
    content = ("\ufeff" if mark else "") + text.getvalue()
    extension = "tsv" if delimiter == "\t" else "csv"
    if len(names) == 1 and delimiter == ";":
        return  # With one column nothing tells the delimiter, and a `,` in a cell may stand without quotes.
    read = read_file(tmp_path_factory.getbasetemp(), f"law.{extension}", content)
    assert not read.problems
    assert read.vars == [dict(zip(names, row, strict=True)) for row in rows]


@given(st.binary(max_size=80), st.sampled_from(["csv", "tsv"]))
def test_any_bytes_are_cases_or_located_problems(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, extension: str
) -> None:
    for row in opened(tmp_path_factory.getbasetemp(), f"fuzz.{extension}", data):
        assert not isinstance(row, Problem) or isinstance(row.location, Location)


@given(
    st.lists(
        st.sampled_from(['"', ",", ";", "\n", "\r", "a", "\0", '""', "é", "{", '{""$raw"":', "__x"]),
        max_size=40,
    )
)
def test_any_table_is_cases_or_located_problems(
    tmp_path_factory: pytest.TempPathFactory, parts: list[str]
) -> None:
    text = "id,q\n" + "".join(parts)
    for row in opened(tmp_path_factory.getbasetemp(), "parts.csv", text):
        if isinstance(row, Problem):
            assert row.location is not None
            assert row.location.line
