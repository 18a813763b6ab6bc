"""Opening the store's file, and what its errors say."""

from __future__ import annotations

import os
import sqlite3
import threading
from pathlib import Path

import pytest

from evenhand.errors import ExitCode, StoreError
from evenhand.store import database
from evenhand.store.database import APPLICATION_ID, connect, translated
from evenhand.store.migrations import MIGRATIONS
from evenhand.store.store import RunWriter, open_store
from support.privileges import NOBODY
from support.stored_results import a_result, a_run, finished


def add_many(writer: RunWriter, count: int) -> None:
    for place in range(1, count):
        writer.add(a_result(place, output=os.urandom(500).hex()))


def pragma(path: Path, name: str) -> object:
    connection = sqlite3.connect(path)
    (value,) = connection.execute(f"PRAGMA {name}").fetchone()
    connection.close()
    return value


def test_new_store_is_marked_and_logs_ahead(tmp_path: Path) -> None:
    path = tmp_path / "new" / "runs.sqlite"
    connect(path).close()
    assert pragma(path, "application_id") == APPLICATION_ID
    assert pragma(path, "user_version") == len(MIGRATIONS)
    assert pragma(path, "journal_mode") == "wal"
    assert (tmp_path / "new" / ".gitignore").read_text() == "*\n"


def test_opening_again_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    connect(path).close()
    before = path.read_bytes()
    connect(path).close()
    assert path.read_bytes() == before


def test_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    path.touch()
    connect(path).close()
    assert pragma(path, "user_version") == len(MIGRATIONS)


@pytest.mark.parametrize(
    "content", [b"hello, this is no database at all\n" * 40, b"SQLite format 3\0" + b"\1" * 50]
)
def test_file_that_is_no_database_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "runs.sqlite"
    path.write_bytes(content)
    with pytest.raises(StoreError, match="not a run store, found a file of another kind") as caught:
        open_store(path)
    assert str(caught.value).startswith(str(path))
    assert caught.value.exit_code is ExitCode.HARNESS
    assert path.read_bytes() == content


def test_database_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE notes (text)")
    other.commit()
    other.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="a database of another program"):
        open_store(path)
    assert path.read_bytes() == before


def test_store_of_a_newer_version_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    connect(path).close()
    newer = sqlite3.connect(path)
    newer.execute("PRAGMA user_version = 99")
    newer.close()
    with pytest.raises(StoreError, match=r"newer evenhand, found store version 99.*pip install --upgrade"):
        open_store(path)


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.9])
def test_half_written_store_is_refused_or_fails_clearly(tmp_path: Path, kept: float) -> None:
    path = tmp_path / "runs.sqlite"
    with open_store(path) as store:
        writer = store.begin(a_run())
        for place in range(2_000):
            writer.add(a_result(place, output=os.urandom(40).hex()))
        writer.finish(finished(a_run()))
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * kept)])
    with pytest.raises(StoreError, match="damaged"), open_store(path) as store:
        list(store.results(a_run().run_id))


def test_folder_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be opened"):
        open_store(tmp_path)


@pytest.fixture
def read_only_folder(open_folder: Path, without_privileges: None) -> Path:
    if os.geteuid() != NOBODY:
        open_folder.chmod(0o555)
    return open_folder


def test_store_in_a_read_only_folder_cannot_be_created(read_only_folder: Path) -> None:
    with pytest.raises(StoreError, match=r"cannot be opened.*EVENHAND_HOME"):
        open_store(read_only_folder / "runs.sqlite")
    with pytest.raises(StoreError, match="the state folder cannot be created, found Permission denied"):
        open_store(read_only_folder / "state" / "runs.sqlite")


def test_store_that_is_read_only_says_so(open_folder: Path, request: pytest.FixtureRequest) -> None:
    path = open_folder / "runs.sqlite"
    with open_store(path) as store:
        store.begin(a_run()).finish(finished(a_run()))
    path.chmod(0o444)
    request.getfixturevalue("read_only_folder")
    with pytest.raises(StoreError, match=r"cannot be (written|opened)"), open_store(path) as store:
        store.begin(a_run("01OTHER"))


def test_store_that_another_process_holds_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_TIMEOUT_S", 0.05)
    path = tmp_path / "runs.sqlite"
    connect(path).close()
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with open_store(path) as store, pytest.raises(StoreError, match="another process holds the store"):
        store.begin(a_run())
    holder.close()


def test_store_that_is_full_says_so_at_the_next_call(tmp_path: Path) -> None:
    with open_store(tmp_path / "runs.sqlite") as store:
        writer = store.begin(a_run())
        writer.add(a_result(0))
        writer.flush()
        assert store._held.writing_connection is not None
        store._held.writing_connection.execute("PRAGMA max_page_count = 20")
        with pytest.raises(StoreError, match="the disk is full"):
            add_many(writer, 5_000)
        with pytest.raises(StoreError, match="the disk is full"):
            writer.add(a_result(6_000))
        with pytest.raises(StoreError, match="the disk is full"):
            writer.flush()
        with pytest.raises(StoreError, match="the disk is full"):
            writer.finish(finished(a_run()))
        store._held.writing_connection.execute("PRAGMA max_page_count = 1000000")
        assert a_result(0).case_key in store.finished_keys(a_run().run_id)
        again = store.reopen(a_run().run_id)
        again.add(a_result(6_000))
        again.finish(finished(a_run()))
        assert writer.backlog == 0
        assert a_result(6_000).case_key in store.finished_keys(a_run().run_id)


def test_many_open_a_new_store_at_once(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    failures: list[BaseException] = []

    def open_and_close() -> None:
        try:
            connect(path).close()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=open_and_close) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []
    assert pragma(path, "user_version") == len(MIGRATIONS)


def test_store_whose_journal_another_process_holds_is_waited_for_in_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_TIMEOUT_S", 0.05)
    path = tmp_path / "runs.sqlite"
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreError, match="another process holds the store"):
        open_store(path)
    holder.close()


def test_error_that_nobody_foresaw_is_shown_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"the store failed \(SQLite: surprise\)"), translated(tmp_path):
        raise sqlite3.OperationalError("surprise")
