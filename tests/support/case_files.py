"""Files of cases on disk, and what comes out of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.config.raw_case import RawCase
from evenhand.config.sandbox import Sandbox
from evenhand.config.sources import FileSource, open_sources
from evenhand.errors import Problem


class Reading(NamedTuple):
    """One reading of sources."""

    cases: list[RawCase]
    problems: list[str]
    warnings: list[str]

    @property
    def documents(self) -> list[dict[str, Any]]:
        return [case.document for case in self.cases]

    @property
    def vars(self) -> list[dict[str, Any]]:
        return [case.document.get("vars", {}) for case in self.cases]

    @property
    def ids(self) -> list[str]:
        return [case.document.get("id", case.auto_id) for case in self.cases]


def write_files(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files below a folder, byte for byte."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def opened(
    folder: Path, name: str, content: str | bytes | None = None, *, template: bool = False
) -> FileSource:
    """The one source of a file, written first if there is content."""
    if content is not None:
        write_files(folder, {name: content})
    (source,) = open_sources(f"file://{name}", sandbox=Sandbox(folder), template=template)
    return source


def read_source(source: FileSource) -> Reading:
    """Everything that one reading of a source yields. Problems have a place, always."""
    rows = list(source)
    problems = [row for row in rows if isinstance(row, Problem)]
    assert all(problem.location and problem.location.file for problem in problems)
    cases = [row for row in rows if isinstance(row, RawCase)]
    prefix = f"{source.file.path.parent}/"
    return Reading(
        cases,
        [str(problem).removeprefix(prefix) for problem in problems],
        [str(warning).removeprefix(prefix) for warning in source.warnings],
    )


def read_file(
    folder: Path, name: str, content: str | bytes | None = None, *, template: bool = False
) -> Reading:
    """What a file of cases holds, written first if there is content."""
    return read_source(opened(folder, name, content, template=template))
