from __future__ import annotations

from pathlib import Path

from evenhand.io.repository import find_repository


def test_repository_is_the_nearest_one_above(tmp_path: Path) -> None:
    data = tmp_path / "outer" / "suite" / "data"
    data.mkdir(parents=True)
    (tmp_path / "outer" / ".git").mkdir()
    assert find_repository(data) == tmp_path / "outer"
    (data / ".git").write_text("gitdir: elsewhere", encoding="utf-8")
    assert find_repository(data) == data


def test_repository_of_a_link_is_that_of_the_folder_behind_it(tmp_path: Path) -> None:
    (tmp_path / "real" / ".git").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert find_repository(tmp_path / "link") == tmp_path / "real"
