"""JSONL and NDJSON: one case per line, streamed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from evenhand.config.json_text import BadJson, decode_json, offset_of
from evenhand.config.raw_case import RawCase
from evenhand.config.regular_file import open_regular, open_utf8
from evenhand.config.sources.source import FileSource
from evenhand.config.wording import found
from evenhand.errors import DocumentPath, Location, Problem, SuiteError

MAX_LINE_BYTES = 16 * 1024 * 1024
"""Bytes of one line."""


class JsonLinesSource(FileSource):
    """The cases of a file that holds one JSON object per line; blank lines are passed over."""

    def _read(self) -> Iterator[RawCase | Problem]:
        path, name, prefix, is_data = self.file.path, self.file.name, self.id_prefix, self.is_data
        index = 0
        with open_utf8(path, name) as stream:
            for number, offset, line in _lines(stream):
                if not line.strip():
                    continue
                try:
                    document = _object(line)
                except BadJson as error:
                    place = Location(name, number, error.offset + 1)
                    yield Problem(error.message, error.path, error.hint, place)
                else:
                    if is_data and (b"{{" in line or b"{%" in line):
                        self._warn_of_template(document, number)
                    yield RawCase(
                        document=document,
                        auto_id=f"{prefix}/{index}",
                        origin=LineOrigin(name, number, path, offset),
                        is_data=is_data,
                    )
                index += 1
        if not index:
            self._warn("holds no cases", "write one JSON object per line")


class LineOrigin(msgspec.Struct, frozen=True, gc=False):
    """The place of a case that is a line of a file. The line is read again when a value in it is looked for."""

    file: str
    line: int
    path: Path
    offset: int

    def locate(self, path: DocumentPath) -> Location:
        """The place of the value at `path`, or of its nearest ancestor that exists."""
        if not path:
            return Location(self.file, self.line, 1)
        try:
            with open_regular(self.path, self.file) as stream:
                stream.seek(self.offset)
                text = stream.readline(MAX_LINE_BYTES).decode()
            return Location(self.file, self.line, offset_of(text, path) + 1)
        except (SuiteError, OSError, ValueError, IndexError):
            return Location(self.file, self.line)


def _lines(stream: BinaryIO) -> Iterator[tuple[int, int, bytes]]:
    """Each line with its 1-based number and the offset of its first byte.

    Of a line that is too long, the first bytes: one more than is allowed.
    """
    readline = stream.readline
    number, offset = 0, stream.tell()
    while line := readline(MAX_LINE_BYTES + 1):
        number += 1
        length = len(line)
        yield number, offset, line
        if length > MAX_LINE_BYTES:
            while (rest := readline(MAX_LINE_BYTES)) and not rest.endswith(b"\n"):
                length += len(rest)
            length += len(rest)
        offset += length


def _object(line: bytes) -> dict[str, Any]:
    if len(line) > MAX_LINE_BYTES:
        raise BadJson(
            f"the line is longer than {MAX_LINE_BYTES // 1024**2} MiB", hint="keep large values in files"
        )
    document = decode_json(line)
    if type(document) is not dict:
        raise BadJson(f"a line must hold an object with the keys of a test, found {found(document)}")
    return document
