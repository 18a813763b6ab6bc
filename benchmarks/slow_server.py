"""A model behind OpenAI's chat API that always takes the same time, as cheap as a server can be.

Run as a program it prints its port and serves until its standard input ends. It does nothing but find the end of a
request: server and client share the processors, and only the client is measured.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

ANSWER = (
    "The capital of that country is a city where its government sits, and it has been so for a long time."
)


def _reply() -> bytes:
    """A whole reply of about 700 bytes, with the fields and headers that such services send."""
    body = json.dumps(
        {
            "id": "chatcmpl-0123456789",
            "object": "chat.completion",
            "created": 1_760_000_000,
            "model": "bench-1",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": ANSWER, "refusal": None},
                    "finish_reason": "stop",
                }
            ],
            "usage": {"prompt_tokens": 40, "completion_tokens": 25, "total_tokens": 65},
        }
    ).encode()
    head = (
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
        "x-ratelimit-limit-requests: 10000\r\nx-ratelimit-remaining-requests: 9999\r\n"
        f"x-ratelimit-reset-requests: 6ms\r\nx-request-id: 0123456789\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


class _Slow(asyncio.Protocol):
    def __init__(self, delay_seconds: float) -> None:
        self._delay_seconds = delay_seconds
        self._loop = asyncio.get_running_loop()
        self._reply = _reply()
        self._waiting = bytearray()
        self._missing = -1

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.WriteTransport, transport)

    def data_received(self, data: bytes) -> None:
        self._waiting += data
        if self._missing < 0:
            end = self._waiting.find(b"\r\n\r\n")
            if end < 0:
                return
            head = bytes(self._waiting[:end]).lower()
            at = head.find(b"content-length:")
            length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            self._missing = end + 4 + length
        if len(self._waiting) >= self._missing:
            del self._waiting[: self._missing]
            self._missing = -1
            self._loop.call_later(self._delay_seconds, self._answer)

    def _answer(self) -> None:
        if not self._transport.is_closing():
            self._transport.write(self._reply)


async def _serve(delay_seconds: float) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Slow(delay_seconds), "127.0.0.1", 0, backlog=1_024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


@contextmanager
def slow_server(delay_seconds: float) -> Iterator[str]:
    """The address of such a server in a process of its own."""
    child = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.slow_server", str(delay_seconds)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        yield f"http://127.0.0.1:{child.stdout.readline().strip()}"
    finally:
        child.stdin.close()
        child.wait(10)
        child.stdout.close()


if __name__ == "__main__":
    asyncio.run(_serve(float(sys.argv[1])))
