"""Run documents in files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evenhand.compare.run_file import read_run_file
from evenhand.errors import UsageError
from evenhand.model.result import RESULT_SCHEMA_VERSION, CaseStatus
from evenhand.report.json import render
from evenhand.store.store import open_store
from support.stored_results import a_result, a_run, finished

RESULTS = [a_result(0, output="one\n]\u2028"), a_result(1, status=CaseStatus.FAIL), a_result(2)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "run.json"
    with path.open("w", encoding="utf-8") as out:
        render(finished(a_run()), lambda *, statuses=None: iter(RESULTS), out)
    return path


def test_a_document_is_read_as_it_was_written(file: Path) -> None:
    run, store = read_run_file(file)
    assert run == finished(a_run())
    assert list(store.results(run.run_id)) == RESULTS


@pytest.mark.parametrize("layout", [None, 4])
@pytest.mark.parametrize("run_id", ["../../escaped", "/tmp/escaped", "a\x1b[2J", "", ".hidden", "a" * 65])
def test_id_that_would_lead_a_file_elsewhere_is_refused(file: Path, run_id: str, layout: int | None) -> None:
    text = file.read_text(encoding="utf-8")
    own = json.loads(text)["run_id"]
    text = text.replace(json.dumps(own), json.dumps(run_id), 1)
    file.write_text(text if layout is None else json.dumps(json.loads(text), indent=layout), encoding="utf-8")
    with pytest.raises(UsageError, match="no id of a run"):
        read_run_file(file)


def test_a_document_may_be_laid_out_in_any_way(file: Path) -> None:
    document = json.loads(file.read_text(encoding="utf-8"))
    for layout in (json.dumps(document), json.dumps(document, indent=4), json.dumps(document, indent=1)):
        file.write_text(layout, encoding="utf-8")
        run, store = read_run_file(file)
        assert [case.status for case in store.results(run.run_id)] == ["pass", "fail", "pass"]


def test_a_document_without_cases_is_read(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    with path.open("w", encoding="utf-8") as out:
        render(finished(a_run()), lambda *, statuses=None: iter(()), out)
    run, store = read_run_file(path)
    assert list(store.results(run.run_id)) == []


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
def test_a_half_written_document_is_refused(file: Path, share: float) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(UsageError, match="no whole run document"):
        read_run_file(file)


def test_a_document_of_a_newer_version_is_refused_by_name(file: Path) -> None:
    newer = file.read_text(encoding="utf-8").replace(
        f'"schema_version": {RESULT_SCHEMA_VERSION}', f'"schema_version": {RESULT_SCHEMA_VERSION + 1}'
    )
    for layout in (newer, json.dumps(json.loads(newer))):
        file.write_text(layout, encoding="utf-8")
        with pytest.raises(UsageError, match=r"written by a newer evenhand.*upgrade with"):
            read_run_file(file)


@pytest.mark.parametrize(
    "content", ["", "[]", "null", '{"schema_version": "x"}', "{\n", "[" * 100_000, "\x00\xff"]
)
def test_anything_else_is_refused(file: Path, content: str) -> None:
    file.write_text(content, encoding="latin-1")
    with pytest.raises(UsageError, match="no whole run document"):
        read_run_file(file)


def test_a_wrong_case_key_is_refused(file: Path) -> None:
    file.write_text(file.read_text(encoding="utf-8").replace(RESULTS[0].case_key, "x" * 16), encoding="utf-8")
    with pytest.raises(UsageError, match="a case key"):
        read_run_file(file)


def test_a_folder_and_a_missing_file_say_so(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.json"):
        with pytest.raises(UsageError, match="cannot be read"):
            read_run_file(path)


def test_a_store_of_its_own_holds_the_run(file: Path) -> None:
    run, store = read_run_file(file)
    assert store.path is None
    assert next(open_store(None).runs(), None) is None
    assert run.run_id == next(store.runs()).run_id
