"""Which file a path means as a suite."""

from __future__ import annotations

from pathlib import Path

from evenhand.config.wording import in_words
from evenhand.errors import Location, Problem, SuiteError

SUITE_NAMES = ("evenhand.yaml", "evenhand.yml", "domarinn.yaml", "domarinn.yml")
"""Names of suite files that are looked for in a folder, the preferred ones first."""

OTHER_NAMES = ("promptfooconfig.yaml", "promptfooconfig.yml")
"""Names of files of other tools, which somebody may take for a suite."""


def locate_suite(path: Path) -> Path:
    """The suite file that a path means: the file itself, or the one in that folder. Raises `SuiteError`."""
    if "\0" in str(path):
        raise SuiteError(
            [Problem("the path cannot be used: it holds a NUL character", location=Location(repr(str(path))))]
        )
    try:
        if not path.is_dir():
            return path
        found = next((path / name for name in SUITE_NAMES if (path / name).is_file()), None)
    except (OSError, ValueError) as error:
        raise SuiteError(
            [Problem(f"the path cannot be used: {error}", location=Location(str(path)))]
        ) from None
    if found is None:
        message = f"the folder holds no suite (looked for {in_words(SUITE_NAMES)})"
        other = next((name for name in OTHER_NAMES if (path / name).is_file()), None)
        hint = (
            f"`{other}` is written in another language: docs/guides/from-promptfoo.md says what to write"
            if other
            else "name the suite's file, or write one with `evenhand init`"
        )
        raise SuiteError([Problem(message, hint=hint, location=Location(str(path)))])
    return found
