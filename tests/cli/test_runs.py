from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.suites_on_disk import PASSING, SUITE, write_suite


@pytest.fixture
def ran_twice(evenhand):
    """The command line after a failed and a passed run."""
    write_suite(SUITE)
    evenhand("run")
    write_suite(PASSING)
    evenhand("run")
    return evenhand


def run_ids(evenhand) -> list[str]:
    return [run["run_id"] for run in json.loads(evenhand("runs", "list", "--json").out)]


def test_runs_are_listed_newest_first(ran_twice) -> None:
    done = ran_twice("runs")
    heading, newest, oldest = done.out.splitlines()
    assert heading.split() == ["run", "started", "suite", "outcome", "cells", "passed", "failed", "errored"]
    assert newest.split()[3:] == ["passing", "passed", "1", "1", "0", "0"]
    assert oldest.split()[3:] == ["capitals", "failed", "6", "2", "4", "0"]
    assert done.code == 0


def test_the_list_is_bounded_unless_all_are_asked_for(ran_twice) -> None:
    assert len(ran_twice("runs", "list", "-n", "1").out.splitlines()) == 2
    assert len(ran_twice("runs", "list", "-n", "1", "--all").out.splitlines()) == 3


def test_an_empty_store_says_how_to_begin(evenhand) -> None:
    done = evenhand("runs", "list")
    assert (done.code, done.out) == (0, "")
    assert done.err == (
        "there are no runs of this project yet; start one with `evenhand run`, or say whose are meant with "
        "`--suite PATH`\n"
    )
    assert json.loads(evenhand("runs", "list", "--json").out) == []


def test_looking_for_runs_leaves_no_trace(evenhand, tmp_path: Path) -> None:
    assert evenhand("runs").code == 0
    assert evenhand("runs", "prune", "--keep", "1d").out == "deleted 0 runs\n"
    assert evenhand("view").err.startswith("error: there is no run yet; ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["project"]


def test_runs_are_deleted_by_the_beginning_of_their_id(ran_twice) -> None:
    newest, oldest = run_ids(ran_twice)
    done = ran_twice("runs", "delete", oldest)
    assert (done.code, done.out.startswith(f"deleted {oldest} of ")) == (0, True)
    assert run_ids(ran_twice) == [newest]


def test_nothing_is_deleted_where_one_of_the_runs_is_unknown(ran_twice) -> None:
    before = run_ids(ran_twice)
    assert ran_twice("runs", "delete", before[0], "01XXXXXXXX").code == 2
    assert run_ids(ran_twice) == before


def test_a_run_named_twice_is_deleted_once(ran_twice) -> None:
    newest, oldest = run_ids(ran_twice)
    assert ran_twice("runs", "delete", newest, newest).code == 0
    assert run_ids(ran_twice) == [oldest]


@pytest.mark.parametrize(("keep", "left"), [("90d", 2), ("4w", 2), ("12h", 2), ("0d", 0), ("0.5d", 2)])
def test_prune_keeps_a_period(ran_twice, keep: str, left: int) -> None:
    done = ran_twice("runs", "prune", "--keep", keep)
    assert done.code == 0
    assert done.out == f"deleted {2 - left} runs\n"
    assert len(run_ids(ran_twice)) == left


@pytest.mark.parametrize("keep", ["90", "d", "-1d", "ninety days", "1y", "9" * 400 + "d"])
def test_prune_refuses_what_is_no_period(ran_twice, keep: str) -> None:
    done = ran_twice("runs", "prune", f"--keep={keep}")
    assert done.code == 2
    assert "is not a period; write hours, days or weeks as in 12h, 90d, 4w" in done.err
    assert len(run_ids(ran_twice)) == 2


def test_prune_needs_a_period(ran_twice) -> None:
    assert ran_twice("runs", "prune").code == 2
    assert len(run_ids(ran_twice)) == 2
