"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

READER_S = 10.0
"""Seconds that a pipe gets to find a reader."""


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """A UTF-8 text stream whose content takes the place of `path` when the block ends well.

    Until then, and for ever where the block fails, the file stays as it was. Folders are made where they are missing.
    A link keeps pointing to its file; a pipe or a device is written to directly. Raises `OSError`.
    """
    if _is_special(path):
        with open(path, "w", encoding="utf-8", newline="\n", opener=_opened_with_patience) as file:
            yield file
        return
    target = _target(path)
    temporary = _beside(target)
    try:
        with temporary.open("x", encoding="utf-8", newline="\n") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(OSError):
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def check_replaceable(path: Path) -> None:
    """Find out whether `replacing` can work, without leaving a trace in the file. Raises `OSError`."""
    if _is_special(path):
        return
    target = _target(path)
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a folder")
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(f"{path} is not writable")
    temporary = _beside(target)
    temporary.open("x").close()
    temporary.unlink()


def _opened_with_patience(path: str, flags: int) -> int:
    """Open a pipe for writing; one that nobody reads would keep the program waiting for ever."""
    deadline = time.monotonic() + READER_S
    while True:
        try:
            number = os.open(path, flags | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            if time.monotonic() > deadline:
                raise OSError(errno.ENXIO, f"nobody reads the pipe after {READER_S:g} s") from None
            time.sleep(0.05)
        else:
            os.set_blocking(number, True)
            return number


def _target(path: Path) -> Path:
    target = path.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    return target


def _beside(target: Path) -> Path:
    # In the same folder, since only within one file system a rename replaces in one step.
    return target.with_name(f".evenhand-{secrets.token_hex(8)}.tmp")


def _is_special(path: Path) -> bool:
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)
