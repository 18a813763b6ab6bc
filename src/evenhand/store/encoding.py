"""Results as they stand in the store: JSON documents, many to a compressed block.

Neighbouring results share most of their text (field names, criteria, reasons), so a block of them takes a third of
the space and of the time that compressing each alone does. JSON as msgspec writes it has no line break, so the
documents of a block are its lines.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import msgspec

from evenhand.model.result import CaseResult, CaseStatus, Run
from evenhand.store.rebuilding import MAX_DEPTH, deeper_than, rebuilt, without_surrogates
from evenhand.store.redaction import Redactor
from evenhand.template import authored

MAX_DOCUMENT_BYTES = 512 << 20
"""A result whose document is longer is stored without its texts and data; SQLite refuses a row of 1 GB."""

_ENCODER = msgspec.json.Encoder(enc_hook=authored)
_DECODER = msgspec.json.Decoder(CaseResult)
_RUN_DECODER = msgspec.json.Decoder(Run)
_LEVEL = 1


def document_of(result: CaseResult) -> bytes:
    """The JSON document of a result. What JSON cannot hold leaves a note, and a result is never lost to it."""
    try:
        document = _ENCODER.encode(result)
        openers = document.count(b"{") + document.count(b"[")
        if openers <= MAX_DEPTH or not deeper_than(result, MAX_DEPTH):
            return document if len(document) <= MAX_DOCUMENT_BYTES else _stripped(result, "too large")
    except Exception:  # noqa: BLE001, S110  (objects of the system under test may fail in any way)
        pass
    return _document_of_rebuilt(result)


def _document_of_rebuilt(result: CaseResult) -> bytes:
    try:
        document = _ENCODER.encode(rebuilt(result, without_surrogates))
        _DECODER.decode(document)
    except Exception as error:  # noqa: BLE001  (as above)
        return _stripped(result, f"{type(error).__name__} while it was written")
    return document if len(document) <= MAX_DOCUMENT_BYTES else _stripped(result, "too large")


def _stripped(result: CaseResult, why: str) -> bytes:
    """Who and how it ended, without anything that the system under test said."""
    return _ENCODER.encode(
        CaseResult(
            cell=rebuilt(result.cell, without_surrogates),
            case_key=result.case_key,
            index=result.index,
            name=without_surrogates(result.name),
            status=result.status,
            score=result.score,
            output=f"[not stored: {why}]",
            error_class=result.error_class,
            error=f"[not stored: {why}]" if result.status is CaseStatus.ERROR else None,
            attempts=result.attempts,
            unchecked=result.unchecked,
        )
    )


def without_secrets(document: bytes, redactor: Redactor) -> tuple[bytes, CaseResult]:
    """The document and its result after every secret in it was replaced."""
    result = redactor.clean_value(_DECODER.decode(document))
    return _ENCODER.encode(result), result


def run_document_of(run: Run) -> bytes:
    """The JSON document of a run's header. What JSON cannot hold leaves a note."""
    try:
        if not deeper_than(run, MAX_DEPTH):
            return _ENCODER.encode(run)
    except Exception:  # noqa: BLE001, S110  (a configuration may hold what a plugin put there)
        pass
    return _ENCODER.encode(rebuilt(run, without_surrogates))


def pack_run(run: Run, redactor: Redactor) -> tuple[bytes, Run]:
    """A run's document, compressed, and the run, both without secrets."""
    document = run_document_of(run)
    if redactor.found_in(document):
        document = _ENCODER.encode(redactor.clean_value(_RUN_DECODER.decode(document)))
    return zlib.compress(document, _LEVEL), _RUN_DECODER.decode(document)


def unpack_run(document: bytes) -> Run:
    """The run of a compressed document."""
    return _RUN_DECODER.decode(zlib.decompress(document))


def result_of(document: bytes) -> CaseResult:
    """The result of a stored document. Raises `msgspec.MsgspecError` for anything else."""
    return _DECODER.decode(document)


def pack(documents: Sequence[bytes]) -> bytes:
    """Several documents as one block."""
    return zlib.compress(b"\n".join(documents), _LEVEL)


def unpack(block: bytes) -> list[bytes]:
    """The documents of a block, in their order. Raises `zlib.error` where the block is damaged."""
    return zlib.decompress(block).split(b"\n")
