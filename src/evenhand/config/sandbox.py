"""What a suite may read: data from its own folder, code from the repository around it.

Every reference is resolved with its symbolic links before it is compared, and folders are compared by identity, so
that neither `..`, an absolute path, a link nor another spelling of a name leads outside.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from evenhand.config.glob_walk import MAX_ENTRIES, TooManyEntries, has_magic, walk_pattern
from evenhand.config.regular_file import kind_of, reason_of
from evenhand.errors import Problem, SuiteError
from evenhand.io.target import FILE_PREFIX
from evenhand.registry import nearest
from evenhand.text.surrogates import is_encodable

MAX_REFERENCE_LENGTH = 4_096
"""Characters that a reference to a file may have."""

MAX_NAMES = 1_000
"""Names of a folder that are looked through for the one a typo meant."""

_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


class FoundFile(NamedTuple):
    """A regular file that a suite refers to."""

    path: Path
    """Where it is, symbolic links resolved."""
    relative: str
    """As the suite refers to it: relative to its folder, with `/` between the parts."""
    name: str
    """What messages call it."""
    size_bytes: int = 0
    """How large it was when it was found."""

    @property
    def extension(self) -> str:
        """The lower-cased extension with its dot, empty where there is none."""
        return os.path.splitext(self.relative)[1].lower()  # noqa: PTH122 - a reference, not a path of this system

    @property
    def stem(self) -> str:
        """The file's name without folder and extension."""
        return os.path.splitext(self.relative.rpartition("/")[2])[0]  # noqa: PTH122


class Sandbox:
    """The folders that one suite's references may lead to.

    `directory` is the suite's folder, `repository` the root of the enclosing repository (None where there is none, or
    where a suite from a stranger is confined to its folder), `outside` what the user allowed with `--allow-outside`.
    """

    def __init__(
        self, directory: Path, repository: Path | None = None, outside: tuple[Path, ...] = ()
    ) -> None:
        self.directory = directory
        root = directory.resolve()
        allowed = tuple(path.resolve() for path in outside)
        self._data_roots = (root, *allowed)
        self.code_roots = (*self._data_roots, repository.resolve()) if repository else self._data_roots
        """Folders that code may be loaded from, the widest last."""
        self._code_area = f"the repository {str(repository)!r}" if repository else "the suite's folder"

    def data_file(self, reference: str) -> FoundFile:
        """The file that a reference to data names, relative to the suite's folder. Raises `SuiteError`."""
        return self._data(_path_in(reference))

    def code_file(self, reference: str, *, beside: Path | None = None) -> FoundFile:
        """The file that a reference to a script, `extends` or `imports` names, relative to the folder `beside`.

        Without `beside` it is relative to the suite's folder. Raises `SuiteError`.
        """
        path = _path_in(reference)
        full = (self.directory if beside is None else beside) / path
        relative = path if beside is None else os.path.relpath(full, self.directory)
        return self._found(relative, full, self.code_roots, self._code_area)

    def data_files(self, pattern: str) -> list[FoundFile]:
        """The files that a reference to data names, which may be a pattern, sorted by path. Raises `SuiteError`.

        No match is an error. A path that exists as it is written is that file, whatever it looks like.
        """
        path = _path_in(pattern)
        if not has_magic(path) or os.path.lexists(self.directory / path):
            return [self._data(path)]
        matches = [match for match in self._matches(path) if not (self.directory / match).is_dir()]
        if not matches:
            raise _refused(f"{path!r} matched no files", "check the pattern and the names of the folders")
        return [self._data(match) for match in matches]

    def _data(self, path: str) -> FoundFile:
        return self._found(path, self.directory / path, self._data_roots, "the suite's folder")

    def _matches(self, pattern: str) -> list[str]:
        try:
            return walk_pattern(self.directory, pattern, self._enter)
        except TooManyEntries:
            raise _refused(
                f"{pattern!r} looks at more than {MAX_ENTRIES:,} files", "name the folders more closely"
            ) from None
        except RecursionError:
            raise _refused(f"{pattern!r} leads through too many folders") from None
        except OSError as error:
            raise _refused(f"{pattern!r} cannot be expanded: {reason_of(error)}") from None

    def _enter(self, folder: Path) -> None:
        _check_inside(str(folder), _real(str(folder), folder), self._data_roots, "the suite's folder")

    def _found(self, reference: str, full: Path, roots: Sequence[Path], area: str) -> FoundFile:
        if not is_encodable(reference):
            raise _refused(f"{reference!r} is not valid Unicode", "rename the file")
        real = _real(reference, full)
        _check_inside(reference, real, roots, area)
        size_bytes = _size_of(reference, real)
        normal = os.path.normpath(reference)
        return FoundFile(real, normal.replace(os.sep, "/"), str(self.directory / normal), size_bytes)


def _path_in(reference: str) -> str:
    """The path of a reference, with `/` between its parts."""
    path = reference.removeprefix(FILE_PREFIX)
    if not path.strip():
        raise _refused(f"{reference!r} names no file", "write the path of a file")
    if "\0" in path:
        raise _refused(f"{reference!r} holds a NUL character")
    if len(path) > MAX_REFERENCE_LENGTH:
        raise _refused(f"the path is longer than {MAX_REFERENCE_LENGTH:,} characters, found {path[:60]!r}…")
    if os.name != "nt" and _DRIVE.match(path):
        raise _refused(f"{path!r} is an absolute path of Windows", "write it relative to the suite's folder")
    return path.replace("\\", "/")


def _real(reference: str, path: Path) -> Path:
    try:
        return path.resolve()
    except OSError as error:
        raise _refused(f"{reference!r} cannot be followed: {reason_of(error)}") from None
    except RuntimeError:
        raise _refused(f"{reference!r} cannot be followed: its symbolic links form a circle") from None
    except ValueError:
        raise _refused(f"{reference!r} holds characters that no path may hold") from None


def _check_inside(reference: str, real: Path, roots: Sequence[Path], area: str) -> None:
    if any(_is_inside(real, root) for root in roots):
        return
    led = "" if reference == str(real) else f", which is {str(real)!r}"
    raise _refused(
        f"refuses to read outside {area}, found {reference!r}{led}",
        f"keep the file inside, or allow its folder with `--allow-outside {real.parent}`",
    )


def _is_inside(path: Path, root: Path) -> bool:
    if path.is_relative_to(root):
        return True
    # On a file system that ignores case or normalises names, one folder has several spellings.
    return any(_is_same(parent, root) for parent in path.parents)


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except (OSError, ValueError):
        return False


def _size_of(reference: str, real: Path) -> int:
    """Bytes of a file that is there and regular."""
    try:
        status = real.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise _refused(f"no such file, found {reference!r}", _meant(real)) from None
    except OSError as error:
        raise _refused(f"{reference[:60]!r} cannot be read: {reason_of(error)}") from None
    except ValueError:
        raise _refused(f"{reference!r} holds characters that no path may hold") from None
    kind = kind_of(status.st_mode)
    if kind == "a folder":
        raise _refused(
            f"{reference!r} is a folder", f"name files in it, as in `{reference.rstrip('/')}/*.yaml`"
        )
    if kind is not None:
        raise _refused(f"{reference!r} is {kind}", "name a regular file")
    return status.st_size


def _meant(missing: Path) -> str:
    try:
        with os.scandir(missing.parent) as entries:
            names = [entry.name for entry, _ in zip(entries, range(MAX_NAMES), strict=False)]
    except (OSError, ValueError):
        return f"the folder {missing.parent.name!r} does not exist either"
    name = nearest(missing.name, names)
    return f"did you mean {name!r}?" if name else "check the name and the folder"


def _refused(message: str, hint: str = "") -> SuiteError:
    return SuiteError([Problem(message, hint=hint)])
