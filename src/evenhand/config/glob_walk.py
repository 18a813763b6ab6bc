"""File names by pattern: `*`, `?` and `[…]` inside a part of a path, `**` for any number of folders.

Names that begin with a dot are matched only by a pattern that begins with one. `**` does not follow symbolic
links, so no walk is endless. Matching is case-sensitive on every system.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

MAX_ENTRIES = 200_000
"""Folder entries that one pattern may look at."""

_MAGIC = re.compile(r"[*?\[]")


class TooManyEntries(Exception):
    """A pattern that looks at more folder entries than `MAX_ENTRIES`."""


def has_magic(text: str) -> bool:
    """Whether a path holds anything that makes it a pattern."""
    return _MAGIC.search(text) is not None


def walk_pattern(folder: Path, pattern: str, enter: Callable[[Path], None]) -> list[str]:
    """Paths relative to `folder` that match, sorted part by part, symbolic links unresolved, folders included.

    `enter` is called with every folder before it is listed, and may refuse by raising. Raises `TooManyEntries`
    and `OSError`.
    """
    walk = _Walk(folder, enter)
    matches = set(walk.find("", _parts(pattern)))
    return sorted(matches, key=lambda match: match.split("/"))


def _parts(pattern: str) -> list[str]:
    parts: list[str] = []
    for part in pattern.split("/"):
        if part in ("", ".") or (part == "**" and parts[-1:] == ["**"]):
            continue
        parts.append(part)
    return ["/", *parts] if pattern.startswith("/") else parts


class _Walk:
    def __init__(self, folder: Path, enter: Callable[[Path], None]) -> None:
        self._folder = folder
        self._enter = enter
        self._entries = 0

    def find(self, at: str, parts: list[str]) -> Iterator[str]:
        if not parts:
            yield at
            return
        head, rest = parts[0], parts[1:]
        if head == "**":
            yield from self._any_depth(at, rest)
        elif has_magic(head):
            yield from self._matching(at, head, rest)
        else:
            path = _join(at, head)
            if os.path.lexists(self._folder / path):
                yield from self.find(path, rest)

    def _any_depth(self, at: str, rest: list[str]) -> Iterator[str]:
        if rest:
            yield from self.find(at, rest)
        for entry in self._list(at):
            if entry.name.startswith("."):
                continue
            path = _join(at, entry.name)
            if entry.is_dir(follow_symlinks=False):
                yield from self._any_depth(path, rest)
            elif not rest:
                yield path

    def _matching(self, at: str, head: str, rest: list[str]) -> Iterator[str]:
        matches = re.compile(fnmatch.translate(head)).match
        for entry in self._list(at):
            if not matches(entry.name) or (entry.name.startswith(".") and not head.startswith(".")):
                continue
            if not rest or entry.is_dir():
                yield from self.find(_join(at, entry.name), rest)

    def _list(self, at: str) -> list[os.DirEntry[str]]:
        folder = self._folder / at
        if not folder.is_dir():
            return []
        self._enter(folder)
        with os.scandir(folder) as entries:
            found = []
            for entry in entries:
                self._entries += 1
                if self._entries > MAX_ENTRIES:
                    raise TooManyEntries
                found.append(entry)
        return found


def _join(at: str, name: str) -> str:
    return f"{at.rstrip('/')}/{name}" if at else name
