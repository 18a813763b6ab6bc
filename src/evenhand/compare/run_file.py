"""Run documents in files, as `--format json` and `evenhand export` write them, taken into a store in memory."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

import msgspec

from evenhand.errors import UsageError
from evenhand.model.result import RESULT_SCHEMA_VERSION, CaseResult, Run, RunDocument
from evenhand.store.store import RunStore, open_store

MAX_WHOLE_BYTES = 256 << 20
"""Size up to which a document may be laid out in any way. One case a line, as it was written, may be any size."""

MAX_LINE_BYTES = 512 << 20
"""Size of one case's line."""

_GZIP = b"\x1f\x8b"
_CASES = b' "cases": ['
_MAX_FIELDS = 100
_HEADER = msgspec.json.Decoder(Run)
_CASE = msgspec.json.Decoder(CaseResult)


def read_run_file(path: Path) -> tuple[Run, RunStore]:
    """The run of a file and a store that holds it. Raises `UsageError` for anything but a whole run document."""
    try:
        with _opened(path) as file:
            try:
                return _read_lines(path, file)
            except _OtherLayout as error:
                file.seek(0)
                content = file.read(MAX_WHOLE_BYTES + 1)
                if len(content) > MAX_WHOLE_BYTES:
                    raise _no_document(path, str(error)) from None
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{path}: cannot be read: {reason}; name another run") from None
    return _read_whole(path, content)


def _opened(path: Path) -> BinaryIO:
    """The document's bytes, unpacked where the file is compressed with gzip."""
    with path.open("rb") as file:
        is_packed = file.read(len(_GZIP)) == _GZIP
    return cast(BinaryIO, gzip.open(path)) if is_packed else path.open("rb")


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a document; none is so long that a small compressed file could fill the memory."""
    while line := file.readline(MAX_LINE_BYTES):
        if len(line) == MAX_LINE_BYTES:
            raise OSError(f"a line has more than {MAX_LINE_BYTES >> 20} MB")
        yield line


def _read_whole(path: Path, content: bytes) -> tuple[Run, RunStore]:
    try:
        _refuse_newer(path, msgspec.json.decode(content, type=_Version).schema_version)
        document = msgspec.json.decode(content, type=RunDocument)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise _no_document(path, str(error)) from None
    run = Run(**{name: getattr(document, name) for name in Run.__struct_fields__})
    return run, _stored(path, run, iter(document.cases))


_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
"""What the id of a run may be: it becomes part of addresses, and the name of a file where the run is exported."""


class _Version(msgspec.Struct):
    schema_version: int


class _OtherLayout(Exception):
    """The file is not laid out one case a line; it may be a document all the same."""


def _read_lines(path: Path, file: BinaryIO) -> tuple[Run, RunStore]:
    """A document as it was written: the fields of the run, its cases one a line, the summary."""
    fields: list[bytes] = []
    for line in _lines(file):
        if line.startswith(_CASES) or len(fields) > _MAX_FIELDS:
            break
        fields.append(line)
    if not fields or not line.startswith(_CASES):
        raise _OtherLayout("it ends before its cases")
    start = file.tell()
    if line.rstrip() == _CASES:
        for line in _lines(file):
            if not line.startswith(b"  {"):
                break
    try:
        run = _HEADER.decode(b"".join(fields) + file.read())
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise _OtherLayout(str(error)) from None
    _refuse_newer(path, run.schema_version)
    file.seek(start)
    return run, _stored(path, run, _cases(file))


def _cases(file: BinaryIO) -> Iterator[CaseResult]:
    for line in _lines(file):
        if not line.startswith(b"  {"):
            return
        try:
            yield _CASE.decode(line.strip().removesuffix(b","))
        except (msgspec.MsgspecError, UnicodeError) as error:
            raise _OtherLayout(str(error)) from None


def _stored(path: Path, run: Run, cases: Iterator[CaseResult]) -> RunStore:
    if not _RUN_ID.fullmatch(run.run_id):
        raise _no_document(path, f"`run_id` {run.run_id[:80]!r}, which is no id of a run")
    store = open_store(None)
    writer = store.begin(run)
    try:
        for case in cases:
            if len(case.case_key) != 16:
                raise ValueError(case.case_key)
            int(case.case_key, 16)
            writer.add(case)
    except ValueError as error:
        raise _no_document(path, f"a case key {str(error)!r}") from None
    writer.finish(run)
    return store


def _refuse_newer(path: Path, version: int) -> None:
    if version > RESULT_SCHEMA_VERSION:
        raise UsageError(
            f"{path}: written by a newer evenhand, found `schema_version` {version} where this one knows up to "
            f"{RESULT_SCHEMA_VERSION}; upgrade with `pip install --upgrade evenhand`"
        )


def _no_document(path: Path, found: str) -> UsageError:
    return UsageError(
        f"{path}: no whole run document, found {found}; write one with `evenhand view RUN --format json`"
    )
