"""Shared answers behind plain HTTP: GET, HEAD and PUT of one address per answer."""

from __future__ import annotations

from evenhand.cache.tier import TierUnavailable
from evenhand.errors import ProviderError
from evenhand.io.http import HttpClient, HttpReply, HttpRequest

TIMEOUT_MS = 10_000.0
CONNECTIONS = 16
_THERE = (200, 204)
_CREATED = (200, 201, 202, 204)
_TAKEN = (409, 412)
"""What a server says to a PUT that would replace something."""


class HttpTier:
    """A server that keeps bytes by address, such as a WebDAV folder or a build cache."""

    def __init__(self, url: str, token: str | None = None) -> None:
        self.name = f"the shared cache at {url.split('?', maxsplit=1)[0]}"
        self._url = url.rstrip("/")
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._client = HttpClient(CONNECTIONS)

    async def get(self, key: str) -> bytes | None:
        """What lies under a key; None for nothing. Raises `TierUnavailable`."""
        reply = await self._send("GET", key)
        if reply.status == 404:
            return None
        if reply.status != 200:
            raise TierUnavailable(f"GET was answered with HTTP {reply.status}")
        return reply.body

    async def has(self, key: str) -> bool:
        """Whether something lies under a key. Raises `TierUnavailable`."""
        reply = await self._send("HEAD", key)
        if reply.status not in (*_THERE, 404):
            raise TierUnavailable(f"HEAD was answered with HTTP {reply.status}")
        return reply.status in _THERE

    async def put(self, key: str, body: bytes) -> None:
        """Lay something down, unless something lies there. Raises `TierUnavailable`."""
        if await self.has(key):
            return
        reply = await self._send("PUT", key, body)
        if reply.status not in (*_CREATED, *_TAKEN):
            raise TierUnavailable(f"PUT was answered with HTTP {reply.status}")

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _send(self, method: str, key: str, body: bytes | None = None) -> HttpReply:
        headers = {**self._headers, "If-None-Match": "*"} if method == "PUT" else self._headers
        if body is not None:
            headers = {**headers, "Content-Type": "application/octet-stream"}
        address = f"{self._url}/{key.removeprefix('sha256:')}"
        try:
            return await self._client.send(HttpRequest(method, address, headers, body), timeout_ms=TIMEOUT_MS)
        except ProviderError as error:
            raise TierUnavailable(error.message) from None
