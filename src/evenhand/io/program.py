"""What the answer of a program depends on: its command, the files that the command names, and what it is sent."""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evenhand.errors import Problem
from evenhand.model.exchange import Json

MAX_FILE_BYTES = 64 << 20
"""Bytes of a file up to which its content counts; of a larger one only its size."""


def asked_of_program(command: Sequence[str], files: dict[str, str], stdin: Json) -> dict[str, Any]:
    """The canonical view of a question to a program of the exec protocol.

    `files` are those that its command names: a program that was changed is another program. `stdin` is what it is
    sent, without the name of the test.
    """
    return {"transport": "exec", "command": command, "files": files, "stdin": stdin}


_SCRIPTS = (".py", ".js", ".cjs", ".mjs", ".ts", ".sh", ".rb", ".pl", ".php", ".jar")
"""How the files end that an interpreter is given."""


def command_warnings(
    command: Sequence[str], directory: Path, search_path: str | None = None
) -> list[Problem]:
    """What of a command is not there; it may be by the time of the run. `search_path` takes the place of `PATH`."""
    program = command[0]
    if not program.strip() or any("\0" in word for word in command):
        return []
    if _is_path(program):
        is_found = shutil.which((directory / program).absolute()) is not None
    else:
        is_found = shutil.which(program, path=search_path) is not None
    if is_found:
        return _missing_script(command, directory)
    if _is_path(program) and (directory / program).is_file():
        hint = "make it executable with `chmod +x`, or name its interpreter first"
        return [Problem(f"program {program!r} is not executable", ("command", 0), hint)]
    where = f"in {directory}" if _is_path(program) else "on PATH"
    hint = "a path is taken relative to the suite's folder; check that the file exists"
    return [Problem(f"program {program!r} was not found {where}", ("command", 0), hint)]


def _missing_script(command: Sequence[str], directory: Path) -> list[Problem]:
    for index, word in enumerate(command[1:], start=1):
        if word.endswith(_SCRIPTS) and not word.startswith("-"):
            if (directory / word).exists():
                return []
            hint = "a path is taken relative to the suite's folder; check the name"
            return [Problem(f"file {word!r} was not found in {directory}", ("command", index), hint)]
    return []


def _is_path(program: str) -> bool:
    return os.sep in program or (os.altsep is not None and os.altsep in program)


def files_of(command: Sequence[str], directory: Path) -> dict[str, str]:
    """sha256 of the files inside the suite's folder that words of a command name, by the word, as they are now."""
    found = {}
    for word in command:
        if not word or "\0" in word or len(word) > 1_000:
            continue
        path = os.path.join(directory, word)  # noqa: PTH118  (looked at for every check that a program makes)
        try:
            status = os.stat(path)  # noqa: PTH116
            if stat.S_ISREG(status.st_mode) and _is_inside(path, str(directory)):
                found[word] = _digest(path, status.st_mtime_ns, status.st_size)
        except (OSError, ValueError):
            continue
    return found


@functools.lru_cache(maxsize=256)
def _is_inside(path: str, directory: str) -> bool:
    return Path(path).resolve().is_relative_to(Path(directory).resolve())


@functools.lru_cache(maxsize=256)
def _digest(path: str, modified_ns: int, size: int) -> str:  # noqa: ARG001  (part of the memory's key)
    if size > MAX_FILE_BYTES:
        return f"{size} bytes"
    with open(path, "rb", opener=_without_waiting) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
