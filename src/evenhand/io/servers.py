"""Servers under test that a run starts before its first call and ends after its last one."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from evenhand.errors import ServerError
from evenhand.io.process import Child, Command, ProcessFailed, exit_text
from evenhand.model.suite import Server
from evenhand.text.excerpt import escaped

POLL_S = 0.05
"""Seconds between two attempts to connect."""
CONNECT_S = 2.0
"""Seconds for one attempt to connect."""
OUTPUT_KEPT = 64 * 1024
OUTPUT_SHOWN = 2_000
"""Bytes kept, and characters shown, of what a server wrote."""
_PORTS = {"http": 80, "https": 443}

log = logging.getLogger("evenhand")


@contextlib.asynccontextmanager
async def serving(servers: Sequence[Server], directory: Path) -> AsyncIterator[None]:
    """Start the servers together, wait until each takes connections, and end them with all that they started.

    Raises `ServerError` where one does not start, ends too early or takes too long, and where something listens at
    its address already: the answers of an older server would be judged instead.
    """
    if not servers:
        yield
        return
    async with contextlib.AsyncExitStack() as stack:
        started = [_Started(server, directory) for server in servers]
        for server in started:
            stack.push_async_callback(server.stop)
        try:
            async with asyncio.TaskGroup() as starting:
                for server in started:
                    starting.create_task(server.start())
        except* ServerError as failures:
            raise failures.exceptions[0] from None
        yield


class _Started:
    """One server of a run."""

    def __init__(self, server: Server, directory: Path) -> None:
        self._server = server
        self._name = f"server `{server.command[0]}`"
        self._command = Command(
            server.command, directory, {**os.environ, **server.env} if server.env else None
        )
        self._child: Child | None = None

    async def start(self) -> None:
        if await self._takes_connections():
            raise ServerError(
                f"{self._name}: something listens at {self._server.url} already; stop it, or take the server out "
                "of `servers` to test what is running there"
            )
        try:
            self._child = await Child.start(self._command, stdout_limit=OUTPUT_KEPT)
        except ProcessFailed as failed:
            raise ServerError(f"{self._name}: {failed.message}") from None
        self._child.close_input()
        try:
            async with asyncio.timeout(self._server.timeout_ms / 1_000):
                await self._ready(self._child)
        except TimeoutError:
            raise ServerError(
                f"{self._name}: nothing listens at {self._server.url} after {self._server.timeout_ms:g} ms; "
                f"raise `timeout_ms` or mend `url`{self._written()}"
            ) from None

    async def stop(self) -> None:
        if self._child is None:
            return
        if self._child.exit_code is not None:
            log.warning(
                "%s %s while the run went on%s", self._name, exit_text(self._child.exit_code), self._written()
            )
        await self._child.stop()

    async def _ready(self, child: Child) -> None:
        while not await self._takes_connections():
            if await child.ended(within_s=POLL_S):
                code = exit_text(child.exit_code or 0)
                self._child = None
                written = _shown(child)
                await child.stop()
                raise ServerError(
                    f"{self._name} {code} before it listened at {self._server.url}; it must go on running{written}"
                )

    async def _takes_connections(self) -> bool:
        address = urlsplit(self._server.url)
        port = address.port or _PORTS[address.scheme]
        try:
            async with asyncio.timeout(CONNECT_S):
                _, writer = await asyncio.open_connection(address.hostname, port)
        except (OSError, TimeoutError):
            return False
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
        return True

    def _written(self) -> str:
        return "" if self._child is None else _shown(self._child)


def _shown(child: Child) -> str:
    """The end of what a server wrote, stderr first of all."""
    said = child.stderr.strip() or child.unclaimed.decode(errors="replace").strip()
    return f"; it wrote: {escaped(said[-OUTPUT_SHOWN:])}" if said else ""
