"""References to files of tests, and the ids of the cases in them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from evenhand.config.raw_case import RawCase
from evenhand.config.sandbox import Sandbox
from evenhand.config.sources import FileSource, open_sources, settle_ids
from evenhand.errors import SuiteError
from support.case_files import write_files

ONE = {
    "yaml": "- {vars: {q: x}}",
    "yml": "tests: [{vars: {q: x}}]",
    "json": '[{"vars": {"q": "x"}}]',
    "jsonl": '{"vars": {"q": "x"}}',
    "ndjson": '{"vars": {"q": "x"}}',
    "csv": "q\nx",
    "tsv": "q\nx",
}


def refused(folder: Path, reference: str) -> str:
    with pytest.raises(SuiteError) as caught:
        open_sources(reference, sandbox=Sandbox(folder))
    return str(caught.value)


def ids(sources: list[FileSource]) -> list[str]:
    return [row.auto_id for source in sources for row in source if isinstance(row, RawCase)]


@pytest.mark.parametrize("extension", [*ONE, "YAML", "JsonL"])
def test_extension_in_any_case_decides_the_format(tmp_path: Path, extension: str) -> None:
    write_files(tmp_path, {f"c.{extension}": ONE[extension.lower()]})
    (source,) = open_sources(f"file://c.{extension}", sandbox=Sandbox(tmp_path))
    (case,) = source
    assert isinstance(case, RawCase)
    assert case.document == {"vars": {"q": "x"}}
    assert case.auto_id == "c/0"
    assert case.is_data == (extension.lower() not in ("yaml", "yml"))


@pytest.mark.parametrize("extension", ONE)
def test_template_option_makes_every_value_a_template(tmp_path: Path, extension: str) -> None:
    write_files(tmp_path, {f"c.{extension}": ONE[extension]})
    (source,) = open_sources(f"file://c.{extension}", sandbox=Sandbox(tmp_path), template=True)
    assert [case.is_data for case in source if isinstance(case, RawCase)] == [False]


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("c.yaml", "a source of tests must be a file:// reference, found 'c.yaml'; write `file://c.yaml`"),
        ("file://c.txt", "unsupported test file extension '.txt'; use one of .yaml, .yml, .json"),
        ("file://c", "unsupported test file extension ''"),
        ("file://none/*.yaml", "'none/*.yaml' matched no files"),
        ("file://../c.yaml", "refuses to read outside the suite's folder"),
    ],
)
def test_other_references_are_refused(tmp_path: Path, reference: str, message: str) -> None:
    write_files(tmp_path, {"c.txt": "x", "c": "x", "c.yaml": "[]"})
    assert message in refused(tmp_path, reference)


def test_every_file_of_a_pattern_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    write_files(tmp_path, {"t/a.txt": "", "t/b.md": "", "t/c.csv": "q"})
    assert len(refused(tmp_path, "file://t/*").splitlines()) == 2


def test_ids_count_from_the_stem_in_the_order_of_paths(tmp_path: Path) -> None:
    write_files(tmp_path, {"t/b.yaml": "[{}, {}]", "t/a.tests.yaml": "[{}]"})
    assert ids(open_sources("file://t/*.yaml", sandbox=Sandbox(tmp_path))) == ["a.tests/0", "b/0", "b/1"]


def test_stems_that_collide_give_way_to_paths(tmp_path: Path) -> None:
    write_files(tmp_path, {"a/x.yaml": "[{}]", "b/x.yaml": "[{}]", "b/y.yaml": "[{}]"})
    found = ids(open_sources("file://**/*.yaml", sandbox=Sandbox(tmp_path)))
    assert found == ["a/x.yaml/0", "b/x.yaml/0", "y/0"]


def test_stems_that_collide_across_references_give_way_too(tmp_path: Path) -> None:
    write_files(tmp_path, {"x.yaml": "[{}]", "x.csv": "q\n1\n"})
    sandbox = Sandbox(tmp_path)
    sources = [
        *open_sources("file://x.yaml", sandbox=sandbox),
        *open_sources("file://x.csv", sandbox=sandbox),
    ]
    settle_ids(sources)
    assert ids(sources) == ["x.yaml/0", "x.csv/0"]


def test_file_named_twice_keeps_its_ids_so_that_they_are_found_to_be_duplicates(tmp_path: Path) -> None:
    write_files(tmp_path, {"x.yaml": "[{}]"})
    sandbox = Sandbox(tmp_path)
    sources = open_sources("file://x.yaml", sandbox=sandbox) + open_sources("file://x.yaml", sandbox=sandbox)
    settle_ids(sources)
    assert ids(sources) == ["x/0", "x/0"]


def test_missing_extra_names_the_command_that_installs_it(tmp_path: Path) -> None:
    write_files(tmp_path, {"c.parquet": "PAR1"})
    script = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from pathlib import Path\n"
        "from evenhand.config.sandbox import Sandbox\n"
        "from evenhand.config.sources import open_sources\n"
        "open_sources('file://c.parquet', sandbox=Sandbox(Path(sys.argv[1])))\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    message = (
        "reading Parquet files needs pyarrow; install it with `python -m pip install 'evenhand[parquet]'`"
    )
    assert message in run.stderr
