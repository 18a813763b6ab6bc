from __future__ import annotations

import os
import stat
import sys
import tomllib
from pathlib import Path

import pytest

from evenhand.cli import doctor
from evenhand.version import __version__
from support.suites_on_disk import PASSING, write_suite


def test_versions_keys_and_state_are_told(evenhand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    monkeypatch.setenv("ACME_API_KEY", "also-secret")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    done = evenhand("doctor")
    topics = {line[2:].split("  ")[0].strip(): line for line in done.out.splitlines()}
    assert done.code == 0
    assert __version__ in topics["evenhand"]
    assert sys.executable in topics["Python"]
    assert {"SQLite", "click", "msgspec", "rich", "Node.js", "state folder"} <= set(topics)
    assert topics["OPENAI_API_KEY"].endswith(" set")
    assert topics["ACME_API_KEY"].endswith(" set")
    assert topics["ANTHROPIC_API_KEY"].endswith("not set")
    assert "secret" not in done.out + done.err


def test_a_fresh_state_folder_is_not_made_by_looking(evenhand, tmp_path: Path) -> None:
    done = evenhand("doctor")
    assert f"{tmp_path / 'state'}: will be made by the first run" in done.out
    assert not (tmp_path / "state").exists()


def test_stored_runs_are_counted(evenhand) -> None:
    write_suite(PASSING)
    evenhand("run")
    done = evenhand("doctor")
    assert "1 run in " in done.out
    assert ": writable" in done.out


def test_a_state_folder_that_cannot_be_written_exits_3_and_says_how_to_mend_it(
    evenhand, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("EVENHAND_HOME", str(tmp_path / "file" / "state"))
    done = evenhand("doctor")
    assert done.code == 3
    assert f"{tmp_path / 'file'} is not a folder" in done.out
    assert "to mend it: make it writable, or name another folder in EVENHAND_HOME" in done.out


def test_a_store_that_is_none_exits_3(evenhand) -> None:
    write_suite(PASSING)
    evenhand("run")
    for path in Path(os.environ["EVENHAND_HOME"]).iterdir():
        path.write_bytes(b"this is no database " * 1_000)
    done = evenhand("doctor")
    assert done.code == 3
    assert "move the file away" in done.out
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("script", "found", "mended"),
    [
        ("echo v22.3.0", "22.3.0 at ", True),
        ("echo v18.1.0", "18.1.0 at ", False),
        ("echo nonsense", "does not tell its version", False),
        ("exit 1", "does not tell its version", False),
    ],
)
def test_node_is_looked_at(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str, found: str, mended: bool
) -> None:
    program = tmp_path / "node"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path))
    check = doctor.node()
    assert found in check.found
    assert (check.remedy == "") is mended
    assert not check.broken


def test_a_missing_node_is_told_with_its_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    check = doctor.node()
    assert check.found == "not found on PATH"
    assert "install Node.js 20 or newer" in check.remedy


def test_a_missing_library_is_broken_with_the_command_that_mends_it() -> None:
    check = doctor._library("evenhand-no-such-library")
    assert check.broken
    assert check.remedy == f"{sys.executable} -m pip install evenhand-no-such-library"


def test_extras_are_told_with_the_command_that_installs_them() -> None:
    lines = [
        "click>=8.2",
        'evenhand-no-such-library>=1; python_version >= "3.11" and extra == "parquet"',
        "msgspec>=0.21; extra == 'parquet'",
        "rich>=14 ; extra=='pretty'",
        "   ",
    ]
    parquet, pretty = doctor.extras(lines)
    assert parquet == (
        "extra parquet",
        "not installed (evenhand-no-such-library)",
        f"{sys.executable} -m pip install 'evenhand[parquet]'",
        False,
    )
    assert (pretty.topic, pretty.found, pretty.remedy) == ("extra pretty", "installed", "")


def test_every_library_that_a_run_needs_is_declared() -> None:
    required = {name.lower() for name, extra in doctor.requirements(doctor.declared()) if not extra}
    assert required >= {"click", "jsonschema-rs", "minijinja", "msgspec", "pyyaml"}


def test_a_package_without_metadata_needs_what_the_project_declares() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    declared = {name for name, _ in doctor.requirements(project["project"]["dependencies"])}
    assert set(doctor.NEEDED) == declared
