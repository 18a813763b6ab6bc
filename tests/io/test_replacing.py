from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from evenhand.io.replacing import check_replaceable, replacing


def test_a_file_appears_when_the_block_ends(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "run.json"
    with replacing(path) as file:
        file.write("é\n")
        assert not path.exists()
    assert path.read_bytes() == "é\n".encode()
    assert os.listdir(path.parent) == ["run.json"]


def test_a_file_stays_as_it_was_when_the_block_fails(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text("before")
    with pytest.raises(UnicodeEncodeError), replacing(path) as file:
        file.write("half" + chr(0xD800))
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["run.json"]


def test_permissions_of_a_replaced_file_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text("before")
    path.chmod(0o640)
    with replacing(path) as file:
        file.write("after")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert path.read_text() == "after"


def test_a_link_keeps_pointing_to_its_file(tmp_path: Path) -> None:
    target = tmp_path / "elsewhere" / "real.json"
    target.parent.mkdir()
    target.write_text("before")
    link = tmp_path / "run.json"
    link.symlink_to(target)
    with replacing(link) as file:
        file.write("after")
    assert link.is_symlink()
    assert target.read_text() == "after"


def test_a_pipe_that_nobody_reads_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenhand.io.replacing.READER_S", 0.2)
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(OSError, match="nobody reads the pipe after"), replacing(path):
        pass


def test_a_pipe_is_written_to_directly(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(path.read_text()), daemon=True)
    reader.start()
    check_replaceable(path)
    with replacing(path) as file:
        file.write("through")
    reader.join(timeout=30)
    assert read == ["through"]
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_checking_leaves_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    check_replaceable(path)
    assert os.listdir(tmp_path) == []
    path.write_text("before")
    check_replaceable(path)
    assert path.read_text() == "before"


def test_what_cannot_be_written_is_found_by_checking(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        check_replaceable(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"Not a directory|File exists"):
        check_replaceable(tmp_path / "file" / "run.json")
    with pytest.raises(OSError, match="too long"):
        check_replaceable(tmp_path / ("x" * 300) / "run.json")
