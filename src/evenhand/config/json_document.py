"""A JSON file held whole, with the places of its values found when someone asks."""

from __future__ import annotations

import codecs
from bisect import bisect_right
from pathlib import Path
from typing import Any

from evenhand.config.json_text import BadJson, decode_json, item_offsets, offset_of
from evenhand.config.regular_file import read_bounded, read_bounded_text
from evenhand.errors import DocumentPath, Location, Problem, SuiteError

MAX_JSON_BYTES = 256 * 1024 * 1024
"""Bytes of a JSON file."""

_STREAM = "write one object per line into a `.jsonl` file, which is never held whole"


def read_json_document(path: Path, name: str) -> JsonDocument:
    """The document of a JSON file called `name` in messages. Raises `SuiteError`."""
    data = read_bounded(path, name, MAX_JSON_BYTES, _STREAM).removeprefix(codecs.BOM_UTF8)
    if not data.strip():
        raise SuiteError([Problem("the file is empty", location=Location(name))])
    try:
        return JsonDocument(decode_json(data), path, name)
    except BadJson as error:
        text = data.decode(errors="replace")
        place = _Places(text).location(name, error.offset)
        raise SuiteError([Problem(error.message, error.path, error.hint, place)]) from None


class JsonDocument:
    """A value read from JSON. The text is read again, once, when a place is asked for."""

    __slots__ = ("_path", "_places", "file", "value")

    def __init__(self, value: Any, path: Path, file: str) -> None:
        self.value = value
        self.file = file
        self._path = path
        self._places: _Places | None = None

    def locate(self, path: DocumentPath) -> Location:
        """The place of the value at `path`, or of its nearest ancestor that exists; just the file if it changed."""
        try:
            if self._places is None:
                self._places = _Places(read_bounded_text(self._path, self.file, MAX_JSON_BYTES))
            return self._places.location(self.file, self._places.offset(path))
        except (SuiteError, ValueError, IndexError):
            return Location(self.file)


class _Places:
    """Where lines, and the items of the lists on the way, begin in a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._items: dict[DocumentPath, list[int]] = {}
        self._lines: list[int] = []

    def offset(self, path: DocumentPath) -> int:
        depth = next((index for index, step in enumerate(path) if isinstance(step, int)), None)
        if depth is None:
            return offset_of(self._text, path)
        holder, index = path[:depth], int(path[depth])
        if holder not in self._items:
            self._items[holder] = item_offsets(self._text, holder)
        items = self._items[holder]
        if index >= len(items):
            return offset_of(self._text, holder)
        return offset_of(self._text, path[depth + 1 :], items[index])

    def location(self, file: str, offset: int) -> Location:
        if not self._lines:
            self._lines = [0]
            while found := self._text.find("\n", self._lines[-1]) + 1:
                self._lines.append(found)
        line = bisect_right(self._lines, offset)
        return Location(file, line, offset - self._lines[line - 1] + 1)
