"""The standard output, kept for results while code under test is about."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import TextIO

_OUT, _ERR = 1, 2
"""The numbers of the standard output and error, which child processes and C code write to as well."""

_kept: TextIO | None = None
_process_ends = False
_held: list[contextlib.AbstractContextManager[None]] = []


def stdout() -> TextIO:
    """The stream that results go to: the standard output, also while it is reserved."""
    return sys.stdout if _kept is None else _kept


@contextlib.contextmanager
def reserved_stdout() -> Iterator[None]:
    """Send what anything but `stdout()` writes to the standard output to the standard error.

    Code under test runs in this process: a report must survive its prints, those of its threads and of programs that
    it starts, and even that it closes the streams. Both streams are as before when the block ends.
    """
    global _kept
    if _kept is not None:
        yield
        return
    out, err = sys.stdout, sys.stderr
    with contextlib.ExitStack() as undo:
        for number in (_ERR, _OUT):
            _restored_at_the_end(number, undo)
        _kept = _second_stream(out, _OUT, undo)
        undo.callback(_let_go)
        with contextlib.suppress(OSError):
            os.dup2(_ERR, _OUT)
        # Code under test may close these two.
        sys.stdout, sys.stderr = _second_stream(err, _ERR, undo), _second_stream(err, _ERR, undo)
        try:
            yield
        finally:
            sys.stdout, sys.stderr = out, err
            for stream in (_kept, out):
                # Before the number leads to the standard output again: this may be what others wrote.
                with contextlib.suppress(OSError, ValueError, AttributeError):
                    stream.flush()


def process_ends_with_the_command() -> None:
    """Say that nothing runs in this process after the command that it is about to run."""
    global _process_ends
    _process_ends = True


@contextlib.contextmanager
def reserved_to_the_end() -> Iterator[None]:
    """As `reserved_stdout`, for a command whose results are all written within the block.

    Where the process ends with the command it stays reserved: threads that code under test left behind may write
    until the process is gone, and the report must not end in what they write.
    """
    if not _process_ends:
        with reserved_stdout():
            yield
        return
    block = reserved_stdout()
    block.__enter__()
    _held.append(block)
    yield
    stdout().flush()


def _restored_at_the_end(number: int, undo: contextlib.ExitStack) -> None:
    """Remember where a number leads. One that is closed already has nothing to restore."""
    with contextlib.suppress(OSError):
        saved = os.dup(number)
        undo.callback(os.close, saved)
        undo.callback(os.dup2, saved, number)


def _second_stream(stream: TextIO, number: int, undo: contextlib.ExitStack) -> TextIO:
    """Another way to where a stream leads; the stream itself where it does not lead to that number."""
    try:
        stream.flush()
        if stream.fileno() != number:
            return stream
        binary = os.fdopen(os.dup(number), "wb")
    except (OSError, ValueError, AttributeError):
        return stream
    stream = io.TextIOWrapper(
        binary, encoding=stream.encoding, errors=stream.errors, line_buffering=bool(stream.line_buffering)
    )
    undo.callback(_close, stream)
    return stream


def _close(stream: TextIO) -> None:
    with contextlib.suppress(OSError, ValueError):
        stream.close()


def _let_go() -> None:
    global _kept
    _kept = None
