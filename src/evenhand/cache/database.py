"""The local store of kept answers: one SQLite file in write-ahead mode, safe under several runs at once."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from evenhand.errors import EvenhandError
from evenhand.io.sqlite import enter_wal, error_name, transaction

FILE_NAME = "answers.sqlite"
APPLICATION_ID = 0x6576_6361
"""Marks the file as kept answers of evenhand (`evca` in ASCII)."""
VERSION = 1
BUSY_TIMEOUT_S = 5.0

_TABLES = (
    """CREATE TABLE answers (
        number INTEGER PRIMARY KEY,
        key BLOB NOT NULL,
        created REAL NOT NULL,
        used REAL NOT NULL,
        size INTEGER NOT NULL,
        provider TEXT NOT NULL,
        test TEXT NOT NULL,
        body BLOB NOT NULL
    )""",
    "CREATE UNIQUE INDEX answers_by_key ON answers (key)",
    "CREATE INDEX answers_by_test ON answers (test, number)",
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {VERSION}",
)


class CacheError(EvenhandError):
    """Kept answers that cannot be opened, read or written."""


class Row(NamedTuple):
    """An answer on its way into the store."""

    key: bytes
    created: float
    provider: str
    test: str
    body: bytes
    replaces: bool = False
    """Whether it takes the place of a damaged one; else the first one written stays."""


def cache_file(directory: Path) -> Path:
    """The file of kept answers in a folder."""
    return directory / FILE_NAME


def connect(path: Path, *, writes: bool = True) -> sqlite3.Connection:
    """A connection to the store, which is created where there is none and `writes` is set.

    A store that only can be read is opened for reading, whatever `writes` says. Raises `CacheError`.
    """
    try:
        with translated(path):
            if writes:
                _make_folder(path)
                if not _can_write(path):
                    return _checked(_read_only(path), path)
                return _checked(_opened(path), path)
            if not path.exists():
                raise CacheError(f"{path}: there are no kept answers yet")
            return _checked(_opened(path) if _can_write(path) else _read_only(path), path)
    except OSError as error:
        raise CacheError(f"{path}: cannot be opened, found {error.strerror or error}") from None


def _make_folder(path: Path) -> None:
    with contextlib.suppress(FileExistsError):
        path.parent.mkdir(parents=True, exist_ok=True)


def _can_write(path: Path) -> bool:
    return _is_writable(path.parent) and (not path.exists() or _is_writable(path))


def _is_writable(path: Path) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def _opened(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)


def _read_only(path: Path) -> sqlite3.Connection:
    """A connection for a file in a folder that cannot be written, where SQLite can keep no lock files."""
    if not path.is_file():
        raise CacheError(
            f"{path.parent}: the folder cannot be written; make it writable, or name another one"
        )
    address = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    return sqlite3.connect(
        address, uri=True, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
    )


def _checked(connection: sqlite3.Connection, path: Path) -> sqlite3.Connection:
    try:
        with translated(path):
            _refuse_foreign(connection, path)
            is_immutable = not _can_write(path)
            if not is_immutable:
                enter_wal(connection, patience_s=BUSY_TIMEOUT_S)
                connection.execute("PRAGMA synchronous = NORMAL")
                if not _version(connection):
                    _create(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def _refuse_foreign(connection: sqlite3.Connection, path: Path) -> None:
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if tables and application != APPLICATION_ID:
        raise CacheError(f"{path}: a database of another program; name another folder with `--cache-dir`")
    if (version := _version(connection)) > VERSION:
        raise CacheError(
            f"{path}: written by a newer evenhand, found version {version} where this one knows up to {VERSION}; "
            "upgrade with `pip install --upgrade evenhand`, or name another folder with `--cache-dir`"
        )


def _create(connection: sqlite3.Connection, path: Path) -> None:
    with transaction(connection):
        _refuse_foreign(connection, path)
        if not _version(connection):  # else another run did it while this one waited
            for statement in _TABLES:
                connection.execute(statement)


@contextlib.contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn errors of SQLite into a `CacheError` that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise CacheError(f"{path}: {explained(error)}") from error


_EXPLANATIONS = {
    "SQLITE_NOTADB": "damaged, or a file of another kind; remove it with `evenhand cache clear`",
    "SQLITE_CORRUPT": "damaged; remove it with `evenhand cache clear`",
    "SQLITE_FULL": "the disk is full; free some space",
    "SQLITE_READONLY": "cannot be written; make it writable, or name another folder with `--cache-dir`",
    "SQLITE_CANTOPEN": "cannot be opened; make its folder writable, or name another one with `--cache-dir`",
    "SQLITE_BUSY": "another process holds it for too long",
    "SQLITE_IOERR": "the disk failed or is full",
}


def explained(error: sqlite3.Error) -> str:
    """What an error of SQLite means to a person, and what to do."""
    for prefix, explanation in _EXPLANATIONS.items():
        if error_name(error).startswith(prefix):
            return f"{explanation} (SQLite: {error})"
    return f"it failed (SQLite: {error})"


def insert(connection: sqlite3.Connection, rows: list[Row]) -> None:
    """Write answers in one transaction; of several for one question the first stays, unless one replaces it."""
    replacing = [row for row in rows if row.replaces]
    if not replacing:
        _insert(connection, "IGNORE", rows)  # a statement alone is a transaction already
        return
    with transaction(connection):
        _insert(connection, "IGNORE", [row for row in rows if not row.replaces])
        _insert(connection, "REPLACE", replacing)


def _insert(connection: sqlite3.Connection, word: str, rows: list[Row]) -> None:
    if not rows:
        return
    values = ",".join(["(?,?,?,?,?,?,?)"] * len(rows))
    parameters: list[object] = []
    for row in rows:
        parameters += (row.key, row.created, row.created, len(row.body), row.provider, row.test, row.body)
    # One statement for all rows: each statement gives up the interpreter's lock several times, and a busy event loop
    # keeps it for as long as the switch interval.
    connection.execute(
        f"INSERT OR {word} INTO answers (key, created, used, size, provider, test, body) VALUES {values}",  # noqa: S608  (no text from outside)
        parameters,
    )
