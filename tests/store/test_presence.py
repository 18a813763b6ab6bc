"""A run that goes on is known from one whose process was killed."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from evenhand.store.presence import FOLDER_NAME, goes_on
from evenhand.store.store import open_store
from support.stored_results import a_result, a_run, finished

RUN = a_run()

WRITES = """
import sys, time
from pathlib import Path
from evenhand.model.result import Run
from evenhand.store.store import open_store
store = open_store(Path(sys.argv[1]))
writer = store.begin(Run(run_id=sys.argv[2]))
print("begun", flush=True)
time.sleep(600)
"""


def test_a_run_goes_on_from_its_begin_to_its_end(tmp_path: Path) -> None:
    with open_store(tmp_path / "runs.sqlite") as store:
        assert store.goes_on(RUN.run_id) is False
        writer = store.begin(RUN)
        assert store.goes_on(RUN.run_id) is True
        writer.add(a_result())
        writer.finish(finished(RUN))
        assert store.goes_on(RUN.run_id) is False
        assert store.status_counts(RUN.run_id) == {"pass": 1}
    assert not (tmp_path / FOLDER_NAME).exists()


def test_a_run_that_is_gone_on_with_goes_on_again(tmp_path: Path) -> None:
    with open_store(tmp_path / "runs.sqlite") as store:
        store.begin(RUN)
        assert store.goes_on(RUN.run_id) is False
        writer = store.reopen(RUN.run_id)
        assert store.goes_on(RUN.run_id) is True
        writer.finish(finished(RUN))
        assert store.goes_on(RUN.run_id) is False


def test_a_run_whose_process_was_killed_does_not_go_on(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    command = [sys.executable, "-c", WRITES, str(path), RUN.run_id]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"begun\n"
        assert goes_on(path, RUN.run_id) is True
        child.send_signal(signal.SIGKILL)
        child.wait()
        assert goes_on(path, RUN.run_id) is False


def test_runs_that_end_together_take_nothing_from_each_other(tmp_path: Path) -> None:
    runs = [a_run(f"01J0000000000000000000RUN{n}") for n in range(3)]
    with open_store(tmp_path / "runs.sqlite") as store:
        writers = [store.begin(run) for run in runs]
        writers[0].finish(finished(runs[0]))
        assert [store.goes_on(run.run_id) for run in runs] == [False, True, True]
        for run, writer in zip(runs[1:], writers[1:], strict=True):
            writer.finish(finished(run))


def test_of_a_store_in_memory_nobody_knows() -> None:
    with open_store(None) as store:
        store.begin(RUN)
        assert store.goes_on(RUN.run_id) is None
