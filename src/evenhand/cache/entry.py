"""One kept answer as bytes: a line that says what it is, the answer, and the question it answers.

The same bytes lie in the local store and in shared ones. Whatever is read is held against its checksum, its version,
its key and the types of a response before anybody believes it: a shared store may hold anything.
"""

from __future__ import annotations

import math
import zlib
from typing import Any, NamedTuple

import msgspec

from evenhand.cache.question import Question
from evenhand.model.exchange import Json, Response

VERSION = 1
"""Version of the form of an entry. A reader leaves entries of a newer one alone."""

MAX_ENTRY_BYTES = 64 << 20
"""Bytes of an entry, compressed or not."""
MAX_RAW_BYTES = 64 << 10
"""Bytes of a vendor's raw reply, and of a question, that are kept beside the answer."""
COMPRESS_FROM = 16 << 10
"""Bytes from which an entry is compressed; below, reading it quickly is worth more."""

_ZLIB = 0x78
_LEVEL = 1


class Head(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The first line of an entry."""

    v: int
    key: str
    crc: int
    """CRC-32 of everything after the first line."""
    created: float
    """Seconds since 1970 by the clock of whoever made it; nothing but displays and `gc` looks at it."""
    provider: str = ""
    test: str = ""


class Entry(NamedTuple):
    """A kept answer that was read."""

    head: Head
    response: Response
    question: bytes
    """The question's document; empty where it was too large to keep."""


class BadEntry(Exception):
    """Bytes that are no entry for their key; the message says why."""


class NewerEntry(Exception):
    """An entry that a newer version wrote."""


_ENCODER = msgspec.json.Encoder()
_REFUSALS = (msgspec.MsgspecError, TypeError, ValueError, RecursionError, OverflowError)
"""What the library raises for what is no JSON, or none that it brings back."""
_HEAD = msgspec.json.Decoder(Head)
_RESPONSE = msgspec.json.Decoder(Response)


def entry_bytes(question: Question, document: bytes, shown: bytes, created: float) -> bytes:
    """An entry with the response's document, and the question's as it may be shown."""
    rest = document + b"\n" + (shown if len(shown) <= MAX_RAW_BYTES else b"")
    head = Head(
        v=VERSION,
        key=question.key,
        crc=zlib.crc32(rest),
        created=created,
        provider=question.provider,
        test=question.test,
    )
    body = _ENCODER.encode(head) + b"\n" + rest
    return body if len(body) < COMPRESS_FROM else zlib.compress(body, _LEVEL)


def response_document(response: Response) -> bytes | None:
    """A response as JSON, or None where JSON does not bring it back as it was."""
    kept = msgspec.structs.replace(response, cached=False, cache_key=None, request=None)
    document = _encoded(kept)
    if document is None or len(document) > MAX_RAW_BYTES:  # else the raw reply, a part of it, is small
        kept = msgspec.structs.replace(kept, raw=_raw_if_small(response.raw))
        document = _encoded(kept)
    if document is None or len(document) >= MAX_ENTRY_BYTES:
        return None
    try:
        back = _RESPONSE.decode(document)
    except _REFUSALS:
        return None
    return document if back == kept else None


def read_entry(body: bytes, key: str) -> Entry:
    """The entry in bytes that lie under a key. Raises `BadEntry`, and `NewerEntry` for one to be left alone."""
    body = _unpacked(body)
    line, _, rest = body.partition(b"\n")
    try:
        head = _HEAD.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise BadEntry(f"its head cannot be read ({error})") from None
    if head.v > VERSION:
        raise NewerEntry
    if head.key != key:
        raise BadEntry("it answers another question")
    if zlib.crc32(rest) != head.crc:
        raise BadEntry("its checksum is wrong")
    document, _, question = rest.partition(b"\n")
    try:
        response = _RESPONSE.decode(document)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise BadEntry(f"its answer cannot be read ({error})") from None
    _refuse_unsound(response)
    return Entry(head, response, question)


def entry_text(body: bytes) -> str:
    """An entry as one text, to search in. Raises `BadEntry`."""
    return _unpacked(body).decode("utf-8", "replace")


def _unpacked(body: bytes) -> bytes:
    if body[:1] != bytes((_ZLIB,)):
        return body
    unpacker = zlib.decompressobj()
    try:
        unpacked = unpacker.decompress(body, MAX_ENTRY_BYTES)
    except zlib.error as error:
        raise BadEntry(f"it cannot be decompressed ({error})") from None
    if unpacker.unconsumed_tail or not unpacker.eof:
        raise BadEntry(f"it is cut off, or larger than {MAX_ENTRY_BYTES:,} bytes")
    return unpacked


def _raw_if_small(raw: Json) -> Json:
    document = None if raw is None else _encoded(raw)
    return raw if document is not None and len(document) <= MAX_RAW_BYTES else None


def _encoded(value: Any) -> bytes | None:
    """The value as JSON, None for what is none."""
    try:
        return _ENCODER.encode(value)
    except _REFUSALS:
        return None


def _refuse_unsound(response: Response) -> None:
    numbers: list[Any] = [response.cost_usd, response.latency_ms]
    usage = response.usage
    if usage is not None:
        numbers += [getattr(usage, name) for name in usage.__struct_fields__]
    for number in numbers:
        if number is not None and not (math.isfinite(number) and number >= 0):
            raise BadEntry(f"it holds the amount {number!r}")
    if response.attempts < 0:
        raise BadEntry(f"it says that it took {response.attempts} attempts")
