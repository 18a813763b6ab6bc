"""Every example runs through the real command line and ends as its row says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
ROWS = [
    json.loads(line) for line in (ROOT / "tests/data/examples.jsonl").read_text(encoding="utf-8").splitlines()
]


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "evenhand", "run", str(folder), "--no-progress", *options],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=180,
        env={**os.environ, "EVENHAND_HOME": str(folder / ".evenhand"), "NO_COLOR": "1"},
        check=False,
    )


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["example"])
def test_example_ends_as_its_row_says(row: dict[str, Any], tmp_path: Path) -> None:
    folder = tmp_path / row["example"]
    shutil.copytree(ROOT / "examples" / row["example"], folder)
    report = folder / "run.json"
    done = run(folder, *row.get("args", ()), "--format", "json", "--out", str(report))
    assert done.returncode == row["exit"], done.stderr
    assert "Traceback" not in done.stderr
    if "tallies" in row:
        cases = json.loads(report.read_text(encoding="utf-8"))["cases"]
        assert dict(Counter(case["status"] for case in cases)) == row["tallies"]


def test_every_example_has_a_row() -> None:
    folders = {path.parent.name for path in (ROOT / "examples").glob("*/evenhand.yaml")}
    assert folders == {row["example"] for row in ROWS}
