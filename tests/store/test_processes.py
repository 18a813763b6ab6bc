"""Several processes at one store, and processes that are killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import evenhand
from evenhand.model.result import RunStatus
from evenhand.store.store import RunStore, open_store
from support.stored_results import a_result, finished

HANG_GUARD_S = 60
PROGRAM = Path(__file__).with_name("storing.py")


def start(path: Path, run_id: str, count: int, mode: str) -> subprocess.Popen[str]:
    sources = (Path(evenhand.__file__).parents[1], Path(__file__).parents[1])
    return subprocess.Popen(
        [sys.executable, str(PROGRAM), str(path), run_id, str(count), mode],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, sources))},
    )


def read_until(process: subprocess.Popen[str], line: str) -> list[str]:
    assert process.stdout is not None
    lines: list[str] = []
    for found in process.stdout:
        lines.append(found.strip())
        if lines[-1] == line:
            return lines
    raise AssertionError(f"the process ended with {lines}")


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait(HANG_GUARD_S)
    assert process.stdout is not None
    process.stdout.close()


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + HANG_GUARD_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def outputs(store: RunStore, run_id: str) -> list[object]:
    return [result.output for result in store.results(run_id)]


def test_killed_process_loses_nothing_that_was_committed_and_the_run_can_be_finished(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    process = start(path, "01KILLED", 2_100, "hang")
    try:
        read_until(process, "committed 2000")
    finally:
        kill(process)
    with open_store(path) as store:
        run = store.unfinished("evals/evenhand.yaml")
        assert run is not None
        assert (run.run_id, run.status) == ("01KILLED", RunStatus.RUNNING)
        done = store.finished_keys("01KILLED")
        assert 2_000 <= len(done) <= 2_100
        writer = store.reopen("01KILLED")
        missing = [result for result in map(a_result, range(2_200)) if result.case_key not in done]
        assert len(missing) == 2_200 - len(done)
        for result in missing:
            writer.add(result)
        writer.finish(finished(run))
        results = list(store.results("01KILLED"))
    assert [result.index for result in results] == list(range(2_200))
    assert [result.output for result in results[:2_000]] == [f"answer {i} of 01KILLED" for i in range(2_000)]


def test_results_are_committed_without_being_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    process = start(path, "01TRICKLE", 7, "trickle")
    try:
        read_until(process, "added 7")
        with open_store(path) as store:
            wait_for(lambda: len(store.finished_keys("01TRICKLE")) == 7)
    finally:
        kill(process)
    with open_store(path) as store:
        assert len(outputs(store, "01TRICKLE")) == 7


def test_two_processes_write_two_runs_into_one_store_at_once(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    processes = [start(path, run_id, 1_500, "finish") for run_id in ("01FIRST", "01SECOND")]
    for process in processes:
        read_until(process, "finished")
        assert process.wait(HANG_GUARD_S) == 0
        assert process.stdout is not None
        process.stdout.close()
    with open_store(path) as store:
        for run_id in ("01FIRST", "01SECOND"):
            assert store.find(run_id).status is RunStatus.FINISHED
            assert outputs(store, run_id) == [f"answer {place} of {run_id}" for place in range(1_500)]


def test_run_can_be_read_while_another_process_writes_it(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    process = start(path, "01LIVE", 1_000, "hang")
    try:
        read_until(process, "committed 500")
        with open_store(path) as store:
            assert len(outputs(store, "01LIVE")) >= 500
        read_until(process, "committed 1000")
    finally:
        kill(process)
