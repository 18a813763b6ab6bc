"""Child processes: started without a shell, fed and read at the same time, bounded, ended with all they started.

Knows nothing about what is said on the pipes; see `protocol` for that.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from evenhand.errors import EvenhandError
from evenhand.io.spawn import Spawned, end_group, spawn

STDOUT_LIMIT = 64 * 1024 * 1024
"""Bytes that a program may write to stdout in one call (a persistent one: as one line)."""
STDERR_LIMIT = 64 * 1024
"""Bytes of stderr that are kept: the last ones."""
STOP_GRACE_S = 0.5
"""Seconds between the request to end and the kill."""
PIPE_GRACE_S = 0.25
"""Seconds for which a pipe may stay open after the program itself has ended."""
LAST_WAIT_S = 5.0
"""Seconds that a killed process may take to disappear before it is given up on."""


class ProcessFailed(EvenhandError):
    """A program that could not be started, was ended by us, or broke off. `stderr` is the end of what it wrote."""

    def __init__(self, message: str, *, retriable: bool = False, stderr: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.retriable = retriable
        self.stderr = stderr


class Command(NamedTuple):
    """What to start: an argument list (no shell), the folder to start it in, its whole environment.

    `env` is None for the environment of this process.
    """

    argv: tuple[str, ...]
    directory: Path
    env: Mapping[str, str] | None = None

    @property
    def name(self) -> str:
        """What messages call the program."""
        return f"`{self.argv[0]}`"


class Finished(NamedTuple):
    """A program that came to its end by itself. `exit_code` is -n where signal n ended it."""

    exit_code: int
    stdout: bytes
    stderr: str


async def run_process(
    command: Command,
    stdin: bytes = b"",
    *,
    timeout_ms: float | None = None,
    stdout_limit: int = STDOUT_LIMIT,
) -> Finished:
    """Run a program to its end with `stdin` as its input.

    Raises `ProcessFailed` where it does not start, takes longer than `timeout_ms` or writes more than
    `stdout_limit` bytes. However this ends, cancellation included, a program that has not ended by itself is
    killed with its process group; so is a background process that still holds the pipes once the program is gone.
    """
    child = await Child.start(command, stdout_limit=stdout_limit)
    try:
        async with asyncio.timeout(None if timeout_ms is None else timeout_ms / 1000):
            child.send(stdin)
            child.close_input()
            return await child.finish()
    except TimeoutError:
        still = "" if child.is_writing else "; it had closed its output but went on running"
        message = f"{command.name} did not end within {timeout_ms:g} ms and was killed{still}"
        raise ProcessFailed(message, retriable=True, stderr=child.stderr) from None
    finally:
        await child.stop()


class Child:
    """A running program. Whoever starts one stops it, also after failures."""

    def __init__(self, command: Command, spawned: Spawned, streams: _Streams) -> None:
        self.command = command
        self.pid = spawned.transport.get_pid()
        self._spawned = spawned
        self._streams = streams
        self._searched = 0
        self._released = False

    @classmethod
    async def start(cls, command: Command, *, stdout_limit: int = STDOUT_LIMIT) -> Child:
        """Start a program with pipes on all three streams. Raises `ProcessFailed`."""
        streams = _Streams(stdout_limit)
        starting = asyncio.create_task(spawn(command.argv, command.directory, command.env, streams))
        try:
            # Cancelled half-way, asyncio would kill the program alone and not what it has already started.
            spawned = await asyncio.shield(starting)
        except asyncio.CancelledError:
            while not starting.done():
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.wait({starting})
            if not starting.cancelled() and starting.exception() is None:
                await cls(command, starting.result(), streams).stop()
            raise
        except (OSError, ValueError) as error:
            raise _not_started(command, error) from error
        return cls(command, spawned, streams)

    @property
    def stderr(self) -> str:
        """The end of what the program wrote to stderr."""
        return bytes(self._streams.stderr[-STDERR_LIMIT:]).decode(errors="replace")

    @property
    def exit_code(self) -> int | None:
        """The exit code, -n where signal n ended the program; None while it runs."""
        return self._spawned.transport.get_returncode()

    @property
    def is_writing(self) -> bool:
        """Whether stdout is still open at the program's end."""
        return 1 in self._streams.open_pipes

    @property
    def unclaimed(self) -> bytes:
        """Output that has arrived and that nobody has read."""
        return bytes(self._streams.stdout)

    @property
    def unread_input(self) -> int:
        """Bytes that were sent and that the program has not read, where the system tells."""
        return self._spawned.unread_input()

    def send(self, data: bytes) -> None:
        """Hand over input without waiting for it to be read. A program that never reads it is no error."""
        if data and not self._spawned.stdin.is_closing():
            self._spawned.stdin.write(data)

    def close_input(self) -> None:
        """Tell the program that nothing more will come, once all that was sent is written."""
        self._spawned.stdin.close()

    async def finish(self) -> Finished:
        """Wait for the end of the program and return everything it wrote."""
        streams = self._streams
        while not streams.exited:
            await self._news()
        if streams.open_pipes:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PIPE_GRACE_S):
                    while streams.open_pipes:
                        await self._news()
        return Finished(self.exit_code or 0, bytes(streams.stdout), self.stderr)

    async def read_line(self) -> bytes | None:
        """The next line of output without its end; None where the output ends before the line does."""
        stdout = self._streams.stdout
        while (end := stdout.find(b"\n", self._searched)) < 0:
            self._searched = len(stdout)
            if not self.is_writing:
                return None
            await self._news()
        line = bytes(stdout[:end])
        del stdout[: end + 1]
        self._searched = 0
        return line

    async def ended(self, within_s: float) -> bool:
        """Whether the program ends by itself in that time."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                while not self._streams.exited:
                    await self._streams.wait()
        return self._streams.exited

    async def stop(self) -> None:
        """End the program with its process group, if it still runs, and release everything. May be called again.

        Cancelled while it waits for the program to tidy up, it kills at once.
        """
        if self._released:
            return
        try:
            if not self._streams.exited:
                end_group(self.pid, at_once=False)
                await self.ended(within_s=STOP_GRACE_S)
        finally:
            if not self._streams.exited or self._streams.open_pipes:
                end_group(self.pid, at_once=True)
            await self.ended(within_s=LAST_WAIT_S)
            self._release()

    def _release(self) -> None:
        self._released = True
        stdin = self._spawned.stdin
        # A closed transport must not be aborted: its file number may already belong to another child.
        if not stdin.is_closing() or stdin.get_write_buffer_size():
            stdin.abort()
        self._spawned.transport.close()

    async def _news(self) -> None:
        await self._streams.wait()
        if self._streams.too_much:
            message = f"{self.command.name} wrote more than {_size(self._streams.stdout_limit)} to stdout"
            raise ProcessFailed(message, stderr=self.stderr)


class _Streams(asyncio.SubprocessProtocol):
    """What a child has written and whether it has ended."""

    def __init__(self, stdout_limit: int) -> None:
        self.stdout_limit = stdout_limit
        self.stdout = bytearray()
        self.stderr = bytearray()
        self.open_pipes = {1, 2}
        self.exited = False
        self.too_much = False
        self._changed = asyncio.Event()

    async def wait(self) -> None:
        """Return when something has changed since the last wait."""
        await self._changed.wait()
        self._changed.clear()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self.stderr += data
            if len(self.stderr) > 2 * STDERR_LIMIT:
                del self.stderr[:-STDERR_LIMIT]
            return
        if len(self.stdout) + len(data) > self.stdout_limit:
            self.too_much = True
        else:
            self.stdout += data
        self._changed.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self.open_pipes.discard(fd)
        self._changed.set()

    def process_exited(self) -> None:
        self.exited = True
        self._changed.set()


def exit_text(exit_code: int) -> str:
    """How a program ended, in words."""
    if exit_code >= 0:
        return f"exited with code {exit_code}"
    try:
        return f"was ended by signal {signal.Signals(-exit_code).name}"
    except ValueError:
        return f"was ended by signal {-exit_code}"


def _not_started(command: Command, error: OSError | ValueError) -> ProcessFailed:
    if not command.directory.is_dir():
        return ProcessFailed(f"{command.name} cannot be started: {command.directory} is not a folder")
    if isinstance(error, ValueError):
        return ProcessFailed(f"{command.name} cannot be started: {error}")
    hint = _HINTS.get(error.errno or 0)
    message = f"{command.name} cannot be started: {error.strerror}"
    # A shortage of processes, memory or file handles passes; a wrong command does not.
    return ProcessFailed(f"{message}; {hint}" if hint else message, retriable=hint is None)


_HINTS = {
    errno.ENOENT: "check that the program (and the interpreter in its first line) exists; a path is taken "
    "relative to the suite's folder",
    errno.EACCES: "make the file executable, or name its interpreter first in `command`",
    errno.ENOEXEC: "give the file a first line such as `#!/usr/bin/env python3`, or name its interpreter first "
    "in `command`",
    errno.ENOTDIR: "a part of the program's path is not a folder",
    errno.E2BIG: "shorten `command` and `env`",
}


def _size(count: int) -> str:
    return f"{count // (1024 * 1024)} MiB" if count >= 1024 * 1024 else f"{count} bytes"
