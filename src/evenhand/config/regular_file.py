"""Regular files, opened without waiting and read within a bound.

Whatever a suite points at may be a FIFO that nobody writes to, a device without an end or a file that grows.
"""

from __future__ import annotations

import codecs
import os
import stat
from pathlib import Path
from typing import BinaryIO

from evenhand.config.text_file import decode_text
from evenhand.errors import Location, Problem, SuiteError

MAX_TEXT_BYTES = 64 * 1024 * 1024
"""Bytes of a file that is held in memory whole."""

_BUFFER_BYTES = 256 * 1024
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def kind_of(mode: int) -> str | None:
    """What stands in a file's place, from the mode of its status, or None for a regular file."""
    if stat.S_ISREG(mode):
        return None
    return next((name for test, name in _KINDS if test(mode)), "not a regular file")


def reason_of(error: OSError) -> str:
    """Why the system refused, in its own words."""
    return (error.strerror or str(error)).lower()


def open_regular(path: Path, name: str) -> BinaryIO:
    """A regular file for reading, called `name` in messages. Raises `SuiteError` for anything else."""
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError as error:
        raise _unreadable(name, f"cannot be read: {reason_of(error)}") from None
    kind = kind_of(os.fstat(descriptor).st_mode)
    if kind is not None:
        os.close(descriptor)
        raise _unreadable(name, f"is {kind}", "name a regular file")
    return os.fdopen(descriptor, "rb", buffering=_BUFFER_BYTES)


def open_utf8(path: Path, name: str) -> BinaryIO:
    """A regular file for reading lines of UTF-8, behind its byte order mark. Raises `SuiteError` for UTF-16."""
    stream = open_regular(path, name)
    start = stream.read(len(codecs.BOM_UTF8))
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        stream.close()
        raise _unreadable(name, "the file is UTF-16", "save it as UTF-8")
    if start != codecs.BOM_UTF8:
        stream.seek(0)
    return stream


def read_bounded(path: Path, name: str, limit_bytes: int = MAX_TEXT_BYTES, hint: str = "") -> bytes:
    """The bytes of a regular file. Raises `SuiteError` with `hint` where it is larger than `limit_bytes`."""
    with open_regular(path, name) as stream:
        try:
            data = stream.read(limit_bytes + 1)
        except OSError as error:
            raise _unreadable(name, f"cannot be read: {reason_of(error)}") from None
    if len(data) > limit_bytes:
        raise _unreadable(name, f"is larger than {limit_bytes // 1024**2} MiB", hint or "split the file")
    return data


def read_bounded_text(path: Path, name: str, limit_bytes: int = MAX_TEXT_BYTES, hint: str = "") -> str:
    """The text of a UTF-8 file without its byte order mark. Raises `SuiteError`."""
    return decode_text(read_bounded(path, name, limit_bytes, hint), name)


def _unreadable(name: str, message: str, hint: str = "") -> SuiteError:
    return SuiteError([Problem(message, hint=hint, location=Location(name))])
