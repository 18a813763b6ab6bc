"""One worker process as its pool sees it: started, asked over a socket, listened to, ended.

A frame is four bytes of length, then that many bytes. Questions are JSON, or Python's marshal format for workers that
are Python themselves; answers are JSON, since what a script may have tampered with is never unmarshalled here.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import subprocess
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec

from evenhand.io.spawn import end_group
from evenhand.scripts.batch import Answer, Batch, Reply
from evenhand.scripts.memory import limit_memory

MAX_FRAME = 64 * 1024 * 1024
"""Bytes that a worker may answer in one frame."""
OUTPUT_KEPT = 8_000
"""Bytes of what a worker writes to stdout and stderr that are kept: the last ones."""
EXIT_GRACE_S = 5.0


class Launch(NamedTuple):
    """How to start a worker: its arguments, to which that of the channel is added, and how it is spoken to."""

    argv: tuple[str, ...]
    directory: Path
    encode: Callable[[Any], bytes]
    env: Mapping[str, str] | None = None
    memory_beyond: int | None = None
    """Bytes of memory that it may take beyond those it holds once it has started, where a system limits that."""


class Owner(Protocol):
    """What a worker tells its pool."""

    def heard(self, worker: Worker, reply: Reply) -> None:
        """A frame came."""
        ...

    def lost(self, worker: Worker) -> None:
        """The worker is gone."""
        ...


class Worker(asyncio.Protocol):
    """A running worker process."""

    def __init__(self, launch: Launch, owner: Owner) -> None:
        self._launch = launch
        self._owner = owner
        self._buffer = bytearray()
        self._output = _Tail()
        self._transport: asyncio.Transport | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self.ready = False
        self.gone = False
        self.known: set[int] = set()
        """Keys of the sources that the worker has been given."""
        self.in_flight: deque[Batch | None] = deque()
        """What it was asked, in its order; None for what somebody else answers by now."""
        self.head_since = 0.0
        """When the script that runs now began, at the latest."""
        self.fault = ""
        """Why it was ended, where its pool did that."""

    async def start(self) -> None:
        """Start the process. Raises OSError."""
        loop = asyncio.get_running_loop()
        ours, theirs = socket.socketpair()
        read_end, write_end = os.pipe()
        try:
            with theirs, open(write_end, "wb") as output:  # noqa: PTH123, ASYNC230  (a pipe, not a file)
                self._process = subprocess.Popen(  # noqa: ASYNC220  (returns at once)
                    [*self._launch.argv, str(theirs.fileno())],
                    cwd=self._launch.directory,
                    env=self._launch.env,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,
                )
            await loop.connect_read_pipe(lambda: self._output, os.fdopen(read_end, "rb", buffering=0))
        except BaseException:
            ours.close()
            if self._process is None:
                os.close(read_end)
            raise
        await loop.create_connection(lambda: self, sock=ours)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        buffer = self._buffer
        buffer += data
        start, size = 0, len(buffer)
        while size - start >= 4:
            length = int.from_bytes(buffer[start : start + 4], "big")
            if length > MAX_FRAME:
                self.kill("answered with more than a verdict may hold")
                return
            if size - start - 4 < length:
                break
            try:
                reply = _read_reply(bytes(buffer[start + 4 : start + 4 + length]))
            except (msgspec.DecodeError, ValueError, RecursionError):
                self.kill("answered with something that is no answer")
                return
            start += 4 + length
            if reply.ready and self._process is not None and self._launch.memory_beyond is not None:
                limit_memory(self._process.pid, self._launch.memory_beyond)
            self._owner.heard(self, reply)
        del buffer[:start]

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.gone:
            self.gone = True
            self._end()
            self._owner.lost(self)

    def send(self, message: Any) -> None:
        """Ask something; the answer comes to the owner."""
        if self._transport is not None and not self._transport.is_closing():
            body = self._launch.encode(message)
            self._transport.write(len(body).to_bytes(4, "big") + body)

    def kill(self, fault: str) -> None:
        """End the process at once, with all that it started. The owner hears of the loss."""
        self.fault = self.fault or fault
        self._end()
        if self._transport is not None:
            self._transport.abort()

    @property
    def output(self) -> str:
        """The end of what the process wrote outside the channel."""
        return bytes(self._output.data[-OUTPUT_KEPT:]).decode(errors="replace")

    @property
    def exit_code(self) -> int | None:
        """How the process ended, None while it runs."""
        return None if self._process is None else self._process.poll()

    def _end(self) -> None:
        if self._process is not None and self._process.poll() is None:
            end_group(self._process.pid, at_once=True)

    async def close(self) -> None:
        """Wait until the process is gone and let go of everything."""
        if not self.gone:
            self.kill("the run is over")
        process = self._process
        if process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(EXIT_GRACE_S)
        if self._output.transport is not None:
            self._output.transport.close()
        await asyncio.sleep(0)


class _Tail(asyncio.Protocol):
    """The end of what a process writes."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.transport: asyncio.BaseTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.data += data
        if len(self.data) > 4 * OUTPUT_KEPT:
            del self.data[:-OUTPUT_KEPT]


def _read_reply(frame: bytes) -> Reply:
    """The reply that a frame holds. Raises `DecodeError`, `ValueError` and `RecursionError`."""
    try:
        return _decode_reply(frame)
    except (msgspec.DecodeError, UnicodeDecodeError):
        # Halves of characters, which scripts may return: JSON has them as escapes, which the fast library refuses.
        found = msgspec.convert(json.loads(frame.decode("utf-8", "surrogatepass")), dict[str, Any])
        answers = msgspec.convert(found.pop("results", []), list[tuple[int, dict[str, Any]]])
        results = tuple((index, msgspec.Raw(json.dumps(answer).encode())) for index, answer in answers)
        return msgspec.structs.replace(msgspec.convert(found, Reply), results=results)


def decode_answer(raw: msgspec.Raw) -> Answer:
    """One answer out of a reply. Raises `DecodeError`."""
    try:
        return _decode_answer(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return msgspec.convert(json.loads(bytes(raw)), Answer)


_decode_reply = msgspec.json.Decoder(Reply).decode
_decode_answer = msgspec.json.Decoder(Answer).decode
