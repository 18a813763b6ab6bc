"""A run as one JSON document: the fields of `Run`, then `cases` with one result a line.

A field that is left out has its default, which `evenhand schema run` shows. The document is written and read case by
case, so that a run larger than memory is no special case.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import msgspec

from evenhand.errors import UsageError
from evenhand.model.result import RESULT_SCHEMA_VERSION, CaseResult, Filters, Run
from evenhand.store.encoding import document_of, run_document_of

Decoded = TypeVar("Decoded")

_RUN = msgspec.json.Decoder(Run)
_CASE = msgspec.json.Decoder(CaseResult)


class _Version(msgspec.Struct):
    schema_version: int


class _Cases(msgspec.Struct):
    cases: list[msgspec.Raw]


def run_document(run: Run, cases: Iterable[CaseResult]) -> Iterator[bytes]:
    """The document of a run in pieces, in the order of `cases`. The header leaves out only what is not known."""
    separator = b"{"
    for name, value in _header(run):
        yield b'%s"%s":%s' % (separator, name.encode(), msgspec.json.encode(value))
        separator = b",\n"
    yield b',\n"cases":['
    separator = b"\n"
    for case in cases:
        yield separator
        yield document_of(case)
        separator = b",\n"
    yield b"\n]}\n"


def _header(run: Run) -> Iterator[tuple[str, Any]]:
    storable = _RUN.decode(run_document_of(run))
    for name in storable.__struct_fields__:
        value = getattr(storable, name)
        if isinstance(value, Filters):
            value = msgspec.structs.asdict(value)
        if value is not None:
            yield name, value


def read_document(document: bytes, *, name: str = "the document") -> tuple[Run, Iterator[CaseResult]]:
    """The run of a document, and its results, each decoded when it is asked for.

    `name` is what errors call the document. Raises `UsageError` for anything but a run document of a version that
    this evenhand knows; a single result that cannot be read raises when its turn comes.
    """
    version = _decoded(msgspec.json.Decoder(_Version), document, name).schema_version
    if version > RESULT_SCHEMA_VERSION:
        raise UsageError(
            f"{name}: written by a newer evenhand, found `schema_version` {version} where this one knows up to "
            f"{RESULT_SCHEMA_VERSION}; upgrade with `pip install --upgrade evenhand`"
        )
    cases = _decoded(msgspec.json.Decoder(_Cases), document, name).cases
    return _decoded(_RUN, document, name), (
        _decoded(_CASE, case, f"{name}: cases[{place}]") for place, case in enumerate(cases)
    )


def _decoded(decoder: msgspec.json.Decoder[Decoded], document: bytes | msgspec.Raw, name: str) -> Decoded:
    try:
        return decoder.decode(document)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise UsageError(
            f"{name}: not a run document, found {error}; give a file that `evenhand run --format json` wrote"
        ) from error
