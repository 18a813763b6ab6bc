"""Runs and their results as queries."""

from __future__ import annotations

import datetime as dt
import fnmatch
from collections.abc import Iterator
from pathlib import Path

import pytest

from evenhand.errors import ExitCode, StoreError, UsageError
from evenhand.model.result import CaseStatus, CellKey, Run, RunStatus
from evenhand.store.store import RunStore, open_store
from support.stored_results import a_result, a_run, an_errored_result, finished

IDS = ("01JAAAA1", "01JAAAB2", "01JBBBC3")


@pytest.fixture(params=["file", "memory"])
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RunStore]:
    with open_store(tmp_path / "runs.sqlite" if request.param == "file" else None) as opened:
        yield opened


@pytest.fixture
def store(empty: RunStore) -> RunStore:
    """Three finished runs, begun in the order of `IDS`; the middle one is of another suite."""
    for day, run_id in enumerate(IDS, start=1):
        other = run_id == IDS[1]
        add_run(
            empty,
            a_run(
                run_id,
                started_at=f"2026-11-0{day}T10:00:00Z",
                suite="math" if other else "qa",
                suite_path="evals/math.yaml" if other else "evals/qa.yaml",
            ),
        )
    return empty


def add_run(store: RunStore, run: Run, results: int = 2, *, end: bool = True) -> None:
    writer = store.begin(run)
    for place in range(results):
        writer.add(a_result(place))
    if end:
        writer.finish(finished(run))
    else:
        writer.flush()


def ids(runs: Iterator[Run]) -> list[str]:
    return [run.run_id for run in runs]


def test_runs_come_newest_first(store: RunStore) -> None:
    assert ids(store.runs()) == list(reversed(IDS))
    assert ids(store.runs(limit=1)) == [IDS[2]]
    assert ids(store.runs(limit=0)) == []


def test_order_is_that_of_beginning_whatever_the_clock_said(empty: RunStore) -> None:
    add_run(empty, a_run("01LATER", started_at="2026-11-09T00:00:00Z"))
    add_run(empty, a_run("01EARLIER", started_at="2026-11-08T00:00:00Z"))
    assert empty.find("latest").run_id == "01EARLIER"


def test_runs_are_chosen_by_suite_and_status(store: RunStore) -> None:
    add_run(store, a_run("01RUNNING", suite="math"), end=False)
    assert ids(store.runs(suite="qa")) == [IDS[2], IDS[0]]
    assert ids(store.runs(suite="evals/math.yaml")) == [IDS[1]]
    assert ids(store.runs(status=RunStatus.RUNNING)) == ["01RUNNING"]
    assert ids(store.runs(suite="math", status=RunStatus.FINISHED)) == [IDS[1]]


def test_more_runs_than_a_page_are_listed(empty: RunStore) -> None:
    for place in range(120):
        add_run(empty, a_run(f"01RUN{place:03}"), results=0)
    assert ids(empty.runs()) == [f"01RUN{place:03}" for place in reversed(range(120))]
    assert len(ids(empty.runs(limit=77))) == 77


@pytest.mark.parametrize(
    ("reference", "run_id"),
    [
        ("latest", IDS[2]),
        (IDS[0], IDS[0]),
        (IDS[1].lower(), IDS[1]),
        ("01JAAAA", IDS[0]),
        ("01jb", IDS[2]),
    ],
)
def test_run_is_found_by_what_people_call_it(store: RunStore, reference: str, run_id: str) -> None:
    assert store.find(reference).run_id == run_id


def test_latest_run_of_a_suite_is_found(store: RunStore) -> None:
    assert store.find("latest", suite_path=Path("evals/math.yaml")).run_id == IDS[1]
    with pytest.raises(UsageError, match="no run of 'evals/other"):
        store.find("latest", suite_path="evals/other.yaml")


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("01JAAA", "not unique, found `01JAAAB2`, `01JAAAA1`; give more of the id"),
        ("01J", "give at least 4 characters of its id, or `latest`"),
        ("01JAAAA9", "did you mean '01JAAA"),
        ("latets", "did you mean 'latest'"),
        ("01J%", "there is no run '01J%'"),
        ("zzzzzzzzzz", f"`evenhand runs` lists them, the newest is '{IDS[2]}'"),
        ("", "there is no run ''"),
    ],
)
def test_reference_to_no_run_or_several_offers_the_nearest(
    store: RunStore, reference: str, message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        store.find(reference)
    assert message in str(caught.value)
    assert caught.value.exit_code is ExitCode.SUITE


def test_empty_store_says_so(empty: RunStore) -> None:
    for reference in ("latest", "01JAAAA1"):
        with pytest.raises(UsageError, match=r"start (a run|one) with `evenhand run`"):
            empty.find(reference)
    assert list(empty.runs()) == []


def test_queries_on_an_unknown_run_offer_the_nearest(store: RunStore) -> None:
    for call in (store.finished_keys, store.failed_keys, store.delete, store.reopen, store.results):
        with pytest.raises(UsageError, match="did you mean"):
            call("01JAAAA9")


def test_unfinished_run_of_a_suite_is_the_latest_that_did_not_end(empty: RunStore) -> None:
    path = "evals/qa.yaml"
    assert empty.unfinished(path) is None
    for run_id, status in (
        ("01A", RunStatus.INTERRUPTED),
        ("01B", RunStatus.STOPPED),
        ("01C", RunStatus.FINISHED),
    ):
        run = a_run(run_id, suite_path=path, status=status)
        empty.begin(run).finish(run)
    add_run(empty, a_run("01D", suite_path="evals/other.yaml"), end=False)
    found = empty.unfinished(Path(path))
    assert found is not None
    assert found.run_id == "01B"


@pytest.fixture
def mixed(empty: RunStore) -> RunStore:
    """One run whose results were added against the order of the plan."""
    writer = empty.begin(a_run())
    for place in reversed(range(1_200)):
        if place % 100 == 1:
            writer.add(an_errored_result(place))
        elif place % 100 == 2:
            writer.add(a_result(place, status=CaseStatus.FAIL))
        else:
            writer.add(a_result(place, status=CaseStatus.XPASS if place == 777 else CaseStatus.PASS))
    writer.finish(finished(a_run()))
    return empty


def test_results_come_in_the_order_of_the_plan_or_as_they_finished(mixed: RunStore) -> None:
    run_id = a_run().run_id
    assert [r.index for r in mixed.results(run_id)] == list(range(1_200))
    assert [r.index for r in mixed.results(run_id, order="finished")] == list(reversed(range(1_200)))


def test_results_without_a_place_in_the_plan_come_as_they_finished(empty: RunStore) -> None:
    writer = empty.begin(a_run())
    for place in (3, 1, 2):
        writer.add(a_result(place, index=0))
    writer.finish(finished(a_run()))
    assert [r.name for r in empty.results(a_run().run_id)] == ["case/3", "case/1", "case/2"]


def test_results_are_chosen_by_status_and_glob(mixed: RunStore) -> None:
    run_id = a_run().run_id
    failed = list(mixed.results(run_id, statuses=[CaseStatus.FAIL, CaseStatus.ERROR]))
    assert [r.index for r in failed] == [p for p in range(1_200) if p % 100 in (1, 2)]
    assert [r.index for r in mixed.results(run_id, statuses=("xpass",))] == [777]
    assert list(mixed.results(run_id, statuses=())) == []
    assert [r.index for r in mixed.results(run_id, test_glob="case/77?")] == list(range(770, 780))
    assert [r.index for r in mixed.results(run_id, test_glob="*7", statuses=["xpass"], order="finished")] == [
        777
    ]
    assert list(mixed.results(run_id, test_glob="CASE/*")) == []


def test_glob_means_what_it_means_to_a_filter(empty: RunStore) -> None:
    writer = empty.begin(a_run())
    ids = ["sum[1]", "sum1", "sum2", "a/b/c", "Sum1"]
    for place, test_id in enumerate(ids):
        writer.add(a_result(place, cell=CellKey(provider_id="echo", test_id=test_id)))
    writer.finish(finished(a_run()))
    for glob in ("sum[1]", "sum[!1]", "sum?", "a/*", "*", "*m1", "[sS]um1", "[", "none"):
        chosen = [r.cell.test_id for r in empty.results(a_run().run_id, test_glob=glob)]
        assert chosen == [i for i in ids if i == glob or fnmatch.fnmatchcase(i, glob)]


def test_run_without_results_has_none_in_any_order(empty: RunStore) -> None:
    empty.begin(a_run())
    assert list(empty.results(a_run().run_id)) == []
    assert list(empty.results(a_run().run_id, order="finished")) == []
    assert len(empty.finished_keys(a_run().run_id)) == 0


def test_outputs_larger_than_the_cache_are_read_in_any_order(empty: RunStore) -> None:
    writer = empty.begin(a_run())
    for place in (0, 5, 1, 6, 2, 7, 3, 8, 4, 9):
        writer.add(a_result(place, output=f"{place}" * 1_500_000))
    writer.finish(finished(a_run()))
    outputs = [str(r.output) for r in empty.results(a_run().run_id)]
    assert [output[:1] for output in outputs] == list("0123456789")
    assert {len(output) for output in outputs} == {1_500_000}


def test_keys_of_finished_and_failed_results(mixed: RunStore) -> None:
    run_id = a_run().run_id
    assert mixed.finished_keys(run_id) == {a_result(place).case_key for place in range(1_200)}
    assert mixed.failed_keys(run_id) == {
        a_result(place).case_key for place in range(1_200) if place % 100 in (1, 2) or place == 777
    }


def test_deleted_run_is_gone_and_its_space_is_given_back(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    with open_store(path) as store:
        add_run(store, a_run("01KEEP"))
        small = path.stat().st_size
        add_run(store, a_run("01GONE"), results=3_000)
        assert path.stat().st_size > 2 * small
        store.delete("01GONE")
        assert ids(store.runs()) == ["01KEEP"]
        assert len(list(store.results("01KEEP"))) == 2
        add_run(store, a_run("01NEXT"))
    assert path.stat().st_size < 2 * small


def test_run_deleted_while_it_is_read_says_so(mixed: RunStore) -> None:
    results = mixed.results(a_run().run_id)
    next(results)
    mixed.delete(a_run().run_id)
    with pytest.raises(StoreError, match="was deleted while it was read"):
        list(results)


def test_prune_keeps_the_newest_runs(store: RunStore) -> None:
    assert store.prune(keep=2) == 1
    assert ids(store.runs()) == [IDS[2], IDS[1]]
    assert store.prune(keep=5) == 0
    assert store.prune(keep=0) == 2
    assert list(store.runs()) == []


def test_prune_keeps_the_runs_of_the_last_days(store: RunStore) -> None:
    add_run(store, a_run("01UNDATED", started_at="some day"))
    add_run(store, a_run("01NAIVE", started_at="2026-11-01T00:00:00"))
    now = dt.datetime(2026, 11, 5, 9, tzinfo=dt.UTC)
    assert store.prune(keep_days=3, now=now) == 2
    assert ids(store.runs()) == ["01UNDATED", IDS[2], IDS[1]]


def test_prune_needs_to_know_what_to_keep(store: RunStore) -> None:
    with pytest.raises(UsageError, match="which runs to keep"):
        store.prune()


def test_one_damaged_block_is_named_when_its_turn_comes(tmp_path: Path) -> None:
    import sqlite3

    path = tmp_path / "runs.sqlite"
    with open_store(path) as store:
        add_run(store, a_run())
        other = sqlite3.connect(path)
        other.execute("UPDATE blocks SET body = zeroblob(20)")
        other.execute("UPDATE runs SET document = zeroblob(20)")
        other.commit()
        other.close()
        with pytest.raises(StoreError, match="result 1 cannot be read, found"):
            list(store.results(a_run().run_id))
        with pytest.raises(StoreError, match="a run cannot be read"):
            store.find("latest")


def test_run_of_a_newer_schema_is_refused_by_name(empty: RunStore) -> None:
    empty.begin(a_run(schema_version=99))
    with pytest.raises(StoreError, match="found `schema_version` 99 where this one knows up to"):
        empty.find("latest")
