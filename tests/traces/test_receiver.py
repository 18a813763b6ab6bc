"""The receiver over real connections: what it takes, and what it turns away."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import socket
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import aiohttp
import pytest

from evenhand.errors import ServerError
from evenhand.model.suite import Tracing
from evenhand.traces import receiver as module
from evenhand.traces.collector import Collector
from evenhand.traces.environment import variables_set
from evenhand.traces.receiver import receiving
from traces.test_otlp_protobuf import ExportTraceServiceRequest

JSON = "application/json"
PROTOBUF = "application/x-protobuf"
NAME = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
TRACING = Tracing(enabled=True, wait_ms=0)

Work = Callable[[aiohttp.ClientSession, Collector], Awaitable[Any]]


def with_receiver(work: Work, tracing: Tracing = TRACING) -> Any:
    async def run() -> Any:
        async with receiving(tracing) as collector, aiohttp.ClientSession() as client:
            return await work(client, collector)

    return asyncio.run(run())


def body_for(trace_id: str) -> dict[str, Any]:
    span = {"traceId": trace_id, "spanId": "b7ad6b7169203331", "name": "s"}
    return {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}


def posted(
    make: Callable[[str], bytes], *, path: str = "/v1/traces", method: str = "POST", **headers: str
) -> tuple[int, bytes, list[str]]:
    """The status, the body of the answer, and the names of the spans that came through."""

    async def work(client: aiohttp.ClientSession, collector: Collector) -> tuple[int, bytes, list[str]]:
        with collector.watch() as watch:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            async with client.request(
                method, collector.endpoint + path, data=make(watch.trace_id), headers=named
            ) as answer:
                body = await answer.read()
            return answer.status, body, [span.name for span in watch.trace().spans]

    return with_receiver(work)  # type: ignore[no-any-return]


def as_json(trace_id: str) -> bytes:
    return json.dumps(body_for(trace_id)).encode()


def as_protobuf(trace_id: str) -> bytes:
    span = {"trace_id": bytes.fromhex(trace_id), "span_id": b"12345678", "name": "s"}
    return ExportTraceServiceRequest(
        resource_spans=[{"scope_spans": [{"spans": [span]}]}]
    ).SerializeToString()


def test_spans_come_as_json() -> None:
    status, answer, names = posted(as_json, Content_Type=f"{JSON}; charset=utf-8")
    assert (status, json.loads(answer), names) == (200, {"partialSuccess": {}}, ["s"])


def test_spans_come_as_protocol_buffers() -> None:
    assert posted(as_protobuf, Content_Type=PROTOBUF) == (200, b"", ["s"])


@pytest.mark.parametrize(("encoding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
def test_spans_come_compressed(encoding: str, pack: Callable[[bytes], bytes]) -> None:
    found = posted(lambda i: pack(as_protobuf(i)), Content_Type=PROTOBUF, Content_Encoding=encoding)
    assert found == (200, b"", ["s"])


def test_large_request_is_read_aside() -> None:
    def many(trace_id: str) -> bytes:
        body = body_for(trace_id)
        spans = body["resourceSpans"][0]["scopeSpans"][0]["spans"]
        spans += [{**spans[0], "spanId": f"{n:016x}", "name": str(n)} for n in range(1, 900)]
        return json.dumps(body).encode()

    status, _, names = posted(many, Content_Type=JSON)
    assert (status, len(names)) == (200, 900)


@pytest.mark.parametrize("path", ["/v1/metrics", "/v1/logs"])
def test_other_signals_are_taken_and_dropped(path: str) -> None:
    assert posted(lambda _: b"\xff", path=path, Content_Type=PROTOBUF) == (200, b"", [])


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        (415, {"Content_Type": "text/plain"}),
        (403, {"Content_Type": JSON, "Host": "attacker.example"}),
        (404, {"Content_Type": JSON, "path": "/v1/other"}),
        (405, {"Content_Type": JSON, "method": "GET"}),
        (400, {"Content_Type": PROTOBUF}),
        (400, {"Content_Type": JSON, "Content_Encoding": "gzip"}),
        (400, {"Content_Type": JSON, "Content_Encoding": "br"}),
    ],
)
def test_what_is_no_request_for_spans_is_turned_away(status: int, headers: dict[str, str]) -> None:
    found, _, names = posted(as_json, **headers)
    assert (found, names) == (status, [])


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:80", "[::1]:4318"])
def test_every_name_of_loopback_is_served(host: str) -> None:
    assert posted(as_json, Content_Type=JSON, Host=host)[0] == 200


def test_bomb_is_refused_before_it_unfolds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BODY", 1_000_000)
    bomb = gzip.compress(bytes(50_000_000))
    assert len(bomb) < 1_000_000
    assert posted(lambda _: bomb, Content_Type=JSON, Content_Encoding="gzip")[0] == 400


def test_compressed_body_that_breaks_off_is_refused() -> None:
    found = posted(lambda i: gzip.compress(as_json(i))[:-9], Content_Type=JSON, Content_Encoding="gzip")
    assert found[0] == 400


def test_body_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BODY", 1_000)
    assert posted(lambda _: b" " * 5_000, Content_Type=JSON)[0] == 413


def test_slow_senders_keep_nobody_waiting() -> None:
    head = f"POST /v1/traces HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {JSON}\r\nContent-Length: 9000\r\n\r\n{{"

    async def work(client: aiohttp.ClientSession, collector: Collector) -> list[str]:
        port = int(collector.endpoint.rsplit(":", 1)[1])
        slow = [await asyncio.open_connection("127.0.0.1", port) for _ in range(40)]
        for _, writer in slow:
            writer.write(head.encode())
            await writer.drain()
        with collector.watch() as watch:
            url, body = collector.endpoint + "/v1/traces", as_json(watch.trace_id)
            for _ in range(3):
                async with client.post(url, data=body, headers={"Content-Type": JSON}) as answer:
                    assert answer.status == 200
            # None of the slow ones has been given up meanwhile: nobody waited for that.
            assert collector.refused == 0
            names = [span.name for span in watch.trace().spans]
        for _, writer in slow:
            writer.close()
        return names

    assert with_receiver(work)[0] == "s"


def test_request_that_takes_too_long_as_a_whole_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "READ_S", 0.2)

    async def dripping() -> AsyncIterator[bytes]:
        for _ in range(200):
            yield b" "
            await asyncio.sleep(0.02)

    async def work(client: aiohttp.ClientSession, collector: Collector) -> int:
        url = collector.endpoint + "/v1/traces"
        async with client.post(url, data=dripping(), headers={"Content-Type": JSON}) as answer:
            return answer.status

    assert with_receiver(work) == 408


def test_more_than_can_be_held_at_once_is_sent_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_HELD", 1_000)
    assert posted(lambda _: b" " * 5_000, Content_Type=JSON)[0] == 503
    assert posted(as_json, Content_Type=JSON)[0] == 200


def test_port_that_is_taken_is_an_error_that_says_so() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        async def work(client: aiohttp.ClientSession, collector: Collector) -> None:
            raise AssertionError(collector.endpoint)

        with pytest.raises(ServerError, match=f"tracing.port: cannot listen at 127.0.0.1:{port}"):
            with_receiver(work, Tracing(enabled=True, port=port))


def test_receiver_listens_at_the_port_of_the_suite_on_loopback_alone() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    async def work(client: aiohttp.ClientSession, collector: Collector) -> str:
        return collector.endpoint

    assert with_receiver(work, Tracing(enabled=True, port=port)) == f"http://127.0.0.1:{port}"


def test_standard_variables_name_the_receiver_while_it_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://elsewhere:4318")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://elsewhere:4318/v1/traces")
    monkeypatch.setenv("TRACEPARENT", "00-outer")

    async def work(client: aiohttp.ClientSession, collector: Collector) -> tuple[str, dict[str, str]]:
        return collector.endpoint, {k: v for k, v in os.environ.items() if k.startswith(("OTEL_", "TRACE"))}

    endpoint, seen = with_receiver(work)
    assert seen["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] == f"{endpoint}/v1/traces"
    assert seen["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"] == "http/protobuf"
    assert seen["OTEL_EXPORTER_OTLP_ENDPOINT"] == "http://elsewhere:4318"
    assert "TRACEPARENT" not in seen
    assert os.environ["TRACEPARENT"] == "00-outer"
    assert os.environ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] == "http://elsewhere:4318/v1/traces"
    assert "OTEL_BSP_SCHEDULE_DELAY" not in os.environ


def test_where_runs_overlap_the_latest_that_goes_on_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NAME, raising=False)
    first, second = variables_set("http://127.0.0.1:1"), variables_set("http://127.0.0.1:2")
    first.__enter__()
    second.__enter__()
    assert os.environ[NAME] == "http://127.0.0.1:2/v1/traces"
    first.__exit__(None, None, None)
    assert os.environ[NAME] == "http://127.0.0.1:2/v1/traces"
    second.__exit__(None, None, None)
    assert NAME not in os.environ
