"""One run of a program with its standard streams, bounded in time and size."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Event, Thread
from typing import IO, BinaryIO, NamedTuple

from evenhand.io.spawn import end_group

STDERR_TAIL_BYTES = 4 * 1024
"""Bytes of the standard error stream that are kept, from its end."""

_CHUNK_BYTES = 64 * 1024
_LONGEST_PAUSE_S = 0.05
_DRAIN_S = 5.0
_IS_POSIX = os.name == "posix"


class Finished(NamedTuple):
    """How a program ended."""

    failure: str
    """What went wrong, in words that follow the program's name; empty where nothing did."""
    is_too_large: bool
    """Whether it was stopped because it printed too much."""
    stderr_tail: str


def run_program(
    command: Sequence[str],
    *,
    directory: Path,
    environment: Mapping[str, str],
    document: bytes,
    output: BinaryIO,
    timeout_ms: float,
    output_limit_bytes: int,
) -> Finished:
    """Run a program in `directory`, `document` on its standard input, and copy what it prints to `output`.

    The program and everything it started are killed at the time-out, when it prints more than the limit, and when
    it ends. Raises `OSError` where it cannot be started.
    """
    process = subprocess.Popen(
        command,
        cwd=directory,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        start_new_session=True,
    )
    streams = _Streams(process, document, output, output_limit_bytes)
    try:
        has_exited = _wait(process, time.monotonic() + timeout_ms / 1000, streams.is_full)
    finally:
        end_group(process.pid, at_once=True)
        process.wait()
        streams.finish()
    if streams.is_full.is_set():
        return Finished(f"printed more than {output_limit_bytes:,} bytes", True, streams.stderr_tail)
    failure = _failure(process.returncode) if has_exited else f"did not finish within {timeout_ms:,.0f} ms"
    return Finished(failure, False, streams.stderr_tail)


class _Streams:
    """The three streams of a process, each served by a thread until it ends."""

    def __init__(
        self, process: subprocess.Popen[bytes], document: bytes, output: BinaryIO, limit_bytes: int
    ) -> None:
        self.is_full = Event()
        self._tail = b""
        self._is_closed = False
        self._output = output
        self._left_bytes = limit_bytes
        self._document = document
        self._pipes = (process.stdin, process.stdout, process.stderr)
        serve: tuple[Callable[[], None], ...] = (
            self._write,
            lambda: self._read(process.stdout, self._keep),
            lambda: self._read(process.stderr, self._keep_tail),
        )
        self._threads = [Thread(target=each, daemon=True) for each in serve]
        for thread in self._threads:
            thread.start()

    @property
    def stderr_tail(self) -> str:
        return self._tail.decode(errors="replace").strip()

    def finish(self) -> None:
        """Take what is still in the pipes, then let go of them, even if somebody who left the group holds them."""
        deadline = time.monotonic() + _DRAIN_S
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        self._is_closed = True
        for pipe in self._pipes:
            if pipe is not None:
                pipe.close()

    def _write(self) -> None:
        pipe = self._pipes[0]
        if pipe is None:
            return
        left = memoryview(self._document)
        try:
            while left:
                left = left[pipe.write(left) :]
            pipe.close()
        except (OSError, ValueError):
            return  # The program did not want to read all of it.

    def _read(self, pipe: IO[bytes] | None, keep: Callable[[bytes], bool]) -> None:
        try:
            while pipe and (chunk := pipe.read(_CHUNK_BYTES)) and not self._is_closed and keep(chunk):
                pass
        except (OSError, ValueError):
            return  # It was let go of.

    def _keep(self, chunk: bytes) -> bool:
        self._left_bytes -= len(chunk)
        if self._left_bytes < 0:
            self.is_full.set()
            return False
        self._output.write(chunk)
        return True

    def _keep_tail(self, chunk: bytes) -> bool:
        self._tail = (self._tail + chunk)[-STDERR_TAIL_BYTES:]
        return True


def _wait(process: subprocess.Popen[bytes], deadline: float, is_full: Event) -> bool:
    """Whether the process ended by itself before the deadline and before it printed too much.

    It is not reaped here: until its group has been killed, nobody else may get its number.
    """
    pause = 0.001
    while not _has_exited(process):
        if time.monotonic() > deadline or is_full.wait(pause):
            return False
        pause = min(2 * pause, _LONGEST_PAUSE_S)
    return True


def _has_exited(process: subprocess.Popen[bytes]) -> bool:
    if not _IS_POSIX:
        return process.poll() is not None
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _failure(code: int) -> str:
    if code < 0:
        try:
            return f"was killed by {signal.Signals(-code).name}"
        except ValueError:
            return f"was killed by signal {-code}"
    return f"exited with code {code}" if code else ""
