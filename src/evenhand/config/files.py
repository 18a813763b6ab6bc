"""Files that a suite refers to; a reference that cannot be followed is reported where it stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from evenhand.config.digest import digest_pattern
from evenhand.config.file_document import ReadDocument
from evenhand.config.findings import Place
from evenhand.config.suite_files import ReadText, SuiteFiles
from evenhand.errors import SuiteError, TemplateError
from evenhand.template import Engine, Scope

T = TypeVar("T")


class Files:
    """The files of one load, as the readers of its parts ask for them."""

    def __init__(self, files: SuiteFiles, engine: Engine) -> None:
        self._files = files
        self._engine = engine

    def text(self, reference: str, place: Place) -> ReadText | None:
        """The text of the file that a reference names."""
        return _reported(lambda: self._files.text(reference), place)

    def transcript(self, reference: str, place: Place) -> ReadDocument | None:
        """The list of turns in the YAML or JSON file that a reference names."""
        return _reported(lambda: self._files.transcript(reference), place)

    def image(self, reference: str, place: Place) -> dict[str, str] | None:
        """The content block of the image that a reference names."""
        return _reported(lambda: self._files.image(reference), place)

    def script(self, reference: str, place: Place) -> str | None:
        """The path of an existing script, relative to the suite's folder."""
        return _reported(lambda: self._files.script(reference), place)

    def resolved(self, value: Any, place: Place) -> Any:
        """The value with every `{$file: …}` in it replaced by what the file holds; null where one was reported."""
        try:
            return self._files.resolved(value, lambda path: place.origin.locate((*place.path, *path)))
        except SuiteError as error:
            own = place.location.file
            for problem in error.problems:
                inside = problem.location is not None and problem.location.file == own
                place.findings.add(problem.under(*place.path) if inside else problem)
            return None

    def salt(self, salt: str, variables: Mapping[str, Any], place: Place) -> str:
        """A cache salt, with `$digest: <pattern>` replaced by the digest of the files that the pattern names.

        The pattern is a template over `variables`, the case's vars as they are written.
        """
        pattern = digest_pattern(salt)
        if pattern is None:
            return salt
        try:
            rendered = self._engine.render(pattern, Scope(variables))
        except TemplateError as error:
            place.report(f"the pattern of `$digest` does not render: {error.message}")
            return salt
        return _reported(lambda: self._files.salt(rendered), place) or salt

    def digest(self) -> str:
        """sha256 over the names and contents of all files that were read so far."""
        return self._files.digest()


def _reported(read: Callable[[], T], place: Place) -> T | None:
    try:
        return read()
    except SuiteError as error:
        place.adopt(error)
        return None
