"""Generated cases are kept for a while, and nothing else is touched."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from evenhand.config.sources import spool as spool_module
from evenhand.config.sources.spool import KEPT_DAYS, Spool, spool_lines
from evenhand.errors import SuiteError
from support.case_files import write_files


def test_file_is_named_after_label_and_content(tmp_path: Path) -> None:
    file = spool_lines(Spool(tmp_path / "new" / "folder"), [b"{}", b"{}"], "python gen.py --all ✓")
    assert file.path.read_bytes() == b"{}\n{}\n"
    assert file.path.name.startswith("python-gen.py-all-")
    assert file.extension == ".jsonl"


def test_old_cases_are_removed_and_other_files_are_not(tmp_path: Path) -> None:
    old = [
        "gen-0123456789abcdef.jsonl",
        "gen-0123456789abcdef.json",
        "generated-x.partial",
        "mine.jsonl",
        "notes.txt",
    ]
    write_files(tmp_path, dict.fromkeys([*old, "gen-fedcba9876543210.jsonl"], ""))
    past = time.time() - (KEPT_DAYS + 1) * 24 * 60 * 60
    for name in old:
        os.utime(tmp_path / name, (past, past))
    kept = spool_lines(Spool(tmp_path), [b"{}"], "gen").path.name
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["gen-fedcba9876543210.jsonl", "mine.jsonl", "notes.txt", kept]
    )


def test_cases_without_an_end_are_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool_module, "MAX_OUTPUT_BYTES", 1000)
    with pytest.raises(SuiteError, match="generator `gen` made more than 1,000 bytes of cases"):
        spool_lines(Spool(tmp_path), iter(lambda: b"{}", b""), "gen")
    assert not list(tmp_path.iterdir())
