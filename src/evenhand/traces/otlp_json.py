"""Spans in the JSON form of OTLP: names in camel case, ids in hex, large integers as text.

See https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding. Ids in base64, which generic writers of protocol
buffers make, are taken as well: the lengths differ.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from evenhand.model.trace import Span
from evenhand.traces.limits import (
    MAX_DEPTH,
    MAX_ITEMS,
    TOO_DEEP,
    kept_number,
    kept_text,
    made_span,
    with_scope,
)
from evenhand.traces.wire import Malformed

_HEX = re.compile(r"[0-9a-fA-F]*")
_INTEGER_DIGITS = 25

Number = int | float | str | None


class _Part(msgspec.Struct, frozen=True, rename="camel"):
    """A message: what it does not name is passed over, and null stands for what is absent."""


class _List(_Part, frozen=True):
    values: list[_Value] | None = None


class _Mapping(_Part, frozen=True):
    values: list[_KeyValue] | None = None


class _Value(_Part, frozen=True):
    string_value: str | None = None
    bool_value: bool | None = None
    int_value: Number = None
    double_value: Number = None
    array_value: _List | None = None
    kvlist_value: _Mapping | None = None
    bytes_value: str | None = None


class _KeyValue(_Part, frozen=True):
    key: str = ""
    value: _Value | None = None


class _Status(_Part, frozen=True):
    code: int | None = None
    message: str | None = None


class _Span(_Part, frozen=True):
    trace_id: str | None = None
    span_id: str | None = None
    parent_span_id: str | None = None
    name: str | None = None
    kind: int | None = None
    start_time_unix_nano: Number = None
    end_time_unix_nano: Number = None
    attributes: list[_KeyValue] | None = None
    status: _Status | None = None


class _Scope(_Part, frozen=True):
    name: str | None = None
    version: str | None = None


class _ScopeSpans(_Part, frozen=True):
    scope: _Scope | None = None
    spans: list[_Span] | None = None


class _Resource(_Part, frozen=True):
    attributes: list[_KeyValue] | None = None


class _ResourceSpans(_Part, frozen=True):
    resource: _Resource | None = None
    scope_spans: list[_ScopeSpans] | None = None


class _Request(_Part, frozen=True):
    resource_spans: list[_ResourceSpans] | None = None


_DECODER = msgspec.json.Decoder(_Request)


def spans_of(body: bytes, is_wanted: Callable[[str], bool]) -> Iterator[tuple[str, Span]]:
    """The wanted spans of a request, each with the id of its trace in hex. Raises `Malformed`."""
    try:
        request = _DECODER.decode(body)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise Malformed(str(error)) from None
    for resource_spans in request.resource_spans or ():
        resource = _attributes(resource_spans.resource.attributes if resource_spans.resource else None)
        for scope_spans in resource_spans.scope_spans or ():
            scope = scope_spans.scope or _Scope()
            for span in scope_spans.spans or ():
                trace_id = _id(span.trace_id, 16)
                if is_wanted(trace_id):
                    yield trace_id, _span(span, resource, scope)


def _span(span: _Span, resource: dict[str, Any], scope: _Scope) -> Span:
    status = span.status or _Status()
    attributes = {**resource, **_attributes(span.attributes)}
    return made_span(
        span_id=_id(span.span_id, 8),
        parent_span_id=_id(span.parent_span_id, 8),
        name=span.name or "",
        start_ns=_moment(span.start_time_unix_nano),
        end_ns=_moment(span.end_time_unix_nano),
        attributes=with_scope(attributes, scope.name or "", scope.version or "", span.kind or 0),
        status_code=status.code or 0,
        status_message=status.message or "",
    )


def _id(text: str | None, size: int) -> str:
    """An id of so many bytes in hex; empty where there is none. Raises `Malformed`."""
    if not text:
        return ""
    if len(text) == 2 * size and _HEX.fullmatch(text):
        return text.lower()
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        data = b""
    if len(data) != size:
        raise Malformed(f"an id has {size} bytes, found {text[:64]!r}")
    return data.hex()


def _moment(value: Number) -> int:
    """Nanoseconds since 1970 that fit 64 bits. Raises `Malformed`."""
    moment = _integer(value)
    if not 0 <= moment < 2**64:
        raise Malformed(f"a time has 64 bits, found {value!r}")
    return moment


def _integer(value: Number) -> int:
    try:
        if isinstance(value, str) and len(value) <= _INTEGER_DIGITS:
            return int(value)
        if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
            return int(value)
    except ValueError:
        pass
    if value is None:
        return 0
    raise Malformed(f"an integer was expected, found {str(value)[:64]!r}")


def _float(value: float | str) -> float:
    try:
        return float(value)
    except (ValueError, OverflowError):
        raise Malformed(f"a number was expected, found {str(value)[:64]!r}") from None


def _attributes(pairs: list[_KeyValue] | None, depth: int = 0) -> dict[str, Any]:
    return {kept_text(pair.key): _value(pair.value, depth) for pair in (pairs or ())[:MAX_ITEMS]}


def _value(value: _Value | None, depth: int) -> Any:
    if value is None:
        return None
    if value.string_value is not None:
        return kept_text(value.string_value)
    if value.bool_value is not None:
        return value.bool_value
    if value.int_value is not None:
        return _integer(value.int_value)
    if value.double_value is not None:
        return kept_number(_float(value.double_value))
    if value.bytes_value is not None:
        return kept_text(value.bytes_value)
    if depth >= MAX_DEPTH and (value.array_value or value.kvlist_value):
        return TOO_DEEP
    if value.array_value is not None:
        return [_value(item, depth + 1) for item in (value.array_value.values or ())[:MAX_ITEMS]]
    if value.kvlist_value is not None:
        return _attributes(value.kvlist_value.values, depth + 1)
    return None
