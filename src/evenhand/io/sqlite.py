"""What every SQLite file of evenhand has in common: transactions, write-ahead logging, and whether one is in use."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterator

PAUSE_S = 0.01
"""Time between two tries to switch to write-ahead logging."""


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """A transaction that holds the write lock from its start: all of it is committed, or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def enter_wal(connection: sqlite3.Connection, *, patience_s: float) -> None:
    """Switch to write-ahead logging. SQLite does not wait for others here, so this does."""
    deadline = time.monotonic() + patience_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
            return
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() > deadline:
                raise
        time.sleep(PAUSE_S)


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another connection is in the way."""
    return error_name(error).startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def error_name(error: sqlite3.Error) -> str:
    """The name of SQLite's own code for an error, empty where it has none."""
    return getattr(error, "sqlite_errorname", "") or ""
