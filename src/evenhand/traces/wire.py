"""The wire format of protocol buffers, as far as reading takes it (https://protobuf.dev/programming-guides/encoding/).

Pure and bounded: every step consumes input, nothing is kept, and no group nests deeper than `MAX_GROUPS`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

VARINT, FIXED64, BYTES, GROUP, END_GROUP, FIXED32 = range(6)

MAX_GROUPS = 32
MAX_TAG = 2**32 - 1
_MAX_VARINT_BYTES = 10


class Malformed(ValueError):
    """Bytes or text that are no message of the expected form."""


class Field(NamedTuple):
    """One field: its number, its wire type, and its value (an unsigned integer, or bytes)."""

    number: int
    wire_type: int
    value: Any


def fields(data: bytes) -> Iterator[Field]:
    """The fields of a message in their order; groups, which no message here has, are skipped. Raises `Malformed`."""
    position, end = 0, len(data)
    while position < end:
        tag, position = _tag(data, position)
        number, wire_type = tag >> 3, tag & 7
        if wire_type == BYTES:
            length, position = varint(data, position)
            if length > end - position:
                raise Malformed("a field is longer than its message")
            yield Field(number, wire_type, data[position : position + length])
            position += length
        elif wire_type == VARINT:
            value, position = varint(data, position)
            yield Field(number, wire_type, value)
        elif wire_type == GROUP:
            position = _behind_group(data, position, number)
        else:
            value, position = _fixed(data, position, wire_type)
            yield Field(number, wire_type, value)


def varint(data: bytes, position: int) -> tuple[int, int]:
    """An unsigned integer of 64 bits and the place behind it. Raises `Malformed`."""
    value = 0
    for shift in range(0, 7 * _MAX_VARINT_BYTES, 7):
        if position >= len(data):
            raise Malformed("a number breaks off")
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value >> 64:
                raise Malformed("a number has more than 64 bits")
            return value, position
    raise Malformed("a number has more than 64 bits")


def signed(value: int, bits: Literal[32, 64]) -> int:
    """An unsigned integer of the wire as the signed one that its low bits stand for."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _tag(data: bytes, position: int) -> tuple[int, int]:
    tag, position = varint(data, position)
    if tag > MAX_TAG or tag < 8:
        raise Malformed("a field has an impossible number")
    return tag, position


def _fixed(data: bytes, position: int, wire_type: int) -> tuple[int, int]:
    width = {FIXED64: 8, FIXED32: 4}.get(wire_type)
    if width is None:
        raise Malformed(f"a field has an unexpected wire type, found {wire_type}")
    if position + width > len(data):
        raise Malformed("a number breaks off")
    return int.from_bytes(data[position : position + width], "little"), position + width


def _behind_group(data: bytes, position: int, number: int) -> int:
    opened = [number]
    while opened:
        if len(opened) > MAX_GROUPS:
            raise Malformed("groups are nested too deeply")
        tag, position = _tag(data, position)
        number, wire_type = tag >> 3, tag & 7
        if wire_type == GROUP:
            opened.append(number)
        elif wire_type == END_GROUP:
            if opened.pop() != number:
                raise Malformed("a group does not end where it should")
        elif wire_type == VARINT:
            _, position = varint(data, position)
        elif wire_type == BYTES:
            length, position = varint(data, position)
            position += length
            if position > len(data):
                raise Malformed("a field is longer than its message")
        else:
            _, position = _fixed(data, position, wire_type)
    return position
