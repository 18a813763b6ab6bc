"""OTLP's JSON form: what writers of it may send."""

from __future__ import annotations

import json
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict
from hypothesis import given
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from evenhand.model.trace import Span
from evenhand.traces import otlp_protobuf
from evenhand.traces.otlp_json import spans_of
from evenhand.traces.wire import Malformed
from traces.test_otlp_protobuf import requests

TRACE = "0af7651916cd43dd8448eb211c80319c"


def everything(trace_id: str) -> bool:
    return True


def received(body: Any) -> list[tuple[str, Span]]:
    return list(spans_of(json.dumps(body).encode(), everything))


def body_with(**fields: Any) -> dict[str, Any]:
    span = {"traceId": TRACE, "spanId": "b7ad6b7169203331", "name": "s", **fields}
    return {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}


def span_with(**fields: Any) -> Span:
    return received(body_with(**fields))[0][1]


@given(requests)
def test_request_in_json_says_what_it_says_in_binary(request: ExportTraceServiceRequest) -> None:
    body = MessageToDict(request, use_integers_for_enums=True)
    assert received(body) == list(otlp_protobuf.spans_of(request.SerializeToString(), everything))


def test_ids_are_read_in_hex_of_any_case() -> None:
    (found,) = received(body_with(traceId=TRACE.upper(), parentSpanId="00F067AA0BA902B7"))
    assert found[0] == TRACE
    assert found[1].parent_span_id == "00f067aa0ba902b7"


def test_times_are_read_from_text_and_numbers() -> None:
    span = span_with(startTimeUnixNano="1700000000000000000", endTimeUnixNano=1700000000250000000)
    assert span.start_ms == 1_700_000_000_000
    assert span.duration_ms == 250


def test_nulls_and_unknown_keys_are_nothing() -> None:
    span = span_with(attributes=None, status=None, events=[{"name": 1}], later="new")
    assert span.status_code == 0
    assert span.attributes == {"otel.span.kind": "unspecified", "otel.span.kind_code": 0}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'{"resourceSpans": 1}',
        b"\xff",
        b'{"resourceSpans":' + b"[" * 5_000,
        json.dumps(body_with(traceId="abc")).encode(),
        json.dumps(body_with(traceId="0" * 31)).encode(),
        json.dumps(body_with(startTimeUnixNano="-1")).encode(),
        json.dumps(body_with(startTimeUnixNano="9" * 5_000)).encode(),
        json.dumps(body_with(startTimeUnixNano="soon")).encode(),
        json.dumps(body_with(attributes=[{"key": "k", "value": {"intValue": "x"}}])).encode(),
        json.dumps(body_with(attributes=[{"key": "k", "value": {"doubleValue": "x"}}])).encode(),
    ],
)
def test_what_is_no_request_is_malformed(body: bytes) -> None:
    with pytest.raises(Malformed):
        list(spans_of(body, everything))


def test_empty_request_holds_no_span() -> None:
    assert received({}) == []
