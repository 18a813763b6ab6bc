"""LiteLLM in a process of its own: whom it calls when it is loaded and used, and that a time limit ends its calls."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import asyncio, json, os, socket, sys
from pathlib import Path

from evenhand.errors import ProviderError
from evenhand.model.exchange import Request, TestInfo
from evenhand.model.provider import ProviderContext
from evenhand.providers.litellm import LiteLLM

called = set()


def watch(event, arguments):
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        called.add(arguments[1][:2])
    elif event == "socket.getaddrinfo":
        called.add(arguments[:2])


sys.addaudithook(watch)


async def silent(reader, writer):
    try:
        await reader.read()
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    provider = LiteLLM(
        id="x", model="openai/m", base_url=f"http://127.0.0.1:{port}/v1", api_key_env="KEY", timeout_ms=500
    )
    session = provider.open(ProviderContext(directory=Path()))
    try:
        await session.complete(Request(text="hi", test=TestInfo(id="t")))
    except ProviderError as error:
        print(json.dumps({"class": error.error_class, "elsewhere": [c for c in called if c != ("127.0.0.1", port)]}))
    await session.close()
    server.close()


asyncio.run(main())
"""


def test_only_the_address_of_the_suite_is_called() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join(sys.path), "KEY": "sk-test-0123456789"},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.strip() == '{"class": "provider_timeout", "elsewhere": []}', done.stderr
    assert "litellm" not in done.stderr.lower(), done.stderr
