"""The value that a YAML or JSON file holds, and where its parts stand."""

from __future__ import annotations

from typing import Any, Protocol

from evenhand.config.json_document import read_json_document
from evenhand.config.regular_file import read_bounded_text
from evenhand.config.sandbox import FoundFile
from evenhand.config.yaml_reader import read_yaml
from evenhand.errors import DocumentPath, Location

MAX_YAML_BYTES = 32 * 1024 * 1024
"""Bytes of a YAML file."""

DOCUMENT_EXTENSIONS = (".json", ".yaml", ".yml")

_STREAM = "keep large data in a `.jsonl` or `.csv` file, which is never held whole"


class ReadDocument(Protocol):
    """A value, and where each part of it stands in its file."""

    value: Any

    def locate(self, path: DocumentPath) -> Location:
        """The place of the value at `path`, or of its nearest ancestor that exists."""
        ...


def read_document(file: FoundFile) -> ReadDocument:
    """The document of a file, JSON if its extension says so, else YAML. Raises `SuiteError`."""
    if file.extension == ".json":
        return read_json_document(file.path, file.name)
    return read_yaml(read_bounded_text(file.path, file.name, MAX_YAML_BYTES, _STREAM), file.name)
