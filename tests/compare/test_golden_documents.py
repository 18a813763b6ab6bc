"""Documents that earlier versions wrote are read for ever: each kind of them, as it was committed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import jsonschema_rs
import msgspec
import pytest

from evenhand.compare.pins import pinned
from evenhand.compare.references import resolve
from evenhand.compare.run_file import read_run_file
from evenhand.errors import UsageError
from evenhand.model.result import RunDocument
from evenhand.store.store import open_store
from evenhand.store.verdicts import read_verdicts
from support.golden_documents import CURRENT, FOLDER, RUN_ID, SUITE, facts, write

VERSIONS = sorted(folder.name for folder in FOLDER.iterdir())


@pytest.fixture(params=VERSIONS)
def committed(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The documents of one version, where a reader may change them."""
    return Path(shutil.copytree(FOLDER / request.param, tmp_path / "documents"))


def expected(folder: Path) -> object:
    return json.loads((folder / "facts.json").read_text())


@pytest.mark.parametrize("name", ["run.json", "run.json.gz"])
def test_a_run_document_is_read(committed: Path, name: str) -> None:
    run, store = read_run_file(committed / name)
    assert run.run_id == RUN_ID
    with store:
        assert facts(store) == expected(committed)


def test_a_run_document_in_another_layout_is_read(committed: Path) -> None:
    path = committed / "compact.json"
    path.write_text(json.dumps(json.loads((committed / "run.json").read_text())))
    with read_run_file(path)[1] as store:
        assert facts(store) == expected(committed)


def test_a_run_store_is_opened_and_written_on(committed: Path) -> None:
    with open_store(committed / "runs.sqlite") as store:
        assert facts(store) == expected(committed)
        run = store.find(RUN_ID)
        again = msgspec.structs.replace(run, run_id="01J0000000000000000000NEW1")
        writer = store.begin(again)
        for case in store.results(RUN_ID):
            writer.add(case)
        writer.finish(again)
        assert len(list(store.results(again.run_id))) == len(list(store.results(RUN_ID)))


def test_the_baseline_that_somebody_named_is_still_it(committed: Path) -> None:
    reference = pinned(committed, SUITE)
    assert reference == RUN_ID
    with open_store(committed / "runs.sqlite") as store:
        assert [run.run_id for run in resolve(reference, store).runs] == [RUN_ID]


def test_a_baseline_in_a_file_holds_what_the_store_does(committed: Path) -> None:
    with open_store(committed / "runs.sqlite") as stored, read_run_file(committed / "run.json")[1] as filed:
        assert list(stored.results(RUN_ID)) == list(filed.results(RUN_ID))


def test_what_people_found_is_read(committed: Path) -> None:
    (verdict,) = read_verdicts(committed)
    assert (verdict.label, verdict.score, verdict.comment) == ("pass", 0.25, "the comment ✓")


def test_nothing_of_a_document_of_this_version_is_lost() -> None:
    text = (FOLDER / CURRENT / "run.json").read_text()
    assert json.loads(msgspec.json.encode(msgspec.json.decode(text, type=RunDocument))) == json.loads(text)


def test_a_document_of_this_version_matches_the_schema_that_is_printed() -> None:
    document = json.loads((FOLDER / CURRENT / "run.json").read_text())
    jsonschema_rs.validator_for(msgspec.json.schema(RunDocument)).validate(document)


def test_a_new_version_of_documents_comes_with_golden_files() -> None:
    hint = "write the files of the new version: cd tests && python -m support.golden_documents"
    assert CURRENT in VERSIONS, hint


def test_documents_that_were_committed_are_never_written_again() -> None:
    with pytest.raises(FileExistsError):
        write(FOLDER / CURRENT)


def test_documents_are_written_as_they_were_committed(tmp_path: Path) -> None:
    """As far as they go: a field that came since is in the new ones alone."""
    write(tmp_path / "new")
    old, new = (json.loads((f / "run.json").read_text()) for f in (FOLDER / CURRENT, tmp_path / "new"))
    assert old.keys() <= new.keys()
    assert [case["cell"]["test_id"] for case in new["cases"]] == [c["cell"]["test_id"] for c in old["cases"]]
    assert all(o.keys() <= n.keys() for o, n in zip(old["cases"], new["cases"], strict=True))


def test_a_document_of_a_newer_version_is_refused_by_name(tmp_path: Path) -> None:
    document = json.loads((FOLDER / CURRENT / "run.json").read_text())
    path = tmp_path / "newer.json"
    path.write_text(json.dumps({**document, "schema_version": document["schema_version"] + 1}))
    with pytest.raises(UsageError, match="upgrade"):
        read_run_file(path)
