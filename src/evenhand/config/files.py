"""What a suite's texts may be read from: files in its folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from evenhand.config.findings import Place
from evenhand.config.raw_case import Origin

FILE_PREFIX = "file://"


class FileText(NamedTuple):
    """The text of a file and what messages call it."""

    text: str
    name: str


class FileValue(NamedTuple):
    """The value that a YAML or JSON file holds, and where its parts stand."""

    value: Any
    origin: Origin


class Files(Protocol):
    """Reads what a suite refers to; a reference that cannot be followed is reported at its place."""

    def text(self, reference: str, place: Place) -> FileText | None:
        """The text of the file that a reference names."""
        ...

    def value(self, reference: str, place: Place) -> FileValue | None:
        """The value of the YAML or JSON file that a reference names."""
        ...

    def resolved(self, value: Any, place: Place) -> Any:
        """The value with every `{$file: …}` in it replaced by what the file holds."""
        ...

    def salt(self, text: str, variables: Mapping[str, Any], place: Place) -> str:
        """A cache salt with `$digest: <pattern>` replaced by the digest of the files that the pattern names.

        The pattern is a template over `variables`, the case's vars as they are written.
        """
        ...

    def path(self, reference: str, place: Place) -> str | None:
        """The path of an existing file, relative to the suite's folder."""
        ...
