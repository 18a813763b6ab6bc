"""Writing one run while it goes on."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenhand.errors import StoreError
from evenhand.model.result import CaseStatus, CellKey, RunStatus, Summary
from evenhand.store import writer as writer_module
from evenhand.store.encoding import document_of
from evenhand.store.redaction import REPLACEMENT, Redactor
from evenhand.store.store import RunStore, open_store
from evenhand.store.writer import BATCH, MAX_BACKLOG, Task
from support.stored_results import a_result, a_run, case_results, finished

RUN = a_run()


@pytest.fixture(params=["file", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    with open_store(tmp_path / "runs.sqlite" if request.param == "file" else None) as opened:
        yield opened


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(results=st.lists(case_results(), max_size=5, unique_by=lambda r: r.case_key))
def test_any_results_come_back_in_plan_order(results: list[Any]) -> None:
    with open_store(None) as store:
        writer = store.begin(RUN)
        for result in results:
            writer.add(result)
        writer.finish(finished(RUN))
        stored = list(store.results(RUN.run_id))
    expected = sorted(results, key=lambda result: result.index)
    assert [document_of(result) for result in stored] == [document_of(result) for result in expected]


def test_more_results_than_a_batch_a_page_and_the_backlog_come_back(store: RunStore) -> None:
    count = 2 * MAX_BACKLOG + BATCH + 7
    writer = store.begin(RUN)
    for place in range(count):
        writer.add(a_result(place, output="x" * (place % 90)))
    writer.flush()
    assert writer.backlog == 0
    writer.finish(finished(RUN))
    assert [result.index for result in store.results(RUN.run_id)] == list(range(count))


def test_first_result_of_a_cell_stays(store: RunStore) -> None:
    writer = store.begin(RUN)
    for output in ("first", "second", "third"):
        writer.add(a_result(0, output=output))
        writer.add(a_result(0, output=output))
        writer.flush()
    writer.finish(finished(RUN))
    again = store.reopen(RUN.run_id)
    again.add(a_result(0, output="fourth", status=CaseStatus.FAIL))
    again.finish(finished(RUN))
    assert [result.output for result in store.results(RUN.run_id)] == ["first"]


def test_same_cell_may_stand_in_two_runs(store: RunStore) -> None:
    for run_id in ("01ONE", "01TWO"):
        writer = store.begin(a_run(run_id))
        writer.add(a_result(0, output=run_id))
        writer.finish(finished(a_run(run_id)))
    assert [r.output for r in store.results("01TWO")] == ["01TWO"]


def test_two_runs_are_written_at_once_from_two_threads(store: RunStore) -> None:
    def write(run_id: str) -> None:
        writer = store.begin(a_run(run_id))
        for place in range(600):
            writer.add(a_result(place, output=run_id))
        writer.finish(finished(a_run(run_id)))

    threads = [threading.Thread(target=write, args=(f"01RUN{n}",)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for n in range(3):
        assert [r.output for r in store.results(f"01RUN{n}")] == [f"01RUN{n}"] * 600


def test_header_is_replaced_by_update_and_finish(store: RunStore) -> None:
    writer = store.begin(RUN)
    assert writer.run == RUN
    planned = a_run(planned_cells=5)
    writer.update(planned)
    writer.flush()
    assert store.find(RUN.run_id) == planned == writer.run
    ended = finished(planned, summary=Summary(total=5, passed=5), exit_code=0)
    writer.finish(ended)
    assert store.find(RUN.run_id) == ended == writer.run


def test_header_of_another_run_is_a_mistake_of_the_caller(store: RunStore) -> None:
    with pytest.raises(ValueError, match="of run"):
        store.begin(RUN).update(a_run("01OTHER"))


def test_finished_writer_takes_nothing_more(store: RunStore) -> None:
    writer = store.begin(RUN)
    writer.finish(finished(RUN))
    for call in (lambda: writer.add(a_result()), writer.flush, lambda: writer.finish(RUN)):
        with pytest.raises(StoreError, match="is finished; reopen it"):
            call()


def test_run_of_the_same_id_is_refused(store: RunStore) -> None:
    store.begin(RUN)
    with pytest.raises(StoreError, match="already holds a run of that id"):
        store.begin(RUN)


def test_run_deleted_while_it_is_written_says_so(store: RunStore) -> None:
    writer = store.begin(RUN)
    writer.add(a_result(0))
    writer.flush()
    store.delete(RUN.run_id)
    writer.add(a_result(1))
    with pytest.raises(StoreError, match="was deleted while it was written"):
        writer.flush()
    other = store.begin(a_run("01OTHER"))
    with pytest.raises(StoreError, match="was deleted while it was written"):
        writer.update(finished(RUN))
    other.finish(finished(a_run("01OTHER")))


def test_header_of_a_deleted_run_cannot_be_written(store: RunStore) -> None:
    writer = store.begin(RUN)
    store.delete(RUN.run_id)
    writer.update(a_run(planned_cells=1))
    with pytest.raises(StoreError, match="was deleted while it was written"):
        writer.flush()


def test_result_with_a_key_that_is_none_says_so_and_does_not_hang(store: RunStore) -> None:
    import msgspec

    writer = store.begin(RUN)
    writer.add(msgspec.structs.replace(a_result(), case_key="no key"))
    with pytest.raises(StoreError, match="could not be stored, found ValueError"):
        writer.flush()


def test_closing_the_store_writes_what_waits(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    store = open_store(path)
    writer = store.begin(RUN)
    for place in range(50):
        writer.add(a_result(place))
    store.close()
    store.close()
    with open_store(path) as again:
        assert len(again.finished_keys(RUN.run_id)) == 50
        assert again.find(RUN.run_id).status is RunStatus.RUNNING


def test_writer_of_a_closed_store_refuses(tmp_path: Path) -> None:
    store = open_store(tmp_path / "runs.sqlite")
    writer = store.begin(RUN)
    store.close()
    for call in (lambda: writer.add(a_result()), writer.flush, lambda: store.begin(a_run("01OTHER"))):
        with pytest.raises(StoreError, match="was closed"):
            call()


def test_thread_switching_is_as_before_once_the_store_is_closed() -> None:
    before = sys.getswitchinterval()
    with open_store(None) as store:
        store.begin(RUN)
    assert sys.getswitchinterval() == before


def test_large_outputs_wait_within_bounds(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer_module, "LARGE_OUTPUT", 1_000)
    monkeypatch.setattr(writer_module, "MAX_LARGE_OUTPUT", 10_000)
    writer = store.begin(RUN)
    for place in range(40):
        writer.add(a_result(place, output="x" * (20_000 if place % 4 == 0 else 4_000)))
        assert store._held.writer is not None
        assert store._held.writer._large_output <= 20_000
    writer.finish(finished(RUN))
    assert store._held.writer is not None
    assert store._held.writer._large_output == 0
    assert sum(1 for _ in store.results(RUN.run_id)) == 40


def test_nothing_stored_holds_a_secret(tmp_path: Path) -> None:
    secret = "sk-test-0123456789"
    path = tmp_path / "runs.sqlite"
    run = a_run(config_snapshot={"key": secret}, suite=f"suite {secret}")
    with open_store(path) as store:
        writer = store.begin(run, redactor=Redactor([secret]))
        writer.add(a_result(0, output="clean"))
        writer.add(a_result(1, output=f"my key is {secret}", vars={secret: [secret]}, error=secret))
        writer.add(a_result(2, cell=CellKey(provider_id="echo", test_id=f"case/{secret}")))
        writer.finish(finished(run))
        stored = list(store.results(run.run_id))
        header = store.find(run.run_id)
        by_glob = list(store.results(run.run_id, test_glob=f"*{secret}*"))
    assert [document_of(result).count(secret.encode()) for result in stored] == [0, 0, 0]
    assert stored[1].output == f"my key is {REPLACEMENT}"
    assert header.config_snapshot == {"key": REPLACEMENT}
    assert header.suite == f"suite {REPLACEMENT}"
    assert by_glob == []
    assert all(secret.encode() not in file.read_bytes() for file in tmp_path.iterdir())


def test_secrets_of_the_environment_are_redacted_unless_said_otherwise(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-env-0123456789")
    writer = store.begin(RUN)
    writer.add(a_result(0, output="sk-env-0123456789"))
    writer.finish(finished(RUN))
    again = store.reopen(RUN.run_id)
    again.add(a_result(1, output="sk-env-0123456789"))
    again.finish(finished(RUN))
    assert [result.output for result in store.results(RUN.run_id)] == [REPLACEMENT] * 2


def test_test_ids_with_unpaired_surrogates_are_stored(store: RunStore) -> None:
    writer = store.begin(RUN)
    writer.add(a_result(0, cell=CellKey(provider_id="echo", test_id="half \ud83d"), output="ü"))
    writer.add(a_result(1, cell=CellKey(provider_id="echo", test_id="größe/1")))
    writer.finish(finished(RUN))
    assert [r.cell.test_id for r in store.results(RUN.run_id)] == ["half \ufffd", "größe/1"]
    assert [r.index for r in store.results(RUN.run_id, test_glob="größe/*")] == [1]


def test_waiting_for_a_thread_that_ended_does_not_hang() -> None:
    with pytest.raises(StoreError, match="was closed"):
        Task(lambda connection: None).wait(lambda: False)
