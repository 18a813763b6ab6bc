"""Files are opened without waiting and read within a bound."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evenhand.config.regular_file import open_regular, open_utf8, read_bounded, read_bounded_text
from evenhand.errors import SuiteError


def test_fifo_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SuiteError, match="p: is a FIFO; name a regular file"):
        open_regular(tmp_path / "pipe", "p")


def test_device_without_an_end_is_refused() -> None:
    with pytest.raises(SuiteError, match="p: is a device"):
        read_bounded(Path("/dev/zero"), "p")


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="p: cannot be read: no such file or directory"):
        read_bounded(tmp_path / "none", "p")


def test_file_above_the_bound_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x" * (1024**2 + 1))
    with pytest.raises(SuiteError, match="p: is larger than 1 MiB; split the file"):
        read_bounded(tmp_path / "f", "p", 1024**2)
    assert len(read_bounded(tmp_path / "f", "p", 1024**2 + 1)) == 1024**2 + 1


def test_text_keeps_its_line_ends_and_loses_its_mark(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"\xef\xbb\xbfa\r\nb\n")
    assert read_bounded_text(tmp_path / "f", "p") == "a\r\nb\n"


def test_lines_begin_behind_the_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"\xef\xbb\xbfa")
    (tmp_path / "g").write_bytes(b"a")
    for name in ("f", "g"):
        with open_utf8(tmp_path / name, "p") as stream:
            assert stream.read() == b"a"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_named(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "f").write_bytes("\ufeffa".encode(encoding))
    with pytest.raises(SuiteError, match="p: the file is UTF-16; save it as UTF-8"):
        open_utf8(tmp_path / "f", "p")
