"""Servers on loopback that answer as a test says, in the test's own event loop."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, NamedTuple

from aiohttp import web


class Seen(NamedTuple):
    """A call as it arrived."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Server:
    """Answers with `replies` in turn, the last one for ever; `seen` lists the calls."""

    def __init__(self, replies: Sequence[Any]) -> None:
        self.replies = replies
        self.seen: list[Seen] = []
        self.connections: set[Any] = set()
        self.url = ""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.connections.add(request.transport)
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.seen.append(
            Seen(request.method, request.path, dict(request.query), headers, await request.read())
        )
        reply = self.replies[min(len(self.seen), len(self.replies)) - 1]
        if callable(reply):
            reply = await reply(request)
        return reply if isinstance(reply, web.StreamResponse) else web.json_response(reply)


@contextlib.asynccontextmanager
async def serving(*replies: Any) -> AsyncIterator[Server]:
    """A server on a free port: a reply is a JSON value, a response, or an async function that makes one."""
    server = Server(replies)
    app = web.Application(client_max_size=64 << 20)
    app.router.add_route("*", "/{path:.*}", server.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    server.url = f"http://{host}:{port}"
    try:
        yield server
    finally:
        await runner.cleanup()


def status(code: int, text: str = "", **headers: str) -> Callable[[web.Request], Any]:
    """A reply with that status; underscores in names of headers stand for hyphens."""

    async def reply(_: web.Request) -> web.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(status=code, text=text, headers=named)

    return reply
