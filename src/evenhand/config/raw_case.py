"""A case as a source holds it, before defaults and typing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import msgspec

from evenhand.errors import DocumentPath, Location, Problem


class Origin(Protocol):
    """Knows where in a file each value of a document stands."""

    def locate(self, path: DocumentPath) -> Location:
        """The place of the value at `path`, or of its nearest ancestor that exists."""
        ...


class RawCase(msgspec.Struct, frozen=True, kw_only=True):
    """The keys of one test as they were read.

    `auto_id` is the id of a case that gives none. With `is_data`, var values are sent as they are and never
    rendered; assertion values are templates in every source.
    """

    document: dict[str, Any]
    auto_id: str
    origin: Origin
    base_path: DocumentPath = ()
    """Where the case stands in its origin's document: problems are located at `base_path + path`."""
    is_data: bool = False


class CaseSource(Protocol):
    """One place that cases come from: read again from its start by each iteration, never held whole if it streams."""

    def __iter__(self) -> Iterator[RawCase | Problem]:
        """The cases in their order; a row that cannot be read comes as a located problem in its place."""
        ...
