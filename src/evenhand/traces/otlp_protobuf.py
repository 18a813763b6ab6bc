"""Spans in the binary form of OTLP: an `ExportTraceServiceRequest`.

The numbers of the fields are those of https://github.com/open-telemetry/opentelemetry-proto. Everything that no
assertion sees, such as events and links, is passed over.
"""

from __future__ import annotations

import base64
import struct
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

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
from evenhand.traces.wire import BYTES, FIXED64, VARINT, Malformed, fields, signed

STRING, BOOL, INTEGER, DOUBLE, ARRAY, KEY_VALUES, RAW = range(1, 8)
"""The members of an `AnyValue`."""
_WIRE_TYPES = {
    STRING: BYTES,
    BOOL: VARINT,
    INTEGER: VARINT,
    DOUBLE: FIXED64,
    ARRAY: BYTES,
    KEY_VALUES: BYTES,
    RAW: BYTES,
}


def spans_of(body: bytes, is_wanted: Callable[[str], bool]) -> Iterator[tuple[str, Span]]:
    """The wanted spans of a request, each with the id of its trace in hex. Raises `Malformed`."""
    for resource_spans in _messages(body)[1]:
        parts = _messages(resource_spans)
        resource = _attributes(_messages(b"".join(parts[1]))[1])
        for scope_spans in parts[2]:
            scoped = _messages(scope_spans)
            scope = _Fields(b"".join(scoped[1]))
            name, version = scope.text(1), scope.text(2)
            for data in scoped[2]:
                span = _Fields(data)
                trace_id = span.raw(1).hex()
                if is_wanted(trace_id):
                    yield trace_id, _span(span, resource, name, version)


class _Fields:
    """The fields of a message by their number: the last of single values, all of the repeated ones."""

    def __init__(self, data: bytes) -> None:
        self.messages: dict[int, list[bytes]] = defaultdict(list)
        self._numbers: dict[tuple[int, int], int] = {}
        for number, wire_type, value in fields(data):
            if wire_type == BYTES:
                self.messages[number].append(value)
            else:
                self._numbers[number, wire_type] = value

    def raw(self, number: int) -> bytes:
        found = self.messages.get(number)
        return found[-1] if found else b""

    def text(self, number: int) -> str:
        return _text(self.raw(number))

    def merged(self, number: int) -> bytes:
        """An embedded message; where it comes in parts, these together are one."""
        return b"".join(self.messages.get(number, ()))

    def number(self, number: int, wire_type: int) -> int:
        return self._numbers.get((number, wire_type), 0)


def _messages(data: bytes) -> dict[int, list[bytes]]:
    return _Fields(data).messages


def _span(span: _Fields, resource: dict[str, Any], scope_name: str, scope_version: str) -> Span:
    status = _Fields(span.merged(15))
    kind = signed(span.number(6, VARINT), 32)
    attributes = {**resource, **_attributes(span.messages.get(9, []))}
    return made_span(
        span_id=span.raw(2).hex(),
        parent_span_id=span.raw(4).hex(),
        name=span.text(5),
        start_ns=span.number(7, FIXED64),
        end_ns=span.number(8, FIXED64),
        attributes=with_scope(attributes, scope_name, scope_version, kind),
        status_code=signed(status.number(3, VARINT), 32),
        status_message=status.text(2),
    )


def _attributes(pairs: list[bytes], depth: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for data in pairs[:MAX_ITEMS]:
        pair = _Fields(data)
        found[kept_text(pair.text(1))] = _value(pair.merged(2), depth)
    return found


def _value(data: bytes, depth: int) -> Any:
    """An `AnyValue`: of several members the last one counts, and parts of one list or mapping are one."""
    member: int = 0
    value: Any = None
    for number, wire_type, found in fields(data):
        if _WIRE_TYPES.get(number) != wire_type:
            continue
        is_more = number == member and number in (ARRAY, KEY_VALUES)
        member, value = number, value + found if is_more else found
    if member == STRING:
        return kept_text(_text(value))
    if member == BOOL:
        return bool(value)
    if member == INTEGER:
        return signed(value, 64)
    if member == DOUBLE:
        return kept_number(struct.unpack("<d", value.to_bytes(8, "little"))[0])
    if member == RAW:
        return kept_text(base64.b64encode(value).decode())
    if member in (ARRAY, KEY_VALUES) and depth >= MAX_DEPTH:
        return TOO_DEEP
    if member == ARRAY:
        return [_value(item, depth + 1) for item in _messages(value)[1][:MAX_ITEMS]]
    return _attributes(_messages(value)[1], depth + 1) if member == KEY_VALUES else None


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Malformed("a text is not UTF-8") from None
