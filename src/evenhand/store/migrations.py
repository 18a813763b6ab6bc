"""The tables of the run store, as steps from one version to the next.

A step that was released is never changed; a new table or column is a new step at the end. `PRAGMA user_version` holds
the number of steps that a database has seen.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable


def m001_runs_and_results(connection: sqlite3.Connection) -> None:
    """Runs, the documents of their results in blocks, and one narrow row per result that leads to its document.

    Documents stand apart from the rows: lists and filters read rows only, and a row is never so wide that it takes a
    page of its own. `slot` is the place of a document in its block.
    """
    connection.execute("""
        CREATE TABLE runs (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            run_id TEXT NOT NULL UNIQUE COLLATE NOCASE,
            suite TEXT,
            suite_path TEXT NOT NULL,
            status TEXT NOT NULL,
            started_at TEXT NOT NULL,
            document BLOB NOT NULL
        )""")
    connection.execute("""
        CREATE TABLE blocks (
            number INTEGER PRIMARY KEY,
            run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
            body BLOB NOT NULL
        )""")
    connection.execute("CREATE INDEX blocks_of_run ON blocks (run)")
    connection.execute("""
        CREATE TABLE results (
            number INTEGER PRIMARY KEY,
            run INTEGER NOT NULL,
            case_key BLOB NOT NULL,
            position INTEGER NOT NULL,
            status TEXT NOT NULL,
            test_id TEXT NOT NULL,
            block INTEGER NOT NULL,
            slot INTEGER NOT NULL
        )""")
    connection.execute("CREATE UNIQUE INDEX one_result_per_cell ON results (run, case_key)")
    connection.execute("CREATE INDEX results_in_plan_order ON results (run, position)")


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (m001_runs_and_results,)
"""Every step, oldest first."""
