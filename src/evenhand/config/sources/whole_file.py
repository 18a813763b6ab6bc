"""YAML and JSON files of cases, which are held whole while they are read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.config.file_document import ReadDocument, read_document
from evenhand.config.raw_case import RawCase
from evenhand.config.sources.source import FileSource
from evenhand.config.wording import found
from evenhand.errors import DocumentPath, Problem, SuiteError
from evenhand.registry import nearest


class WholeFileSource(FileSource):
    """The cases of a file that is a list, or a mapping with the list under `tests`."""

    _kept: ReadDocument | None = None

    def _read(self) -> Iterator[RawCase | Problem]:
        document = self._document()
        base, cases = self._list(document)
        for index, case in enumerate(cases):
            path: DocumentPath = (*base, index)
            if not isinstance(case, dict):
                message = f"a test must be a mapping, found {found(case)}"
                yield Problem(message, path, "", document.locate(path))
                continue
            yield RawCase(
                document=case,
                auto_id=f"{self.id_prefix}/{index}",
                origin=document,
                base_path=path,
                is_data=self.is_data,
            )
            if self.is_data and not self._has_warned:
                self._warn_of_template(case, document.locate(path).line)
        if not cases:
            self._warn("holds no cases", "write a list of tests")

    def _document(self) -> ReadDocument:
        """The file's document: YAML, which is slow to read, once; JSON anew, so that it is not held."""
        if self._kept is not None:
            return self._kept
        document = read_document(self.file)
        if self.file.extension != ".json":
            self._kept = document
        return document

    def _list(self, document: ReadDocument) -> tuple[DocumentPath, list[Any]]:
        """Where the list of cases is in the document, and the list."""
        value = document.value
        base: DocumentPath = ()
        if isinstance(value, dict):
            self._check_keys(value, document)
            base, value = ("tests",), value.get("tests")
        if isinstance(value, list):
            return base, value
        message = f"must hold a list of tests, found {found(value)}"
        hint = "write a list, or a mapping with the list under `tests`"
        raise SuiteError([Problem(message, base, hint, document.locate(base))])

    def _check_keys(self, value: dict[str, Any], document: ReadDocument) -> None:
        """Refuse keys beside `tests`; `x-…` is free, for anchors."""
        unknown = [key for key in value if key != "tests" and not key.startswith("x-")]
        if not unknown:
            return
        problems = []
        for key in unknown:
            meant = nearest(key, ["tests"])
            hint = "did you mean `tests`?" if meant else "a file of tests holds `tests` alone"
            problems.append(Problem(f"unknown key {key!r}", (key,), hint, document.locate((key,))))
        raise SuiteError(problems)
