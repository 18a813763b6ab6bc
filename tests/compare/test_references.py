"""Which runs a person means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evenhand.compare.changes import changes, compared
from evenhand.compare.references import MAX_BRANCH_RUNS, NothingYet, SuiteIdentity, resolve
from evenhand.errors import UsageError
from evenhand.model.result import CaseResult, CaseStatus, Git, Run, RunStatus
from evenhand.store.store import RunStore, open_store
from support.stored_results import a_result, a_run, finished

MAIN = Git(branch="main")


@pytest.fixture
def store() -> RunStore:
    return open_store(None)


def add(store: RunStore, run_id: str, *results: CaseResult, end: bool = True, **fields: Any) -> Run:
    run = a_run(run_id, **fields)
    writer = store.begin(run)
    for result in results:
        writer.add(result)
    if end:
        writer.finish(finished(run))
    else:
        writer.flush()
    return run


def statuses(store: RunStore, base: str, head: str) -> dict[str, tuple[str | None, str | None]]:
    pairs = changes(resolve(base, store), resolve(head, store))
    return {c.diff.cell.test_id: (c.diff.base_status, c.diff.head_status) for c in pairs}


def test_a_run_is_found_by_its_id_and_by_its_beginning(store: RunStore) -> None:
    add(store, "01AAAA0001")
    assert resolve("01AAAA0001", store).run_ids == resolve("01AA", store).run_ids == ("01AAAA0001",)
    with pytest.raises(UsageError, match="there is no run"):
        resolve("01BBBB", store)


def test_latest_is_the_latest_of_the_suite_without_the_run_itself(store: RunStore) -> None:
    first = add(store, "01AAAA0001")
    add(store, "01AAAA0002", suite_path="other/evenhand.yaml")
    add(store, "01AAAA0003")
    suite = SuiteIdentity.of_run(first)
    assert resolve("latest", store, suite=suite).label == "01AAAA0003"
    assert resolve("latest", store, suite=suite, without="01AAAA0003").label == "01AAAA0001"
    with pytest.raises(NothingYet):
        resolve("latest", store, suite=SuiteIdentity("nowhere.yaml"))


def test_a_suite_is_known_by_its_file_or_by_its_name_on_another_machine(store: RunStore) -> None:
    run = add(store, "01AAAA0001", suite="faq", project="shop")
    assert SuiteIdentity(run.suite_path).has(run)
    assert SuiteIdentity("/ci/evenhand.yaml", "shop", "faq").has(run)
    assert not SuiteIdentity("/ci/evenhand.yaml", "shop", "other").has(run)
    assert not SuiteIdentity("/ci/evenhand.yaml").has(run)


def test_on_a_branch_the_newest_result_of_each_case_wins(store: RunStore) -> None:
    add(store, "01AAAA0001", a_result(0, status=CaseStatus.FAIL), a_result(1), a_result(2), git=MAIN)
    add(store, "01AAAA0002", a_result(0), git=MAIN)
    add(store, "01AAAA0003", a_result(1, status=CaseStatus.FAIL), git=Git(branch="feature"))
    add(store, "01AAAA0004", a_result(0), a_result(1), a_result(3))
    assert resolve("branch:main", store).run_ids == ("01AAAA0002", "01AAAA0001")
    assert statuses(store, "branch:main", "01AAAA0004") == {
        "case/0": ("pass", "pass"),
        "case/1": ("pass", "pass"),
        "case/3": (None, "pass"),
        "case/2": ("pass", None),
    }


def test_a_branch_can_be_the_head_as_well(store: RunStore) -> None:
    add(store, "01AAAA0001", a_result(0), a_result(1), git=MAIN)
    add(store, "01AAAA0002", a_result(0, status=CaseStatus.FAIL), git=MAIN)
    found = compared(resolve("01AAAA0001", store), resolve("branch:main", store))
    assert (found.newly_failing, found.unchanged, found.added, found.removed) == (1, 1, 0, 0)


def test_a_branch_takes_stopped_runs_and_leaves_out_those_that_go_on(store: RunStore) -> None:
    add(store, "01AAAA0001", a_result(0), git=MAIN, end=False)
    with pytest.raises(NothingYet, match="no finished run on branch 'main'"):
        resolve("branch:main", store)
    add(store, "01AAAA0002", a_result(0), git=MAIN, status=RunStatus.STOPPED)
    assert resolve("branch:main", store).run_ids == ("01AAAA0002",)


def test_a_branch_is_put_together_from_so_many_runs_at_most(store: RunStore) -> None:
    for number in range(MAX_BRANCH_RUNS + 3):
        add(store, f"01AAAA{number:04}", a_result(number), git=MAIN)
    assert len(resolve("branch:main", store).run_ids) == MAX_BRANCH_RUNS


def test_a_branch_named_without_a_suite_is_that_of_the_suite_run_last_there(store: RunStore) -> None:
    add(store, "01AAAA0001", a_result(0), git=MAIN)
    add(store, "01AAAA0002", a_result(0), git=MAIN, suite_path="other/evenhand.yaml")
    assert resolve("branch:main", store).run_ids == ("01AAAA0002",)


def test_an_empty_branch_name_says_what_to_write(store: RunStore) -> None:
    with pytest.raises(UsageError, match="as in `branch:main`"):
        resolve("branch:", store)


def test_pages_and_runs_of_different_order_are_joined_by_key(store: RunStore) -> None:
    count = 1_300
    add(store, "01AAAA0001", *(a_result(i, index=i) for i in range(count)))
    add(store, "01AAAA0002", *(a_result(i, index=count - i) for i in range(1, count + 1)))
    found = compared(resolve("01AAAA0001", store), resolve("01AAAA0002", store))
    assert (found.unchanged, found.added, found.removed) == (count - 1, 1, 1)


def test_a_run_added_to_while_it_is_compared_is_read_as_far_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    with open_store(path) as writing, open_store(path) as reading:
        add(writing, "01AAAA0001", a_result(0))
        run = a_run("01AAAA0002")
        writer = writing.begin(run)
        writer.add(a_result(0))
        writer.flush()
        pairs = changes(resolve("01AAAA0001", reading), resolve("01AAAA0002", reading))
        assert next(pairs).diff.cell.test_id == "case/0"
        writer.add(a_result(1))
        writer.flush()
        assert {c.diff.cell.test_id for c in pairs} <= {"case/1"}
