"""The index over stored results."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from evenhand.model.outcome import Status
from evenhand.model.result import AssertResult, CaseStatus, Run
from evenhand.web.case_index import BATCH, MAX_WORDS, CaseIndex, why, words
from support.viewed import RUN_ID, a_case, a_failure


def count(index: CaseIndex) -> int:
    return index.rows("SELECT count(*) FROM cases")[0][0]


def test_what_was_committed_is_taken_in_once(store, index, add) -> None:
    add(*(a_case(n) for n in range(BATCH + 3)))
    assert index.bring_up_to_date(store, RUN_ID) == BATCH + 3
    assert index.bring_up_to_date(store, RUN_ID) == 0
    assert count(index) == BATCH + 3


def test_a_run_in_progress_is_followed(store, index) -> None:
    writer = store.begin(Run(run_id=RUN_ID))
    writer.add(a_case(0))
    writer.flush()
    assert index.bring_up_to_date(store, RUN_ID) == 1
    writer.add(a_case(1))
    writer.flush()
    assert index.bring_up_to_date(store, RUN_ID) == 1
    assert count(index) == 2


def test_runs_do_not_mix(store, index, add) -> None:
    add(a_case(0), run_id="01J0000000000000000000000A")
    add(a_case(0), a_case(1), run_id="01J0000000000000000000000B")
    assert index.bring_up_to_date(store, "01J0000000000000000000000B") == 2
    assert index.bring_up_to_date(store, "01J0000000000000000000000A") == 1


@pytest.mark.parametrize("content", [b"no database" * 100, b"", "other version"])
def test_a_file_that_is_no_index_of_this_version_is_made_anew(content, tmp_path: Path, store, add) -> None:
    path = tmp_path / "viewer.sqlite"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        CaseIndex(path).close()
        other = sqlite3.connect(path)
        other.execute("PRAGMA user_version = 999")
        other.close()
    add(a_case(0))
    index = CaseIndex(path)
    assert index.bring_up_to_date(store, RUN_ID) == 1
    index.close()
    again = CaseIndex(path)
    assert again.bring_up_to_date(store, RUN_ID) == 0
    assert count(again) == 1
    again.close()


def test_a_list_says_why_a_case_did_not_pass() -> None:
    assert why(a_failure(0)) == 'contains: output does not contain "Paris"'
    assert why(a_case(0, status=CaseStatus.ERROR, error="no answer within 5 ms")) == "no answer within 5 ms"
    assert why(a_case(0)) == ""


def test_reasons_of_failures_are_searched_before_a_long_output_is_cut() -> None:
    failure = AssertResult(kind="contains", status=Status.FAIL, reason="needle")
    case = a_case(0, output="hay " * 100_000, asserts=(failure,))
    assert "needle" in words(case)
    assert len(words(case)) <= MAX_WORDS
