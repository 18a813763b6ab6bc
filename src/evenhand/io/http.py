"""Calls over HTTP: one client with open connections, whole time limits, bounded bodies, and failures by class.

The only module that knows the HTTP library, which is imported when the first call is made: it takes longer to load
than a small run takes to run.
"""

from __future__ import annotations

import asyncio
import email.utils
import io
import socket
import time
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from evenhand.errors import ErrorClass, ProviderError
from evenhand.io.hosts import HostGuard
from evenhand.io.quota_headers import header_number
from evenhand.text.excerpt import escaped
from evenhand.version import __version__

if TYPE_CHECKING:
    import aiohttp

BODY_LIMIT = 64 * 1024 * 1024
"""Bytes of an answer, decompressed."""
_LARGE_BODY = 512 * 1024
BODY_IN_MESSAGES = 500
"""Characters of a refused call's body that its message quotes."""
USER_AGENT = f"evenhand/{__version__}"


class HttpRequest(NamedTuple):
    """A finished call."""

    method: str
    url: str
    headers: Mapping[str, str] = {}
    body: bytes | None = None

    def carrying(self, traceparent: str | None) -> HttpRequest:
        """The call with a W3C trace context, where there is one and the call has none of its own."""
        if traceparent is None or any(name.lower() == "traceparent" for name in self.headers):
            return self
        return self._replace(headers={**self.headers, "traceparent": traceparent})


class HttpReply(NamedTuple):
    """What came back; the names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text; bytes that are no UTF-8 are replaced."""
        return self.body.decode("utf-8", "replace")


class HttpClient:
    """Connections that are used again, at most `connections` at once."""

    def __init__(self, connections: int, guard: HostGuard | None = None) -> None:
        """`guard` refuses calls to hosts that it does not know, before anything is sent."""
        self._connections = connections
        self._guard = guard
        self._session: aiohttp.ClientSession | None = None
        self._proxies: dict[tuple[str, str | None], str | None] = {}
        self._looking_up = asyncio.Lock()

    async def send(self, request: HttpRequest, *, timeout_ms: float) -> HttpReply:
        """The reply to a call, whatever its status. Redirects are not followed: they would carry keys elsewhere.

        `timeout_ms` bounds the whole exchange. Raises `ProviderError` where no whole reply came.
        """
        import aiohttp

        if self._guard is not None:
            self._guard.check(request.url)
        try:
            proxy = await self._proxy_for(request.url)
            async with self._opened().request(
                request.method,
                request.url,
                headers=request.headers,
                data=_payload(request.body),
                allow_redirects=False,
                proxy=proxy,
                timeout=_whole(timeout_ms),
            ) as response:
                body = await _bounded(response)
                headers = {name.lower(): value for name, value in response.headers.items()}
                return HttpReply(response.status, headers, body)
        except TimeoutError:
            raise ProviderError(
                f"no answer within {timeout_ms:g} ms", ErrorClass.PROVIDER_TIMEOUT, retriable=True
            ) from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise _transport_error(error, request.url) from None

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            import aiohttp

            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=self._connections),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"User-Agent": USER_AGENT},
            )
        return self._session

    async def _proxy_for(self, url: str) -> str | None:
        """The proxy that the environment names for an address, looked up once for each host.

        The HTTP library does the same for every single call, in threads, which takes longer than the call itself.
        """
        parts = urlsplit(url)
        origin = (parts.scheme, parts.hostname)
        if origin not in self._proxies:
            async with self._looking_up:  # the first calls of a run all come at once
                if origin not in self._proxies:
                    self._proxies[origin] = await asyncio.to_thread(_proxy_of, *origin)
        return self._proxies[origin]


@lru_cache(maxsize=64)  # a provider has one, and making it takes longer than looking it up
def _whole(timeout_ms: float) -> aiohttp.ClientTimeout:
    """The limit on a whole exchange."""
    import aiohttp

    return aiohttp.ClientTimeout(total=timeout_ms / 1_000)


def _proxy_of(scheme: str, host: str | None) -> str | None:
    """The proxy of the environment, `NO_PROXY` heeded. May look up the host's name on some systems."""
    import urllib.request

    if host is None or urllib.request.proxy_bypass(host):
        return None
    return urllib.request.getproxies().get(scheme)


def _payload(body: bytes | None) -> bytes | io.BytesIO | None:
    """The body as the HTTP library wants it: a large one in pieces, so that the event loop is not held up."""
    return io.BytesIO(body) if body is not None and len(body) > _LARGE_BODY else body


async def _bounded(response: aiohttp.ClientResponse) -> bytes:
    length = response.content_length
    # What is announced and not compressed cannot grow beyond the limit while it is read.
    if length is not None and length <= BODY_LIMIT and "Content-Encoding" not in response.headers:
        return await response.read()
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > BODY_LIMIT:
            message = f"the answer is larger than {BODY_LIMIT >> 20} MB"
            raise ProviderError(message, ErrorClass.PROVIDER_PROTOCOL)
    return bytes(body)


def _transport_error(error: Exception, url: str) -> ProviderError:
    """Why no whole reply came: who must act, and whether the same call may succeed later."""
    import aiohttp

    said = escaped(str(error))[:BODY_IN_MESSAGES] or type(error).__name__
    if isinstance(error, aiohttp.InvalidURL | aiohttp.NonHttpUrlClientError | ValueError):
        reason = address_fault(url) or said
        return ProviderError(f"the address {url!r} cannot be called: {reason}", ErrorClass.PROVIDER_REQUEST)
    if isinstance(error, aiohttp.ClientSSLError):
        hint = "; the server does not speak https there: try http" if "WRONG_VERSION_NUMBER" in said else ""
        return ProviderError(f"no secure connection: {said}{hint}", ErrorClass.PROVIDER_PROTOCOL)
    if isinstance(error, aiohttp.ClientConnectionError | OSError):
        reason = _why_not_connected(error) or said
        return ProviderError(f"no connection: {reason}", ErrorClass.PROVIDER_UNAVAILABLE, retriable=True)
    if isinstance(error, aiohttp.ClientPayloadError) and "encoding" not in said.lower():
        return ProviderError(f"the answer broke off: {said}", ErrorClass.PROVIDER_UNAVAILABLE, retriable=True)
    return ProviderError(f"the answer is no HTTP: {said}", ErrorClass.PROVIDER_PROTOCOL)


def _why_not_connected(error: Exception) -> str:
    """What kept a connection from coming about, where the HTTP library says it in a way of its own; else empty."""
    import aiohttp

    if not isinstance(error, aiohttp.ClientConnectorError):
        return ""
    cause, host = error.os_error, escaped(str(error.host))
    if isinstance(cause, socket.gaierror):
        return f"the host name {host!r} cannot be looked up ({cause.strerror}); check the address"
    if isinstance(cause, ConnectionRefusedError):
        return f"nothing listens at {host}:{error.port}; check the address, and that the server runs"
    return ""


def address_fault(url: str) -> str:
    """What is wrong with an address as such, empty where it could be called."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        return f"{str(error)[:1].lower()}{str(error)[1:]}"
    if parts.scheme not in ("http", "https"):
        return "it must begin with http:// or https://"
    if not parts.hostname:
        return "it names no host"
    return "a port is between 1 and 65535" if port == 0 else ""


STATUS_CLASSES: tuple[tuple[range, ErrorClass, bool], ...] = (
    (range(200, 300), ErrorClass.PROVIDER_PROTOCOL, False),
    (range(429, 430), ErrorClass.PROVIDER_RATE_LIMIT, True),
    (range(401, 402), ErrorClass.PROVIDER_AUTH, False),
    (range(403, 404), ErrorClass.PROVIDER_AUTH, False),
    (range(500, 600), ErrorClass.PROVIDER_UNAVAILABLE, True),
)
"""The class of a failure by status, and whether the same call may succeed later; the first range that fits counts.

A success that holds an error breaks the protocol; every status that is not listed refuses the request as it is.
"""


OVERLOAD_STATUSES = (429, 503, 529)
"""Statuses that say that a server has too much to do; 529 is Anthropic's."""


def status_class(status: int) -> tuple[ErrorClass, bool]:
    """The class that a failure with this status has, and whether it may be tried again."""
    for statuses, error_class, retriable in STATUS_CLASSES:
        if status in statuses:
            return error_class, retriable
    return ErrorClass.PROVIDER_REQUEST, False


def refused(reply: HttpReply) -> ProviderError | None:
    """The failure that a reply's status tells, None for a success."""
    if 200 <= reply.status < 300:
        return None
    error_class, retriable = status_class(reply.status)
    said = escaped(reply.body[: BODY_IN_MESSAGES * 4].decode("utf-8", "replace").strip())[:BODY_IN_MESSAGES]
    message = f"HTTP {reply.status}: {said}" if said else f"HTTP {reply.status}"
    if 300 <= reply.status < 400 and "location" in reply.headers:
        message = f"HTTP {reply.status}: moved to {reply.headers['location'][:BODY_IN_MESSAGES]!r}; call that address"
    wait = retry_after_ms(reply.headers, time.time()) if retriable else None
    return ProviderError(
        message,
        error_class,
        retriable=retriable,
        retry_after_ms=wait,
        is_overload=reply.status in OVERLOAD_STATUSES,
    )


def retry_after_ms(headers: Mapping[str, str], now: float) -> float | None:
    """The wait in milliseconds that a server asks for, None where it asks for none that can be understood.

    `Retry-After` holds seconds or a date (RFC 9110, section 10.2.3); `retry-after-ms` is finer and comes first.
    `now` is in seconds since 1970.
    """
    finer = header_number(headers.get("retry-after-ms"))
    if finer is not None:
        return finer
    written = headers.get("retry-after")
    seconds = header_number(written)
    if seconds is not None:
        return seconds * 1_000
    if written is None:
        return None
    try:
        moment = email.utils.parsedate_to_datetime(written).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None
    return max(0.0, round((moment - now) * 1_000, 3))
