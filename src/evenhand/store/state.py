"""Where evenhand keeps what it remembers between runs."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from evenhand.errors import StoreError

HOME_VARIABLE = "EVENHAND_HOME"
"""Environment variable that names the state folder."""

FOLDER_NAME = ".evenhand"
STORE_NAME = "runs.sqlite"
VIEW_INDEX_NAME = "viewer.sqlite"
GENERATED_NAME = "generated"


def state_directory(suite_directory: Path, environ: Mapping[str, str]) -> Path:
    """The state folder of a suite, whether or not it exists yet.

    It is `EVENHAND_HOME`; else the nearest `.evenhand` in the suite's folder or above it; else a `.evenhand` beside the
    nearest `.git`; else one in the suite's folder.
    """
    if home := environ.get(HOME_VARIABLE, "").strip():
        return _expanded(Path(home)).absolute()
    start = suite_directory.absolute()
    folders = (start, *start.parents)
    for folder in folders:
        if _is_there(folder / FOLDER_NAME) and (folder / FOLDER_NAME).is_dir():
            return folder / FOLDER_NAME
    for folder in folders:
        if _is_there(folder / ".git"):
            return folder / FOLDER_NAME
    return start / FOLDER_NAME


def refuse_planted_links(state: Path, environ: Mapping[str, str]) -> None:
    """Raise `StoreError` where a state folder that came with a suite leads elsewhere by symbolic links.

    Files are written there, under names that whoever made the suite knows. A folder that a person names is theirs.
    """
    if environ.get(HOME_VARIABLE, "").strip():
        return
    link = next(_links(state), None)
    if link is not None:
        raise StoreError(
            f"a suite in a sandbox may not lead its state elsewhere, found the symbolic link {str(link)!r}; delete "
            f"{str(state)!r}, or name a state folder of your own in `{HOME_VARIABLE}`",
            state,
        )


def _links(folder: Path) -> Iterator[Path]:
    if folder.is_symlink():
        yield folder
        return
    for above, folders, files in os.walk(folder):
        yield from (path for name in (*folders, *files) if (path := Path(above, name)).is_symlink())


def _expanded(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError:
        return path


def _is_there(path: Path) -> bool:
    try:
        path.stat()
    except OSError:
        return False
    return True


def store_path(directory: Path) -> Path:
    """The run store of a state folder."""
    return directory / STORE_NAME


def generated_directory(state: Path) -> Path:
    """The folder for cases that generators made, in a state folder that is created where it is missing."""
    create_state_directory(state)
    return state / GENERATED_NAME


def create_state_directory(directory: Path) -> None:
    """Create the folder where it is missing, with a `.gitignore` that keeps all of it out of repositories."""
    try:
        if directory.is_dir():
            return
        directory.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError), (directory / ".gitignore").open("x") as file:
            file.write("*\n")
    except OSError as error:
        raise StoreError(
            f"the state folder cannot be created, found {error.strerror or error}; make its parent writable, or name "
            f"another folder in `{HOME_VARIABLE}`",
            directory,
        ) from error
