"""Opening the store's SQLite file, and what its errors mean to a person."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from evenhand.errors import StoreError
from evenhand.io.sqlite import enter_wal, error_name, transaction
from evenhand.store.migrations import MIGRATIONS
from evenhand.store.state import create_state_directory

BUSY_TIMEOUT_S = 30.0
"""How long to wait while another process writes."""

APPLICATION_ID = 0x6576_656E
"""Marks the file as a run store of evenhand (`even` in ASCII)."""

_CACHE_KIB = 16 << 10


def connect(path: Path | None) -> sqlite3.Connection:
    """A connection to the store at `path` with its tables brought up to date, created where there is none.

    None is a store in memory. Raises `StoreError` for anything that is not a store this version can use.
    """
    if path is not None:
        create_state_directory(path.parent)
    with translated(path):
        connection = sqlite3.connect(
            str(path) if path else ":memory:",
            timeout=BUSY_TIMEOUT_S,
            isolation_level=None,
            check_same_thread=False,
        )
    try:
        with translated(path):
            _prepare(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path | None) -> None:
    _refuse_foreign(connection, path)
    if not _version(connection):
        # Only an empty file takes this setting; it lets deleted runs give their space back without a rewrite.
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    enter_wal(connection, patience_s=BUSY_TIMEOUT_S)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    if _version(connection) < len(MIGRATIONS):
        _migrate(connection, path)


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def _refuse_foreign(connection: sqlite3.Connection, path: Path | None) -> None:
    # In this order: the tables and the mark are committed together, so whoever sees the tables sees the mark.
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if tables and application != APPLICATION_ID:
        raise StoreError(
            "not a run store of evenhand, found a database of another program; name another state folder in "
            "`EVENHAND_HOME`",
            path,
        )
    version = _version(connection)
    if version > len(MIGRATIONS):
        raise StoreError(
            f"written by a newer evenhand, found store version {version} where this one knows up to "
            f"{len(MIGRATIONS)}; upgrade with `pip install --upgrade evenhand`",
            path,
        )


def _migrate(connection: sqlite3.Connection, path: Path | None) -> None:
    with transaction(connection):
        # Another process may have done it, or a newer one more, while this one waited.
        _refuse_foreign(connection, path)
        for migration in MIGRATIONS[_version(connection) :]:
            migration(connection)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")


@contextlib.contextmanager
def translated(path: Path | None) -> Iterator[None]:
    """Turn errors of SQLite into a `StoreError` that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(_explain(error), path) from error


_EXPLANATIONS = {
    "SQLITE_NOTADB": "not a run store, found a file of another kind or a damaged one; move it away",
    "SQLITE_CORRUPT": "the store is damaged; move it away, or restore a copy of it",
    "SQLITE_FULL": "the disk is full; free some space and continue the run with `--resume`",
    "SQLITE_READONLY": "the store cannot be written; make the file and its folder writable, or name another state "
    "folder in `EVENHAND_HOME`",
    "SQLITE_CANTOPEN": "the store cannot be opened; check that its folder exists and is writable, or name another "
    "state folder in `EVENHAND_HOME`",
    "SQLITE_BUSY": f"another process holds the store for more than {BUSY_TIMEOUT_S:.0f} s; wait until it is done",
    "SQLITE_LOCKED": "the store is in use by another part of this process; close it there first",
    "SQLITE_IOERR": "the disk failed; check it, and name another state folder in `EVENHAND_HOME` if need be",
    "SQLITE_CONSTRAINT_UNIQUE": "the store already holds a run of that id; give the new one another",
    "SQLITE_CONSTRAINT_FOREIGNKEY": "the run was deleted while it was written; start it again",
}


def _explain(error: sqlite3.Error) -> str:
    name = error_name(error)
    for prefix, explanation in _EXPLANATIONS.items():
        if name.startswith(prefix):
            return f"{explanation} (SQLite: {error})"
    return f"the store failed (SQLite: {error})"
