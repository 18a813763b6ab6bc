"""`{$file: path, parse?: bool, raw?: bool}` in a value, replaced by what the file holds.

YAML and JSON files are parsed unless `parse` is false, all others are text. With `raw` the content is marked as no
template. Marks inside a parsed file are replaced as well; every path is relative to the suite's folder.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evenhand.config.file_document import DOCUMENT_EXTENSIONS, ReadDocument, read_document
from evenhand.config.regular_file import read_bounded_text
from evenhand.config.sandbox import FoundFile, Sandbox
from evenhand.config.wording import found
from evenhand.errors import DocumentPath, Location, Problem, SuiteError
from evenhand.registry import nearest
from evenhand.template.val import is_raw

FILE_MARK = "$file"

MAX_NESTED_FILES = 8
"""Files that may lead from one to the next."""

MAX_KEPT_BYTES = 256 * 1024 * 1024
"""Bytes of files whose content is kept for the cases that follow."""

_OPTIONS = ("parse", "raw")

Locate = Callable[[DocumentPath], Location]

Note = Callable[[FoundFile, Any], None]
"""Hears of each file that was read and what it held."""


class FileValues:
    """What the files that one suite's values refer to hold; each is read once.

    A value is shared between the cases that name its file and must not be changed.
    """

    def __init__(self, sandbox: Sandbox, note: Note | None = None) -> None:
        self._sandbox = sandbox
        self._note = note
        self._kept: dict[tuple[str, bool, bool], Any] = {}
        self._kept_bytes = 0

    def resolve(self, value: Any, locate: Locate) -> Any:
        """The value with every mark in it replaced; the value itself where there is none.

        `locate` finds the places of its parts. Raises `SuiteError` with every problem.
        """
        if not _has_mark(value):
            return value
        resolution = _Resolution(self, locate)
        resolved = resolution.replace(value, ())
        if resolution.problems:
            raise SuiteError(resolution.problems)
        return resolved

    def load(self, reference: str, *, parse: bool, raw: bool, chain: tuple[str, ...]) -> Any:
        """What a file holds, its own marks replaced unless `raw`; `chain` are the files that led to it.

        Raises `SuiteError`.
        """
        key = (reference, parse, raw)
        if key in self._kept:
            return self._kept[key]
        file = self._sandbox.data_file(reference)
        if not parse or file.extension not in DOCUMENT_EXTENSIONS:
            content = read_bounded_text(file.path, file.name)
        elif raw:
            content = read_document(file).value
        else:
            content = self._with_nested(file, chain)
        if self._note:
            self._note(file, content)
        if self._kept_bytes + file.size_bytes <= MAX_KEPT_BYTES:
            self._kept_bytes += file.size_bytes
            self._kept[key] = content
        return content

    def _with_nested(self, file: FoundFile, chain: tuple[str, ...]) -> Any:
        if file.relative in chain:
            circle = " → ".join([*chain[chain.index(file.relative) :], file.relative])
            raise SuiteError([Problem(f"the files lead back to themselves: {circle}")])
        if len(chain) >= MAX_NESTED_FILES:
            raise SuiteError([Problem(f"more than {MAX_NESTED_FILES} files lead from one to the next")])
        document: ReadDocument = read_document(file)
        if not _has_mark(document.value):
            return document.value
        resolution = _Resolution(self, document.locate, (*chain, file.relative))
        content = resolution.replace(document.value, ())
        if resolution.problems:
            raise SuiteError(resolution.problems)
        return content


class _Resolution:
    """The marks of one document being replaced."""

    def __init__(self, files: FileValues, locate: Locate, chain: tuple[str, ...] = ()) -> None:
        self._files = files
        self._locate = locate
        self._chain = chain
        self.problems: list[Problem] = []

    def replace(self, value: Any, path: DocumentPath) -> Any:
        if isinstance(value, dict):
            if FILE_MARK in value:
                return self._loaded(value, path)
            if is_raw(value):
                return value
            return {key: self.replace(item, (*path, key)) for key, item in value.items()}
        if isinstance(value, list):
            return [self.replace(item, (*path, index)) for index, item in enumerate(value)]
        return value

    def _loaded(self, mark: dict[str, Any], path: DocumentPath) -> Any:
        if not self._is_valid(mark, path):
            return None
        try:
            parse, raw = mark.get("parse", True), mark.get("raw", False)
            content = self._files.load(mark[FILE_MARK], parse=parse, raw=raw, chain=self._chain)
        except SuiteError as error:
            self._adopt(error, path)
            return None
        return {"$raw": content} if raw else content

    def _is_valid(self, mark: dict[str, Any], path: DocumentPath) -> bool:
        before = len(self.problems)
        if not isinstance(mark[FILE_MARK], str):
            self._report(f"`$file` must be a string path, found {found(mark[FILE_MARK])}", (*path, FILE_MARK))
        for key, option in mark.items():
            if key in _OPTIONS and not isinstance(option, bool):
                self._report(f"`{key}` of `$file` must be true or false, found {found(option)}", (*path, key))
            elif key != FILE_MARK and key not in _OPTIONS:
                meant = nearest(key, _OPTIONS)
                hint = f"did you mean {meant!r}?" if meant else "its options are `parse` and `raw`"
                self._report(f"unknown `$file` option {key!r}", (*path, key), hint)
        return len(self.problems) == before

    def _report(self, message: str, path: DocumentPath, hint: str = "") -> None:
        self.problems.append(Problem(message, path, hint, self._locate(path)))

    def _adopt(self, error: SuiteError, path: DocumentPath) -> None:
        """Take over the problems of a file; those without a place of their own belong to the mark."""
        for problem in error.problems:
            placed = problem.location is not None
            self.problems.append(
                problem if placed else problem._replace(path=path, location=self._locate(path))
            )


def _has_mark(value: Any) -> bool:
    if isinstance(value, dict):
        if FILE_MARK in value:
            return True
        return not is_raw(value) and any(_has_mark(item) for item in value.values())
    return isinstance(value, list) and any(_has_mark(item) for item in value)
