"""Everything that a suite's texts refer to, read inside its sandbox."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

from evenhand.config.digest import Digests
from evenhand.config.file_document import DOCUMENT_EXTENSIONS, ReadDocument, read_document
from evenhand.config.file_values import FileValues, Locate
from evenhand.config.question_digest import digest_of
from evenhand.config.regular_file import read_bounded, read_bounded_text
from evenhand.config.sandbox import FoundFile, Sandbox
from evenhand.errors import Location, Problem, SuiteError
from evenhand.io.images import MAX_IMAGE_BYTES, image_block, media_type_of

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
        self._values = FileValues(sandbox, self._note)
        self._contents: dict[str, str] = {}
        self._digests = Digests(sandbox)
        self._transcripts: dict[str, ReadDocument] = {}

    def text(self, reference: str) -> ReadText:
        """The text of a prompt, or of a turn's content, that stands in a file."""
        file = self.sandbox.data_file(reference)
        text = read_bounded_text(file.path, file.name)
        self._note(file, text)
        return ReadText(text, file.name)

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
        self._note(file, document.value)
        if len(self._transcripts) < MAX_KEPT_DOCUMENTS:
            self._transcripts[reference] = document
        return document

    def resolved(self, value: Any, locate: Locate) -> Any:
        """The value with every `{$file: …}` in it replaced by what the file holds."""
        return self._values.resolve(value, locate)

    def salt(self, pattern: str) -> str:
        """The cache salt that follows the content of the files that a pattern names."""
        return self._digests.salt_of(pattern)

    def image(self, reference: str) -> dict[str, str]:
        """The content block of an image, whose type is told by its content."""
        file = self.sandbox.data_file(reference)
        data = read_bounded(file.path, file.name, MAX_IMAGE_BYTES, "make the image smaller")
        media_type = media_type_of(data)
        if media_type is None:
            found = "an empty file" if not data else f"the bytes {data[:8].hex(' ')}"
            raise SuiteError(
                [Problem(f"{reference!r} is no image, found {found}", hint="use PNG, JPEG, GIF or WebP")]
            )
        block = image_block(file.relative, data, media_type)
        self._contents[file.relative] = block["sha256"]
        return block

    def script(self, reference: str) -> str:
        """The path of an existing script, relative to the suite's folder."""
        file = self.sandbox.code_file(reference)
        data = read_bounded(file.path, file.name)
        self._contents[file.relative] = hashlib.sha256(data).hexdigest()
        return file.relative

    def digest(self) -> str:
        """sha256 over the names and contents of all files that were read so far."""
        return digest_of(sorted(self._contents.items()))

    def _note(self, file: FoundFile, content: Any) -> None:
        if file.relative not in self._contents:
            self._contents[file.relative] = digest_of(content)
