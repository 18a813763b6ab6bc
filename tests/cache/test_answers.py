"""The local store: shared by runs, robust against whatever happens to its file."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from evenhand.cache.answers import USED_EVERY_S, AnswerCache, CacheUnavailable
from evenhand.cache.database import cache_file
from evenhand.cache.inspecting import KeptAnswers
from evenhand.cache.question import Question, question_of
from evenhand.model.exchange import Response
from support.cached import opened
from support.privileges import NOBODY


def question(number: int = 0) -> Question:
    return question_of({"prompt": number}, provider="p", test=f"t{number}")


def keep(folder: Path, *numbers: int, output: str = "x", **options: object) -> None:
    async def work() -> None:
        cache = opened(folder, **options)
        for number in numbers or (0,):
            cache.keep(question(number), Response(output=f"{output}{number}"))
        await cache.close()

    asyncio.run(work())


def find(folder: Path, number: int = 0, **options: object) -> Response | None:
    async def work() -> Response | None:
        cache = opened(folder, **options)
        try:
            return cache.find(question(number))
        finally:
            await cache.close()

    return asyncio.run(work())


def test_answer_can_be_read_at_once_and_later(tmp_path: Path) -> None:
    async def work() -> None:
        cache = opened(tmp_path)
        assert cache.find(question()) is None
        assert cache.keep(question(), Response(output="x"))
        assert cache.find(question()) == Response(output="x")
        await cache.close()

    asyncio.run(work())
    assert find(tmp_path) == Response(output="x")
    assert not cache_file(tmp_path).with_name("answers.sqlite-wal").exists()


def test_first_answer_stays(tmp_path: Path) -> None:
    keep(tmp_path, output="first ")
    keep(tmp_path, output="second ")
    assert find(tmp_path) == Response(output="first 0")


def damage(folder: Path, body: bytes = b'{"output": "tr') -> None:
    with sqlite3.connect(cache_file(folder)) as connection:
        connection.execute("UPDATE answers SET body = ?", (body,))
    connection.close()


@pytest.mark.parametrize("body", [b'{"output": "tr', b"", b"\x78\x01cut"])
def test_damaged_answer_is_replaced_with_a_warning(
    body: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    keep(tmp_path)
    damage(tmp_path, body)

    async def work() -> None:
        cache = opened(tmp_path)
        assert cache.find(question()) is None
        assert cache.find(question()) is None
        cache.keep(question(), Response(output="new"))
        await cache.close()

    asyncio.run(work())
    assert [record.message.count("a damaged answer") for record in caplog.records] == [1]
    assert find(tmp_path) == Response(output="new")


def test_value_of_another_type_in_the_store_is_damage(tmp_path: Path) -> None:
    keep(tmp_path)
    with sqlite3.connect(cache_file(tmp_path)) as connection:
        connection.execute("UPDATE answers SET body = 'text'")
    connection.close()
    assert find(tmp_path) is None


def newer(folder: Path) -> None:
    keep(folder)
    with sqlite3.connect(cache_file(folder)) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()


def foreign(folder: Path) -> None:
    with sqlite3.connect(cache_file(folder)) as connection:
        connection.execute("CREATE TABLE songs (name)")
    connection.close()


def noise(folder: Path) -> None:
    cache_file(folder).write_bytes(b"no database at all" * 1_000)


def half_written(folder: Path) -> None:
    keep(folder, *range(500), output="long " * 50)
    path = cache_file(folder)
    path.write_bytes(path.read_bytes()[:5_000])


def a_folder(folder: Path) -> None:
    cache_file(folder).mkdir()


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (newer, "written by a newer evenhand, found version 99"),
        (foreign, "another program"),
        (noise, "evenhand cache clear"),
        (half_written, "evenhand cache clear"),
        (a_folder, "cannot be opened"),
    ],
)
def test_store_that_cannot_be_used_costs_one_warning(
    spoil: object, why: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert callable(spoil)
    spoil(tmp_path)

    async def work() -> None:
        cache = opened(tmp_path)
        for number in range(3):
            assert cache.find(question(number)) is None
            cache.keep(question(number), Response(output="x"))
        await cache.close()

    asyncio.run(work())
    assert len(caplog.records) == 1
    assert why in caplog.records[0].message
    with pytest.raises(CacheUnavailable, match=why):
        find(tmp_path, only=True)


def test_read_only_folder_without_answers_costs_one_warning(
    open_folder: Path, without_privileges: None, caplog: pytest.LogCaptureFixture
) -> None:
    if os.geteuid() != NOBODY:
        open_folder.chmod(0o555)
    keep(open_folder / "cache")
    assert find(open_folder) is None
    assert all("cannot be" in record.message for record in caplog.records)
    assert len(caplog.records) == 2


def test_answers_in_a_read_only_folder_are_used(
    open_folder: Path, request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture
) -> None:
    keep(open_folder)
    cache_file(open_folder).chmod(0o444)
    open_folder.chmod(0o555)
    request.getfixturevalue("without_privileges")

    async def work() -> None:
        cache = opened(open_folder)
        assert cache.find(question()) == Response(output="x0")
        cache.keep(question(1), Response(output="x"))
        await cache.close()

    asyncio.run(work())
    assert find(open_folder, only=True) == Response(output="x0")
    assert len(caplog.records) == 1
    assert "answers are not kept any more in this run" in caplog.records[0].message
    assert "cannot be written; make it writable" in caplog.records[0].message


FILLING = """
import asyncio, resource, sys
from pathlib import Path
from evenhand.cache.answers import AnswerCache
from evenhand.cache.question import question_of
from evenhand.model.exchange import Response
from evenhand.store.redaction import Redactor

async def main():
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    cache = AnswerCache(Path(sys.argv[1]), Redactor(()))
    for number in range(2_000):
        cache.keep(question_of({"prompt": number}), Response(output=f"{number} " * 300))
        await asyncio.sleep(0)
    await cache.close()
    print("went on")

asyncio.run(main())
"""


def test_full_disk_costs_one_warning_and_no_answer_that_was_kept(tmp_path: Path) -> None:
    keep(tmp_path, 7)
    done = subprocess.run(
        [sys.executable, "-c", FILLING, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "went on\n")
    assert len(done.stderr.splitlines()) == 1
    assert "answers are not kept any more in this run" in done.stderr
    assert find(tmp_path, 7) == Response(output="x7")


WRITING = """
import asyncio, sys
from pathlib import Path
from evenhand.cache.answers import AnswerCache
from evenhand.cache.question import question_of
from evenhand.model.exchange import Response
from evenhand.store.redaction import Redactor

async def main(start, count):
    cache = AnswerCache(Path(sys.argv[1]), Redactor(()))
    for number in range(start, start + count):
        question = question_of({"prompt": number}, provider="p", test=f"t{number}")
        if cache.find(question) is None:
            cache.keep(question, Response(output=f"x{number}"))
        if number % 50 == 0:
            await asyncio.sleep(0.001)
        if number == start + 1_000:
            await asyncio.sleep(0.3)
            print("ready", flush=True)
    await cache.close()

asyncio.run(main(int(sys.argv[2]), int(sys.argv[3])))
"""


def writer(folder: Path, start: int, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITING, str(folder), str(start), str(count)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_several_runs_write_at_once(tmp_path: Path) -> None:
    children = [writer(tmp_path, number * 400, 800) for number in range(4)]
    for child in children:
        _, errors = child.communicate(timeout=60)
        assert (child.returncode, errors) == (0, "")
    with KeptAnswers(tmp_path) as kept:
        assert kept.stats().answers == 3 * 400 + 800
    assert find(tmp_path, 500) == Response(output="x500")


def test_killed_run_leaves_what_it_kept(tmp_path: Path) -> None:
    child = writer(tmp_path, 0, 1_000_000)
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    child.send_signal(signal.SIGKILL)
    child.communicate(timeout=30)
    assert find(tmp_path, 1_000) == Response(output="x1000")
    keep(tmp_path, 5_000_000)
    assert find(tmp_path, 5_000_000) is not None


def test_clock_that_jumps_loses_nothing(tmp_path: Path) -> None:
    future, past = 4e9, 1.0
    keep(tmp_path, 1, now=lambda: future)
    keep(tmp_path, 2, now=lambda: past)
    for moment in (past, future, 2e9):
        assert find(tmp_path, 1, now=lambda moment=moment: moment) is not None
        assert find(tmp_path, 2, now=lambda moment=moment: moment) is not None
    with KeptAnswers(tmp_path, writes=True) as kept:
        assert kept.collect(unused_days=1, now=2e9)[0] == 0


def test_use_is_noted_once_a_day(tmp_path: Path) -> None:
    keep(tmp_path, now=lambda: 1_000.0)

    def used() -> float:
        with KeptAnswers(tmp_path) as kept:
            return next(kept.newest()).used

    find(tmp_path, now=lambda: 1_000.0 + USED_EVERY_S - 1)
    assert used() == 1_000.0
    find(tmp_path, now=lambda: 1_000.0 + USED_EVERY_S + 1)
    assert used() == 1_000.0 + USED_EVERY_S + 1


def test_looking_leaves_no_trace(tmp_path: Path) -> None:
    assert find(tmp_path / "cache", only=True) is None
    with KeptAnswers(tmp_path / "cache") as kept:
        assert kept.stats().answers == 0
    assert list(tmp_path.iterdir()) == []


def test_cache_that_was_never_asked_makes_no_file(tmp_path: Path) -> None:
    asyncio.run(AnswerCache.close(opened(tmp_path / "cache")))
    assert list(tmp_path.iterdir()) == []
