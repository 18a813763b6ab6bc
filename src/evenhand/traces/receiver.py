"""The receiver of a run: OTLP over HTTP on loopback, for the systems under test of that run alone."""

from __future__ import annotations

import asyncio
import contextlib
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING

from evenhand.errors import ServerError
from evenhand.model.suite import Tracing
from evenhand.model.trace import Span
from evenhand.traces import otlp_json, otlp_protobuf
from evenhand.traces.collector import Collector
from evenhand.traces.environment import variables_set
from evenhand.traces.wire import Malformed

if TYPE_CHECKING:
    from aiohttp import web

HOST = "127.0.0.1"
TRACES_PATH = "/v1/traces"
UNUSED_PATHS = ("/v1/metrics", "/v1/logs")
"""Further signals that SDKs send to the same place: they are taken, so that nobody complains, and dropped."""
MAX_BODY = 16 * 1024 * 1024
"""Bytes of a request, as sent and decompressed."""
SMALL_BODY = 16 * 1024
"""Bytes that are read in less time than a thread takes to start."""
MAX_HELD = 8 * MAX_BODY
"""Bytes of requests that are held at once, so that many large ones take no more memory than that."""
READ_S = 10.0
"""Seconds that a request may take to arrive as a whole."""
SHUTDOWN_S = 1.0
"""Seconds that requests get to end once the run is over."""

Decode = Callable[[bytes, Callable[[str], bool]], Iterator[tuple[str, Span]]]

PROTOBUF = "application/x-protobuf"
JSON = "application/json"
_DECODERS: dict[str, Decode] = {PROTOBUF: otlp_protobuf.spans_of, JSON: otlp_json.spans_of}
_ANSWERS = {PROTOBUF: b"", JSON: b'{"partialSuccess":{}}'}
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@contextlib.asynccontextmanager
async def receiving(tracing: Tracing) -> AsyncIterator[Collector]:
    """A receiver that listens and is named in the environment of this process. Raises `ServerError`."""
    from aiohttp import web

    collector = Collector(wait_ms=tracing.wait_ms, max_spans=tracing.max_spans)
    runner = web.ServerRunner(
        web.Server(_Handler(collector).handle, auto_decompress=False, access_log=None),
        shutdown_timeout=SHUTDOWN_S,
    )
    await runner.setup()
    try:
        site = web.TCPSite(runner, HOST, tracing.port)
        try:
            await site.start()
        except OSError as error:
            raise ServerError(
                f"tracing.port: cannot listen at {HOST}:{tracing.port}: {error.strerror or error}; name a free port, "
                "or leave it out to have one chosen"
            ) from None
        port = runner.addresses[0][1]
        collector.endpoint = f"http://{HOST}:{port}"
        with variables_set(collector.endpoint):
            yield collector
        collector.report()
    finally:
        await runner.cleanup()


class _Handler:
    """Reads requests into a collector."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self._held = 0
        self._decoding = asyncio.Lock()

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        from aiohttp import web

        # A page in a browser may be made to call loopback under a name of its own; no SDK does that.
        if not _is_loopback(request.headers.get("Host", "")):
            return web.Response(status=403, text="only loopback addresses are served")
        if request.path not in (TRACES_PATH, *UNUSED_PATHS):
            return web.Response(status=404, text=f"spans are received at {TRACES_PATH}")
        if request.method != "POST":
            return web.Response(status=405, headers={"Allow": "POST"})
        kind = request.headers.get("Content-Type", "").split(";")[0].strip().lower()
        if kind not in _DECODERS:
            return web.Response(status=415, text=f"spans are received as {PROTOBUF} or {JSON}")
        status, why = await self._taken(request, kind)
        if status != 200:
            self._collector.refused += 1
            return web.Response(status=status, text=why)
        return web.Response(body=_ANSWERS[kind], content_type=kind)

    async def _taken(self, request: web.BaseRequest, kind: str) -> tuple[int, str]:
        """Read a request; the status to answer with, and why. Slow senders keep nobody else waiting."""
        body = bytearray()
        try:
            async with asyncio.timeout(READ_S):
                status, why = await self._read(request, body)
            return (status, why) if status != 200 else await self._decoded(request, kind, body)
        except TimeoutError:
            return 408, "the request took too long"
        finally:
            self._held -= len(body)

    async def _read(self, request: web.BaseRequest, body: bytearray) -> tuple[int, str]:
        """Fill in the body as it is sent."""
        async for piece in request.content.iter_any():
            if len(body) + len(piece) > MAX_BODY:
                return 413, f"more than {MAX_BODY >> 20} MB"
            if self._held + len(piece) > MAX_HELD:
                return 503, "too much is being sent at once; try again"
            body += piece
            self._held += len(piece)
        return 200, ""

    async def _decoded(self, request: web.BaseRequest, kind: str, body: bytearray) -> tuple[int, str]:
        if request.path != TRACES_PATH:
            return 200, ""
        decode, encoding = _DECODERS[kind], request.headers.get("Content-Encoding", "")

        def spans() -> list[tuple[str, Span]]:
            return list(decode(_decompressed(bytes(body), encoding), self._collector.is_wanted))

        try:
            async with self._decoding:
                is_small = len(body) <= SMALL_BODY and not encoding
                received = spans() if is_small else await asyncio.to_thread(spans)
        except Malformed as error:
            return 400, str(error)
        self._collector.add(received)
        return 200, ""


def _decompressed(body: bytes, encoding: str) -> bytes:
    """A body without its compression. Raises `Malformed`, also where it would grow too large."""
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        return body
    if encoding not in ("gzip", "deflate"):
        raise Malformed(f"bodies are compressed with gzip or deflate, found {encoding[:40]!r}")
    reader = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
    try:
        plain = reader.decompress(body, MAX_BODY + 1)
    except zlib.error as error:
        raise Malformed(f"the body is not compressed as it says: {error}") from None
    if len(plain) > MAX_BODY:
        raise Malformed(f"more than {MAX_BODY >> 20} MB decompressed")
    if not reader.eof:
        raise Malformed("the compressed body breaks off")
    return plain


def _is_loopback(host: str) -> bool:
    name = host[1:].split("]", maxsplit=1)[0] if host.startswith("[") else host.split(":", maxsplit=1)[0]
    return name.lower() in _LOOPBACK
