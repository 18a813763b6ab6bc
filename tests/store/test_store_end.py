"""When a store lets go of its file and its thread."""

from __future__ import annotations

import gc
import threading
from pathlib import Path

import pytest

from evenhand.store.store import RunStore, open_store
from support.stored_results import a_result, a_run, finished

RUN = a_run("01JAAAA1")


def with_a_run(path: Path | None) -> RunStore:
    store = open_store(path)
    writer = store.begin(RUN)
    writer.add(a_result(0))
    writer.finish(finished(RUN))
    return store


def thread_of(store: RunStore) -> threading.Thread:
    assert store._held.writer is not None
    return store._held.writer._thread


@pytest.fixture(params=["file", "memory"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path | None:
    return tmp_path / "runs.sqlite" if request.param == "file" else None


def test_store_that_nobody_needs_ends_its_thread(path: Path | None) -> None:
    store = with_a_run(path)
    thread = thread_of(store)
    assert thread.is_alive()
    del store
    gc.collect()
    assert not thread.is_alive()


def test_iterators_keep_the_store_that_they_read_from(path: Path | None) -> None:
    results = with_a_run(path).results(RUN.run_id)
    runs = with_a_run(None).runs()
    gc.collect()
    assert [result.index for result in results] == [0]
    assert [run.run_id for run in runs] == [RUN.run_id]


def test_a_writer_keeps_the_store_that_it_writes_to(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    writer = open_store(path).begin(RUN)
    gc.collect()
    writer.add(a_result(0))
    writer.finish(finished(RUN))
    with open_store(path) as store:
        assert sum(1 for _ in store.results(RUN.run_id)) == 1


def test_what_waits_is_written_when_a_store_is_let_go_of(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    writer = open_store(path).begin(RUN)
    for place in range(50):
        writer.add(a_result(place))
    del writer
    gc.collect()
    with open_store(path) as store:
        assert sum(1 for _ in store.results(RUN.run_id)) == 50
