"""How a child process is started, signalled and fed on each kind of operating system.

A child leads its own process group, so that whatever it starts can be ended with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

Streams = TypeVar("Streams", bound=asyncio.SubprocessProtocol)


class Spawned(NamedTuple):
    """The ends of a child that stay with us. `unread_input` counts bytes that the child has not yet read."""

    transport: asyncio.SubprocessTransport
    stdin: asyncio.WriteTransport
    unread_input: Callable[[], int]


if sys.platform == "win32":

    async def spawn(
        argv: Sequence[str], directory: Path, env: Mapping[str, str] | None, streams: Streams
    ) -> Spawned:
        """Start a program with all three streams as pipes. Raises OSError or ValueError."""
        transport, _ = await asyncio.get_running_loop().subprocess_exec(
            lambda: streams,
            *argv,
            cwd=directory,
            env=env,
            creationflags=subprocess.CREATE_NEW_PROCESS_GROUP,
        )
        stdin = transport.get_pipe_transport(0)
        assert isinstance(stdin, asyncio.WriteTransport)  # noqa: S101
        return Spawned(transport, stdin, stdin.get_write_buffer_size)

    def end_group(pid: int, *, at_once: bool) -> None:
        """Send a break to a child's group, which lets it tidy up, or at once end the child and its descendants."""
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            if not at_once:
                os.kill(pid, signal.CTRL_BREAK_EVENT)
                return
            subprocess.run(
                ["taskkill", "/F", "/T", "/PID", str(pid)], capture_output=True, timeout=5, check=False
            )

else:
    import fcntl
    import termios

    async def spawn(
        argv: Sequence[str], directory: Path, env: Mapping[str, str] | None, streams: Streams
    ) -> Spawned:
        """Start a program with all three streams as pipes. Raises OSError or ValueError.

        Before Python 3.12, asyncio itself would hand the child a socket as standard input, which programs cannot
        open as `/dev/stdin`; so the pipe is made here.
        """
        loop = asyncio.get_running_loop()
        read_end, write_end = os.pipe()
        ours = os.fdopen(write_end, "wb", buffering=0)
        try:
            transport, _ = await loop.subprocess_exec(
                lambda: streams, *argv, stdin=read_end, cwd=directory, env=env, start_new_session=True
            )
        except BaseException:
            ours.close()
            raise
        finally:
            os.close(read_end)
        try:
            stdin, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, ours)
        except BaseException:
            end_group(transport.get_pid(), at_once=True)
            transport.close()
            ours.close()
            raise

        def unread_input() -> int:
            waiting = stdin.get_write_buffer_size()
            return waiting if stdin.is_closing() else waiting + _bytes_in_pipe(write_end)

        return Spawned(transport, stdin, unread_input)

    def _bytes_in_pipe(write_end: int) -> int:
        """What waits in a pipe, asked at its writing end; 0 on systems that do not say."""
        count = bytearray(4)
        try:
            fcntl.ioctl(write_end, termios.FIONREAD, count)
        except OSError:
            return 0
        return int.from_bytes(count, sys.byteorder)

    def end_group(pid: int, *, at_once: bool) -> None:
        """Signal a child and its descendants: SIGKILL at once, else SIGTERM, which lets them tidy up."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL if at_once else signal.SIGTERM)
