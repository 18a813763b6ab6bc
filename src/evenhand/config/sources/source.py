"""What every file of cases has in common: its name in ids and messages, its warnings, the bound on problems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from evenhand.config.raw_case import RawCase
from evenhand.config.sandbox import FoundFile
from evenhand.errors import DocumentPath, Location, Problem, SuiteError
from evenhand.template import Val

MAX_PROBLEMS = 100
"""Problems of one file after which reading it stops."""


class FileSource:
    """Cases from one file, read again from its start by each iteration.

    `id_prefix` begins the ids of cases that give none. With `is_data`, var values are sent as they are; YAML files
    are written by hand as templates and never data.
    """

    def __init__(self, file: FoundFile, *, is_data: bool) -> None:
        self.file = file
        self.is_data = is_data
        self.id_prefix = file.stem
        self.warnings: list[Problem] = []
        """What the latest reading found legal but suspicious."""
        self._has_warned = False

    @property
    def long_name(self) -> str:
        """What tells the source from another one with the same `id_prefix`."""
        return self.file.relative

    def __iter__(self) -> Iterator[RawCase | Problem]:
        """The cases in their order; a row that cannot be read comes as a located problem in its place."""
        self.warnings = []
        self._has_warned = False
        problems = 0
        for row in self._rows():
            yield row
            if type(row) is Problem:
                problems += 1
                if problems == MAX_PROBLEMS:
                    yield Problem(
                        f"reading stops after {MAX_PROBLEMS} problems", location=Location(self.file.name)
                    )
                    return

    def _rows(self) -> Iterator[RawCase | Problem]:
        try:
            yield from self._read()
        except SuiteError as error:
            yield from error.problems

    def _read(self) -> Iterator[RawCase | Problem]:
        raise NotImplementedError

    def _warn(self, message: str, hint: str, line: int = 0, path: DocumentPath = ()) -> None:
        self.warnings.append(Problem(message, path, hint, Location(self.file.name, line)))

    def _warn_of_template(self, document: dict[str, Any], line: int) -> None:
        """Warn, once in a reading, of a var that looks like a template."""
        if self._has_warned:
            return
        # `{#` alone is more often a style sheet or a heading than a comment of a template.
        texts = Val(document.get("vars")).templates()
        found = next((each for each in texts if "{{" in each[1] or "{%" in each[1]), None)
        if found is None:
            return
        self._has_warned = True
        self._warn(
            f"looks like a template, found {found[1][:60]!r}, but values of data files are sent as they are",
            "set `template: true` on the source if its values are templates",
            line,
            ("vars", *found[0]),
        )


class RowOrigin(msgspec.Struct, frozen=True, gc=False):
    """The place of a case that fills a row."""

    file: str
    line: int

    def locate(self, path: DocumentPath) -> Location:
        """The line that the row begins on, whatever the path."""
        return Location(self.file, self.line)


def settle_ids(sources: Iterable[FileSource]) -> None:
    """Give sources whose ids would begin alike their path relative to the suite instead of the file's stem."""
    by_prefix: dict[str, list[FileSource]] = {}
    for source in sources:
        by_prefix.setdefault(source.id_prefix, []).append(source)
    for alike in by_prefix.values():
        if len({source.long_name for source in alike}) > 1:
            for source in alike:
                source.id_prefix = source.long_name
