"""The own reader of OTLP's binary form, held against the classes that protocol buffers generate."""

from __future__ import annotations

import base64
import math
from typing import Any

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span as ProtoSpan

from evenhand.model.trace import Span
from evenhand.traces.limits import KINDS, MAX_ATTRIBUTES, MAX_DEPTH, MAX_TEXT, TOO_DEEP
from evenhand.traces.otlp_protobuf import spans_of
from evenhand.traces.wire import Malformed

TRACE = bytes(range(1, 17))
SPAN = bytes(range(1, 9))


def everything(trace_id: str) -> bool:
    return True


def received(body: bytes) -> list[tuple[str, Span]]:
    return list(spans_of(body, everything))


def plain(value: AnyValue) -> Any:
    """What a value stands for, read with the generated classes."""
    member = value.WhichOneof("value")
    if member is None:
        return None
    found = getattr(value, member)
    if member == "array_value":
        return [plain(item) for item in found.values]
    if member == "kvlist_value":
        return {item.key: plain(item.value) for item in found.values}
    if member == "bytes_value":
        return base64.b64encode(found).decode()
    if member == "double_value" and not math.isfinite(found):
        return "NaN" if found != found else "Infinity" if found > 0 else "-Infinity"
    return found


def expected(request: ExportTraceServiceRequest) -> list[tuple[str, Span]]:
    found = []
    for resource_spans in request.resource_spans:
        resource = {pair.key: plain(pair.value) for pair in resource_spans.resource.attributes}
        for scope_spans in resource_spans.scope_spans:
            for span in scope_spans.spans:
                attributes = {**resource, **{pair.key: plain(pair.value) for pair in span.attributes}}
                if scope_spans.scope.name:
                    attributes["otel.scope.name"] = scope_spans.scope.name
                if scope_spans.scope.version:
                    attributes["otel.scope.version"] = scope_spans.scope.version
                attributes["otel.span.kind"] = KINDS[span.kind] if 0 <= span.kind < 6 else KINDS[0]
                attributes["otel.span.kind_code"] = span.kind
                parent = span.parent_span_id.hex()
                made = Span(
                    span_id=span.span_id.hex(),
                    parent_span_id=parent if parent.strip("0") else None,
                    name=span.name,
                    start_ms=span.start_time_unix_nano / 1_000_000,
                    end_ms=span.end_time_unix_nano / 1_000_000 if span.end_time_unix_nano else None,
                    attributes=attributes,
                    status_code=span.status.code,
                    status_message=span.status.message or None,
                )
                found.append((span.trace_id.hex(), made))
    return found


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
values = st.recursive(
    st.builds(AnyValue)
    | st.builds(AnyValue, string_value=texts)
    | st.builds(AnyValue, bool_value=st.booleans())
    | st.builds(AnyValue, int_value=st.integers(-(2**63), 2**63 - 1))
    | st.builds(AnyValue, double_value=st.floats())
    | st.builds(AnyValue, bytes_value=st.binary(max_size=20)),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: AnyValue(array_value={"values": items}))
        | st.dictionaries(texts, inner, max_size=3).map(
            lambda items: AnyValue(
                kvlist_value={"values": [KeyValue(key=k, value=v) for k, v in items.items()]}
            )
        )
    ),
    max_leaves=6,
)
attributes = st.dictionaries(texts, values, max_size=4).map(
    lambda items: [KeyValue(key=key, value=value) for key, value in items.items()]
)
times = st.integers(0, 2**64 - 1)
spans = st.builds(
    ProtoSpan,
    trace_id=st.binary(min_size=16, max_size=16),
    span_id=st.binary(min_size=8, max_size=8),
    parent_span_id=st.just(b"") | st.just(bytes(8)) | st.binary(min_size=8, max_size=8),
    name=texts,
    kind=st.integers(0, 7),
    start_time_unix_nano=times,
    end_time_unix_nano=times,
    attributes=attributes,
    status=st.fixed_dictionaries({"code": st.integers(0, 2), "message": texts}),
    events=st.lists(st.fixed_dictionaries({"name": texts}), max_size=1),
    flags=st.integers(0, 2**32 - 1),
)
requests = st.builds(
    ExportTraceServiceRequest,
    resource_spans=st.lists(
        st.fixed_dictionaries(
            {
                "resource": st.fixed_dictionaries({"attributes": attributes}),
                "scope_spans": st.lists(
                    st.fixed_dictionaries(
                        {
                            "scope": st.fixed_dictionaries({"name": texts, "version": texts}),
                            "spans": st.lists(spans, max_size=3),
                        }
                    ),
                    max_size=2,
                ),
            }
        ),
        max_size=2,
    ),
)


@given(requests)
def test_request_is_read_as_the_generated_classes_read_it(request: ExportTraceServiceRequest) -> None:
    assert received(request.SerializeToString()) == expected(request)


@given(requests, st.data())
def test_damaged_request_is_refused_or_read_alike(
    request: ExportTraceServiceRequest, data: st.DataObject
) -> None:
    body = bytearray(request.SerializeToString())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(body)))
        body[place : place + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=4))
    read_by_classes = ExportTraceServiceRequest()
    try:
        read_by_classes.ParseFromString(bytes(body))
    except DecodeError:
        is_sound = False
    else:
        is_sound = True
    try:
        found = received(bytes(body))
    except Malformed:
        # This reader is the stricter one where a message that it does not look at is damaged, never the other way.
        return
    if is_sound:
        assert found == expected(read_by_classes)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    try:
        received(body)
    except Malformed:
        return


def request_with(*pairs: KeyValue) -> bytes:
    span = ProtoSpan(trace_id=TRACE, span_id=SPAN, name="s", attributes=pairs)
    request = ExportTraceServiceRequest(resource_spans=[{"scope_spans": [{"spans": [span]}]}])
    return request.SerializeToString()


def attributes_of(body: bytes) -> dict[str, Any]:
    return received(body)[0][1].attributes


def test_deep_value_is_cut_at_the_limit() -> None:
    value = AnyValue(string_value="bottom")
    for _ in range(MAX_DEPTH + 1):
        value = AnyValue(array_value={"values": [value]})
    found = attributes_of(request_with(KeyValue(key="deep", value=value)))["deep"]
    for _ in range(MAX_DEPTH):
        (found,) = found
    assert found == TOO_DEEP


def test_long_text_and_many_attributes_are_cut() -> None:
    pairs = [KeyValue(key=f"k{i}", value=AnyValue(string_value="x")) for i in range(2 * MAX_ATTRIBUTES)]
    pairs[0] = KeyValue(key="k0", value=AnyValue(string_value="x" * (2 * MAX_TEXT)))
    found = attributes_of(request_with(*pairs))
    assert len(found["k0"]) == MAX_TEXT + 1
    assert len(found) == MAX_ATTRIBUTES + 2


def test_span_of_an_unwanted_trace_is_passed_over() -> None:
    assert list(spans_of(request_with(), lambda trace_id: trace_id != TRACE.hex())) == []


@pytest.mark.parametrize(
    "body",
    [
        b"\x0a",
        b"\x0a\x05ab",
        b"\x07",
        b"\x00\x00",
        b"\xff" * 11,
        b"\x0b" * 40,
        b"\x0b\x14",
        b"\x0c",
        b"\x09\x01",
    ],
    ids=[
        "no length",
        "short",
        "wire type 7",
        "field 0",
        "endless number",
        "deep groups",
        "wrong end",
        "lone end",
        "fixed",
    ],
)
def test_broken_wire_format_is_malformed(body: bytes) -> None:
    with pytest.raises(Malformed):
        received(body)


def test_unknown_groups_are_skipped() -> None:
    known = request_with()
    group = b"\xa3\x06\x08\x01\x12\x01x\x19" + bytes(8) + b"\x25" + bytes(4) + b"\xa4\x06"
    assert received(known + group) == received(known)
