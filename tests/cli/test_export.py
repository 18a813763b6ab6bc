from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from support.suites_on_disk import SUITE, write_suite


@pytest.fixture
def ran(evenhand):
    """The command line after a run of the suite with failures."""
    write_suite(SUITE)
    assert evenhand("run").code == 1
    return evenhand


def document(evenhand) -> dict:
    return json.loads(evenhand("view", "--format", "json").out)


@pytest.mark.parametrize("name", ["run.json.gz", "run.json"])
def test_a_run_that_was_exported_is_the_same_where_it_is_taken_in(ran, name, tmp_path, monkeypatch) -> None:
    before = document(ran)
    assert ran("export", "--out", name).err == f"wrote {name}\n"
    monkeypatch.setenv("EVENHAND_HOME", str(tmp_path / "elsewhere"))
    assert ran("import-run", name).code == 0
    assert document(ran) == before


def test_a_run_is_exported_under_its_own_name(ran) -> None:
    run_id = document(ran)["run_id"]
    assert ran("export").code == 0
    assert json.loads(gzip.decompress(Path(f"{run_id}.json.gz").read_bytes()))["run_id"] == run_id


def test_a_stored_run_is_replaced_only_if_that_is_asked_for(ran) -> None:
    ran("export", "--out", "run.json.gz")
    done = ran("import-run", "run.json.gz")
    assert done.code == 2
    assert "is stored already; take its place with `--replace`" in done.err
    assert ran("import-run", "run.json.gz", "--replace").code == 0
    assert len(json.loads(ran("runs", "list", "--json").out)) == 1


NEWER = b'{\n "schema_version": 99,\n "run_id": "x",\n "cases": [],\n "summary": {}\n}'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b"", "no whole run document", id="empty"),
        pytest.param(b"no document", "no whole run document", id="text"),
        pytest.param(b"\x1f\x8b broken", "cannot be read", id="damaged"),
        pytest.param(gzip.compress(NEWER), "newer evenhand", id="newer"),
    ],
)
def test_a_file_that_holds_no_run_is_refused(evenhand, content: bytes, message: str) -> None:
    Path("file").write_bytes(content)
    done = evenhand("import-run", "file")
    assert done.code == 2
    assert message in done.err


def test_half_a_file_is_refused(ran) -> None:
    ran("export", "--out", "run.json.gz")
    whole = Path("run.json.gz").read_bytes()
    Path("half.json.gz").write_bytes(whole[: len(whole) // 2])
    done = ran("import-run", "half.json.gz", "--replace")
    assert done.code == 2
    assert "cannot be read" in done.err or "no whole run document" in done.err
    assert len(json.loads(ran("runs", "list", "--json").out)) == 1
