"""Calls over HTTP to real servers that behave and misbehave."""

from __future__ import annotations

import asyncio
import email.utils
import gzip
from typing import Any

import pytest
from aiohttp import web

from evenhand.errors import ProviderError
from evenhand.io.http import HttpClient, HttpReply, HttpRequest, refused, retry_after_ms
from support.servers import serving, status
from support.vectors import row_id, topic


def fetch(*replies: Any, timeout_ms: float = 10_000, path: str = "/x") -> HttpReply:
    async def work() -> HttpReply:
        async with serving(*replies) as server:
            client = HttpClient(4)
            try:
                return await client.send(
                    HttpRequest("POST", server.url + path, {}, b"{}"), timeout_ms=timeout_ms
                )
            finally:
                await client.close()

    return asyncio.run(work())


def failure(*replies: Any, timeout_ms: float = 10_000) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        fetch(*replies, timeout_ms=timeout_ms)
    return caught.value


@pytest.mark.parametrize("row", topic("provider-http"), ids=row_id)
def test_status_vector(row: dict[str, Any]) -> None:
    error = refused(HttpReply(row["suite_fragment"]["http_status"], {}, b"no"))
    assert error is not None
    assert (error.error_class, error.retriable) == (
        row["expected"]["error_class"],
        row["expected"]["retriable"],
    )


@pytest.mark.parametrize(
    ("code", "error_class", "retriable"),
    [
        (400, "provider_request", False),
        (401, "provider_auth", False),
        (403, "provider_auth", False),
        (404, "provider_request", False),
        (429, "provider_rate_limit", True),
        (500, "provider_unavailable", True),
        (529, "provider_unavailable", True),
        (304, "provider_request", False),
    ],
)
def test_a_status_decides_the_class(code: int, error_class: str, retriable: bool) -> None:
    reply = fetch(status(code, "" if code == 304 else "why not"))
    error = refused(reply)
    assert error is not None
    assert (error.error_class, error.retriable) == (error_class, retriable)
    assert error.message.startswith(f"HTTP {code}")


def test_a_success_is_no_failure() -> None:
    assert refused(fetch({"a": 1})) is None


def test_a_redirect_is_not_followed_and_says_where_it_leads() -> None:
    reply = fetch(status(302, Location="http://elsewhere.example/"))
    error = refused(reply)
    assert error is not None
    assert "http://elsewhere.example/" in error.message


def test_the_message_of_a_failure_is_short_and_visible() -> None:
    error = refused(HttpReply(500, {}, b"\x1b[31m" + b"x" * 10_000))
    assert error is not None
    assert len(error.message) < 600
    assert "\x1b" not in error.message


@pytest.mark.parametrize(
    ("headers", "wait_ms"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7_000),
        ({"retry-after": "0.5"}, 500),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": email.utils.formatdate(1_000_030, usegmt=True)}, 30_000),
        ({"retry-after": email.utils.formatdate(999_000, usegmt=True)}, 0),
        ({"retry-after": "7", "retry-after-ms": "120"}, 120),
    ],
)
def test_a_wait_is_read_in_seconds_and_as_a_date(headers: dict[str, str], wait_ms: float | None) -> None:
    assert retry_after_ms(headers, 1_000_000) == wait_ms


def test_a_wait_counts_only_beside_a_failure_that_may_pass() -> None:
    limited = refused(HttpReply(429, {"retry-after": "2"}, b""))
    wrong = refused(HttpReply(400, {"retry-after": "2"}, b""))
    assert limited is not None
    assert limited.retry_after_ms == 2_000
    assert wrong is not None
    assert wrong.retry_after_ms is None


async def hang(request: web.Request) -> web.Response:
    await asyncio.sleep(60)
    return web.Response()


async def drip(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    for _ in range(600):
        await response.write(b".")
        await asyncio.sleep(0.1)
    return response


@pytest.mark.parametrize("reply", [hang, drip])
def test_the_whole_exchange_is_bounded_in_time(reply: Any) -> None:
    error = failure(reply, timeout_ms=300)
    assert (error.error_class, error.retriable) == ("provider_timeout", True)


async def half(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Length": "1000"})
    await response.prepare(request)
    await response.write(b"half of it")
    assert request.transport is not None
    request.transport.close()
    return response


async def reset(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


@pytest.mark.parametrize("reply", [half, reset])
def test_a_broken_exchange_may_be_tried_again(reply: Any) -> None:
    error = failure(reply)
    assert (error.error_class, error.retriable) == ("provider_unavailable", True)


def test_a_body_is_bounded_after_decompression(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenhand.io.http.BODY_LIMIT", 1_000_000)
    packed = gzip.compress(b"x" * 30_000_000)
    assert len(packed) < 100_000

    async def bomb(_: web.Request) -> web.Response:
        return web.Response(body=packed, headers={"Content-Encoding": "gzip"})

    error = failure(bomb)
    assert (error.error_class, error.retriable) == ("provider_protocol", False)
    assert "larger than" in error.message


def test_a_compressed_body_is_read() -> None:
    async def packed(_: web.Request) -> web.Response:
        return web.Response(body=gzip.compress(b"hello"), headers={"Content-Encoding": "gzip"})

    assert fetch(packed).text == "hello"


def test_a_wrong_compression_breaks_the_protocol() -> None:
    async def lie(_: web.Request) -> web.Response:
        return web.Response(body=b"not gzip at all", headers={"Content-Encoding": "gzip"})

    assert failure(lie).error_class == "provider_protocol"


@pytest.mark.parametrize("url", ["no-scheme", "http://", "ftp://x/", "http://127.0.0.1:99999/"])
def test_an_address_that_cannot_be_called_is_the_requests_fault(url: str) -> None:
    async def work() -> None:
        client = HttpClient(1)
        try:
            await client.send(HttpRequest("GET", url), timeout_ms=2_000)
        finally:
            await client.close()

    with pytest.raises(ProviderError) as caught:
        asyncio.run(work())
    assert (caught.value.error_class, caught.value.retriable) == ("provider_request", False)


def test_nobody_listening_may_be_tried_again() -> None:
    async def work() -> None:
        async with serving({}) as server:
            url = server.url
        client = HttpClient(1)
        try:
            await client.send(HttpRequest("GET", url), timeout_ms=5_000)
        finally:
            await client.close()

    with pytest.raises(ProviderError) as caught:
        asyncio.run(work())
    assert (caught.value.error_class, caught.value.retriable) == ("provider_unavailable", True)


def test_connections_are_used_again() -> None:
    async def work() -> tuple[int, int]:
        async with serving({"a": 1}) as server:
            client = HttpClient(4)
            for _ in range(20):
                await client.send(HttpRequest("POST", server.url, {}, b"{}"), timeout_ms=5_000)
            await client.close()
            return len(server.seen), len(server.connections)

    assert asyncio.run(work()) == (20, 1)


def test_a_cancelled_call_ends_at_once() -> None:
    async def work() -> None:
        async with serving(hang) as server:
            client = HttpClient(1)
            call = asyncio.ensure_future(client.send(HttpRequest("GET", server.url), timeout_ms=60_000))
            while not server.seen:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            await client.close()

    asyncio.run(asyncio.wait_for(work(), 10))


def proxied(monkeypatch: pytest.MonkeyPatch, *urls: str) -> list[str]:
    """The hosts for which a proxy that the environment names was asked."""

    async def work() -> list[str]:
        async with serving({"a": 1}) as server:
            for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "no_proxy"):
                monkeypatch.delenv(name, raising=False)
            monkeypatch.setenv("http_proxy", server.url)
            client = HttpClient(4)
            try:
                for url in urls:
                    await client.send(HttpRequest("GET", url), timeout_ms=5_000)
            finally:
                await client.close()
            return [call.headers["host"] for call in server.seen]

    return asyncio.run(work())


def test_the_proxy_that_the_environment_names_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    urls = ("http://one.example/x", "http://one.example/y", "http://two.example/x")
    assert proxied(monkeypatch, *urls) == ["one.example", "one.example", "two.example"]


def test_first_calls_that_come_together_look_for_the_proxy_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up: list[str | None] = []

    def no_proxy(scheme: str, host: str | None) -> None:
        looked_up.append(host)

    async def work() -> None:
        async with serving({"a": 1}) as server:
            client = HttpClient(8)
            calls = (client.send(HttpRequest("GET", server.url), timeout_ms=5_000) for _ in range(8))
            await asyncio.gather(*calls)
            await client.close()

    monkeypatch.setattr("evenhand.io.http._proxy_of", no_proxy)
    asyncio.run(work())
    assert looked_up == ["127.0.0.1"]


def test_hosts_that_the_environment_excepts_are_called_without_the_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def work() -> int:
        async with serving({"a": 1}) as server:
            monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
            monkeypatch.setenv("no_proxy", "127.0.0.1")
            client = HttpClient(1)
            try:
                reply = await client.send(HttpRequest("GET", server.url), timeout_ms=5_000)
            finally:
                await client.close()
            return reply.status

    assert asyncio.run(work()) == 200


def test_a_name_for_the_program_in_the_headers_wins() -> None:
    async def work() -> list[str]:
        async with serving({}) as server:
            client = HttpClient(1)
            for headers in ({}, {"user-agent": "mine"}):
                await client.send(HttpRequest("GET", server.url, headers), timeout_ms=5_000)
            await client.close()
            return [call.headers["user-agent"] for call in server.seen]

    ours, mine = asyncio.run(work())
    assert ours.startswith("evenhand/")
    assert mine == "mine"


def test_ten_megabytes_are_read_whole() -> None:
    async def large(_: web.Request) -> web.Response:
        return web.Response(body=b"x" * 10_000_000)

    assert len(fetch(large).body) == 10_000_000


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_a_body_that_was_compressed_on_the_way_is_read(coding: str) -> None:
    async def packed(_: web.Request) -> web.Response:
        response = web.Response(body=b"hello " * 1_000)
        response.enable_compression(web.ContentCoding(coding))
        return response

    assert fetch(packed).text == "hello " * 1_000


def test_an_announced_length_above_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenhand.io.http.BODY_LIMIT", 1_000)

    async def large(_: web.Request) -> web.Response:
        return web.Response(body=b"x" * 2_000)

    assert failure(large).error_class == "provider_protocol"


def test_trace_context_goes_along_unless_the_call_has_its_own() -> None:
    call = HttpRequest("POST", "http://127.0.0.1", {"A": "1"})
    assert call.carrying(None) is call
    assert call.carrying("00-x").headers == {"A": "1", "traceparent": "00-x"}
    own = HttpRequest("POST", "http://127.0.0.1", {"TraceParent": "00-mine"})
    assert own.carrying("00-x") is own


@pytest.mark.parametrize(
    ("url", "message"),
    [
        (
            "http://127.0.0.1:9/ask",
            "no connection: nothing listens at 127.0.0.1:9; check the address, and that the server runs",
        ),
        ("http://nowhere.invalid/", "no connection: the host name 'nowhere.invalid' cannot be looked up"),
        ("localhost:9/ask", "'localhost:9/ask' cannot be called: it must begin with http:// or https://"),
        ("http:///ask", "'http:///ask' cannot be called: it names no host"),
        ("http://127.0.0.1:99999/", "cannot be called: port out of range 0-65535"),
    ],
)
def test_why_nobody_was_reached_is_said_in_plain_words(url: str, message: str) -> None:
    async def work() -> None:
        client = HttpClient(1)
        try:
            await client.send(HttpRequest("GET", url, {}), timeout_ms=20_000)
        finally:
            await client.close()

    with pytest.raises(ProviderError) as caught:
        asyncio.run(work())
    assert message in str(caught.value)


def test_https_to_a_server_without_it_says_so() -> None:
    async def work() -> None:
        client = HttpClient(1)
        async with serving({}) as server:
            try:
                await client.send(
                    HttpRequest("GET", server.url.replace("http://", "https://"), {}), timeout_ms=20_000
                )
            finally:
                await client.close()

    with pytest.raises(ProviderError, match="the server does not speak https there: try http"):
        asyncio.run(work())
