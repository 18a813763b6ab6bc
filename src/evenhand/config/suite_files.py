"""Everything that a suite's texts refer to, read inside its sandbox."""

from __future__ import annotations

from typing import Any, NamedTuple

from evenhand.config.digest import Digests
from evenhand.config.file_document import DOCUMENT_EXTENSIONS, ReadDocument, read_document
from evenhand.config.file_values import FileValues, Locate
from evenhand.config.regular_file import read_bounded_text
from evenhand.config.sandbox import Sandbox
from evenhand.errors import Location, Problem, SuiteError

MAX_KEPT_DOCUMENTS = 1_000
"""Transcripts that are kept for the cases that follow."""


class ReadText(NamedTuple):
    """The text of a file and what messages call it."""

    text: str
    name: str


class SuiteFiles:
    """The files of one load.

    Every method raises `SuiteError`; a problem without a location belongs where the reference stands.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self._values = FileValues(sandbox)
        self._digests = Digests(sandbox)
        self._transcripts: dict[str, ReadDocument] = {}

    def text(self, reference: str) -> ReadText:
        """The text of a prompt, or of a turn's content, that stands in a file."""
        file = self.sandbox.data_file(reference)
        return ReadText(read_bounded_text(file.path, file.name), file.name)

    def transcript(self, reference: str) -> ReadDocument:
        """The turns of a history that stand in a YAML or JSON file as a list."""
        if reference in self._transcripts:
            return self._transcripts[reference]
        file = self.sandbox.data_file(reference)
        if file.extension not in DOCUMENT_EXTENSIONS:
            hint = f"use one of {', '.join(DOCUMENT_EXTENSIONS)}"
            raise SuiteError(
                [
                    Problem(
                        f"unsupported transcript extension {file.extension!r}", (), hint, Location(file.name)
                    )
                ]
            )
        document = read_document(file)
        if not isinstance(document.value, list):
            raise SuiteError([Problem("a transcript must hold a list of turns", (), "", document.locate(()))])
        if len(self._transcripts) < MAX_KEPT_DOCUMENTS:
            self._transcripts[reference] = document
        return document

    def resolved(self, value: Any, locate: Locate) -> Any:
        """The value with every `{$file: …}` in it replaced by what the file holds."""
        return self._values.resolve(value, locate)

    def salt(self, pattern: str) -> str:
        """The cache salt that follows the content of the files that a pattern names."""
        return self._digests.salt_of(pattern)

    def path(self, reference: str) -> str:
        """The path of an existing file of data, relative to the suite's folder."""
        return self.sandbox.data_file(reference).relative
