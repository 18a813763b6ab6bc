"""Every example runs through the real command line and ends as its row says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
ROWS = [
    json.loads(line) for line in (ROOT / "tests/data/examples.jsonl").read_text(encoding="utf-8").splitlines()
]


def evenhand(folder: Path, *words: str, without: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    """A command of evenhand in an environment without some variables."""
    environ = {name: value for name, value in os.environ.items() if name not in without}
    return subprocess.run(
        [sys.executable, "-m", "evenhand", *words],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=180,
        env={**environ, "EVENHAND_HOME": str(folder / ".evenhand"), "NO_COLOR": "1"},
        check=False,
    )


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["example"])
def test_example_ends_as_its_row_says(row: dict[str, Any], tmp_path: Path) -> None:
    folder = tmp_path / row["example"]
    shutil.copytree(ROOT / "examples" / row["example"], folder)
    report = folder / "run.json"
    without = row.get("without", ())
    words = (
        "run",
        str(folder),
        "--no-progress",
        *row.get("args", ()),
        "--format",
        "json",
        "--out",
        str(report),
    )
    done = evenhand(folder, *words, without=without)
    assert done.returncode == row["exit"], done.stderr
    assert all(f"`{name}` is not set" in done.stderr for name in without)
    assert "Traceback" not in done.stderr
    if "tallies" in row:
        cases = json.loads(report.read_text(encoding="utf-8"))["cases"]
        assert dict(Counter(case["status"] for case in cases)) == row["tallies"]


@pytest.mark.parametrize("row", [row for row in ROWS if "again" in row], ids=lambda row: str(row["example"]))
def test_example_that_runs_again_ends_the_same(row: dict[str, Any], tmp_path: Path) -> None:
    folder = tmp_path / row["example"]
    shutil.copytree(ROOT / "examples" / row["example"], folder)
    report = folder / "run.json"
    words = ("run", str(folder), "--no-progress", "--format", "json", "--out", str(report))
    for args in ((), row["again"]):
        done = evenhand(folder, *words, *args)
        assert done.returncode == row["exit"], done.stderr
    cases = json.loads(report.read_text(encoding="utf-8"))["cases"]
    assert dict(Counter(case["status"] for case in cases)) == row["tallies"]
    assert all(case["cached"] for case in cases)


@pytest.mark.parametrize(
    "row", [row for row in ROWS if "without" in row], ids=lambda row: str(row["example"])
)
def test_example_that_needs_keys_is_valid_without_them(row: dict[str, Any], tmp_path: Path) -> None:
    folder = tmp_path / row["example"]
    shutil.copytree(ROOT / "examples" / row["example"], folder)
    done = evenhand(folder, "validate", str(folder), "--strict", without=row["without"])
    assert done.returncode == 0, done.stderr


def test_every_example_has_a_row() -> None:
    folders = {path.parent.name for path in (ROOT / "examples").glob("*/evenhand.yaml")}
    assert folders == {row["example"] for row in ROWS}
