from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from evenhand.cli.init import KINDS


def process(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own, as a person calls it in that folder."""
    return subprocess.run(
        [sys.executable, "-m", "evenhand", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=180,
        env={**os.environ, "EVENHAND_HOME": str(folder / "state")},
        check=False,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_what_init_writes_is_strictly_valid_and_runs_green_at_once(kind: str, tmp_path: Path) -> None:
    made = process(tmp_path, "init", "evals", "--kind", kind)
    assert (made.returncode, made.stderr) == (0, "")
    assert [line for line in made.stdout.splitlines() if line.startswith("wrote ")] == [
        f"wrote {Path('evals', name)}" for name in KINDS[kind].files
    ]
    assert "next: `evenhand run evals`\n" in made.stdout
    checked = process(tmp_path, "validate", "--strict", "evals")
    assert (checked.returncode, checked.stderr) == (0, "")
    ran = process(tmp_path, "run", "evals", "--no-progress")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "2 passed" in ran.stdout


def test_a_change_for_the_worse_turns_what_init_wrote_red(tmp_path: Path) -> None:
    assert process(tmp_path, "init").returncode == 0
    app = tmp_path / "app.py"
    app.write_text(app.read_text(encoding="utf-8").replace("Paris", "Lyon"), encoding="utf-8")
    assert process(tmp_path, "run").returncode == 1


@pytest.mark.parametrize("name", ["evenhand.yaml", "app.py", "domarinn.yaml"])
def test_nothing_is_overwritten_and_nothing_written_beside_it(evenhand, name: str) -> None:
    Path(name).write_text("mine", encoding="utf-8")
    done = evenhand("init")
    assert (done.code, done.out) == (2, "")
    assert f"nothing is overwritten, and there is already {name}" in done.err
    assert [path.name for path in Path().iterdir()] == [name]
    assert Path(name).read_text(encoding="utf-8") == "mine"


def test_a_link_that_leads_nowhere_is_not_written_through(evenhand, tmp_path: Path) -> None:
    Path("app.py").symlink_to(tmp_path / "elsewhere.py")
    assert evenhand("init").code == 2
    assert not (tmp_path / "elsewhere.py").exists()


def test_a_file_in_the_place_of_the_folder_is_a_clear_error(evenhand) -> None:
    Path("taken").write_text("", encoding="utf-8")
    done = evenhand("init", "taken/inner")
    assert done.code == 2
    assert "the suite cannot be written: not a directory" in done.err


def test_an_unknown_kind_is_refused_with_those_there_are(evenhand) -> None:
    done = evenhand("init", "--kind", "pyton")
    assert done.code == 2
    assert "'python', 'program', 'http', 'model', 'echo'" in done.err
