"""Small programs and functions under test, and ways to run them with a guard against hangs."""

from __future__ import annotations

import asyncio
import os
import sys
import textwrap
import time
from collections.abc import Awaitable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from evenhand.errors import ProviderError
from evenhand.model.exchange import Request, Response, TestInfo
from evenhand.model.provider import Provider, ProviderContext, Session

T = TypeVar("T")

HANG_S = 180.0
"""Seconds after which a test counts as hung."""


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine on a loop of its own."""

    async def guarded() -> T:
        return await asyncio.wait_for(coroutine, HANG_S)

    return asyncio.run(guarded())


def write(path: Path, source: str) -> Path:
    """A file with that (indented) source."""
    path.write_text(textwrap.dedent(source), encoding="utf-8")
    return path


def program(folder: Path, source: str, name: str = "program.py") -> tuple[str, ...]:
    """The command that runs a Python program of that source, started without site packages to be quick."""
    return (sys.executable, "-SE", str(write(folder / name, source)))


def request(text: str | None = "hello", **fields: Any) -> Request:
    """A request that asks `text`."""
    return Request(text=text, test=fields.pop("test", TestInfo(id="t")), **fields)


def open_session(
    provider: Provider, directory: Path, *, concurrency: int = 1, timeout_ms: float | None = None
) -> Session:
    """A provider opened for a suite in that folder."""
    return provider.open(ProviderContext(directory=directory, concurrency=concurrency, timeout_ms=timeout_ms))


def ask(
    provider: Provider, directory: Path, *requests: Request, **context: Any
) -> list[Response | ProviderError]:
    """What each request brings, one after the other, in one session: a response or the error that was raised."""

    async def all_of_them() -> list[Response | ProviderError]:
        session = open_session(provider, directory, **context)
        try:
            return [await answer(session.complete(each)) for each in requests or (request(),)]
        finally:
            await session.close()

    return run(all_of_them())


def replies(
    provider: Provider, directory: Path, *requests: Request, **context: Any
) -> list[Response | ProviderError]:
    """The same without what was sent for each response."""
    return [
        msgspec.structs.replace(each, request=None) if isinstance(each, Response) else each
        for each in ask(provider, directory, *requests, **context)
    ]


async def answer(call: Awaitable[Response]) -> Response | ProviderError:
    """What a call brings: a response or the error that was raised."""
    try:
        return await call
    except ProviderError as error:
        return error


def exists(pid: int) -> bool:
    """Whether a process is alive (one that has ended and was not yet collected by its parent is not)."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):  # no such system, or gone since it was asked for
        return not Path("/proc").exists()
    return status.rpartition(")")[2].split()[0] != "Z"


def is_gone(pid: int) -> bool:
    """Whether a process ends within a few seconds."""
    deadline = time.monotonic() + 10
    while exists(pid):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


async def written_pids(path: Path, count: int = 1) -> list[int]:
    """The process ids that programs have written to a file, one a line, once there are that many."""
    while len(pids := _pids(path)) < count:  # noqa: ASYNC110  (a file has no event to wait for)
        await asyncio.sleep(0.01)
    return pids


def _pids(path: Path) -> list[int]:
    return [int(line) for line in path.read_text().split()] if path.exists() else []
