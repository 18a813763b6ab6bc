"""A batch of answers is written as a whole or not at all."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from evenhand.cache.database import Row, connect, insert


@pytest.fixture
def store(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(connect(tmp_path / "answers.sqlite")) as connection:
        yield connection


def row(key: str, body: str, *, replaces: bool = False) -> Row:
    return Row(key.encode(), 1.0, "p", "t", body.encode(), replaces)


def bodies(store: sqlite3.Connection) -> dict[bytes, bytes]:
    return dict(store.execute("SELECT key, body FROM answers"))


def test_first_of_several_answers_stays_unless_one_replaces_it(store: sqlite3.Connection) -> None:
    insert(store, [row("a", "1"), row("a", "2"), row("b", "1"), row("c", "1")])
    insert(store, [row("a", "3"), row("b", "3", replaces=True), row("d", "1")])
    insert(store, [row("c", "3", replaces=True)])
    assert bodies(store) == {b"a": b"1", b"b": b"3", b"c": b"3", b"d": b"1"}
    assert not store.in_transaction


@pytest.mark.parametrize("replaces", [False, True])
def test_batch_that_fails_in_its_middle_leaves_nothing(store: sqlite3.Connection, replaces: bool) -> None:
    store.execute(
        "CREATE TRIGGER refuse BEFORE INSERT ON answers WHEN new.key = CAST('bad' AS BLOB) "
        "BEGIN SELECT RAISE(ABORT, 'refused'); END"
    )
    with pytest.raises(sqlite3.IntegrityError, match="refused"):
        insert(store, [row("a", "1"), row("b", "1"), row("bad", "1", replaces=replaces), row("c", "1")])
    assert bodies(store) == {}
    assert not store.in_transaction


def test_batch_can_be_tried_again_once_another_writer_is_done(
    store: sqlite3.Connection, tmp_path: Path
) -> None:
    store.execute("PRAGMA busy_timeout = 0")
    with closing(connect(tmp_path / "answers.sqlite")) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            insert(store, [row("a", "1")])
        other.execute("ROLLBACK")
    insert(store, [row("a", "1")])
    assert bodies(store) == {b"a": b"1"}
