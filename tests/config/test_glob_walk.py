"""Patterns match what a shell's would, and never walk without end."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenhand.config import glob_walk
from evenhand.config.glob_walk import TooManyEntries, walk_pattern
from support.case_files import write_files

FILES = ("a.yaml", "b.yml", "sub/a.yaml", "sub/deep/c.yaml", ".hidden/d.yaml", "sub/.e.yaml", "x[1].yaml")


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.yaml", ["a.yaml", "x[1].yaml"]),
        ("?.y*", ["a.yaml", "b.yml"]),
        ("[ab].*", ["a.yaml", "b.yml"]),
        ("[!a].yml", ["b.yml"]),
        ("**/*.yaml", ["a.yaml", "sub/a.yaml", "sub/deep/c.yaml", "x[1].yaml"]),
        ("sub/**/*.yaml", ["sub/a.yaml", "sub/deep/c.yaml"]),
        ("**/deep/*", ["sub/deep/c.yaml"]),
        ("**/**/c.yaml", ["sub/deep/c.yaml"]),
        ("sub/**", ["sub/a.yaml", "sub/deep/c.yaml"]),
        ("./sub//*.yaml", ["sub/a.yaml"]),
        (".*/*.yaml", [".hidden/d.yaml"]),
        ("sub/.*", ["sub/.e.yaml"]),
        ("*/*/*", ["sub/deep/c.yaml"]),
        ("a.yaml/*", []),
        ("none/*", []),
        ("A.YAML*", []),
    ],
)
def test_pattern_matches(tmp_path: Path, pattern: str, expected: list[str]) -> None:
    write_files(tmp_path, dict.fromkeys(FILES, ""))
    assert walk_pattern(tmp_path, pattern, lambda folder: None) == expected


def test_links_to_folders_are_entered_by_name_but_not_by_depth(tmp_path: Path) -> None:
    write_files(tmp_path, {"real/a.yaml": ""})
    (tmp_path / "real/loop").symlink_to(tmp_path)
    (tmp_path / "link").symlink_to("real")
    assert walk_pattern(tmp_path, "*/a.yaml", lambda folder: None) == ["link/a.yaml", "real/a.yaml"]
    assert walk_pattern(tmp_path, "**/a.yaml", lambda folder: None) == ["real/a.yaml"]


def test_each_folder_is_announced_before_it_is_listed(tmp_path: Path) -> None:
    write_files(tmp_path, {"sub/a.yaml": ""})
    entered: list[str] = []
    walk_pattern(tmp_path, "sub/*", lambda folder: entered.append(folder.name))
    assert entered == ["sub"]


def test_walk_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tmp_path, {f"{index}.txt": "" for index in range(20)})
    monkeypatch.setattr(glob_walk, "MAX_ENTRIES", 10)
    with pytest.raises(TooManyEntries):
        walk_pattern(tmp_path, "*", lambda folder: None)
