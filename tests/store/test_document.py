"""A run as one JSON document."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import UsageError
from evenhand.model.result import RESULT_SCHEMA_VERSION, Filters, Git, Run, Summary
from evenhand.store.document import read_document, run_document
from evenhand.store.encoding import document_of
from support.stored_results import a_result, a_run, case_results, finished


def document(run: Run, *cases: Any) -> bytes:
    return b"".join(run_document(run, cases))


@settings(max_examples=30)
@given(st.lists(case_results(), max_size=3))
def test_document_reads_back_as_the_run_and_its_cases(cases: list[Any]) -> None:
    run = finished(a_run(git=Git(commit="abc"), digests={"tests": "d"}), summary=Summary(total=len(cases)))
    again, read_cases = read_document(document(run, *cases))
    assert again == run
    assert [document_of(case) for case in read_cases] == [document_of(case) for case in cases]


def test_header_states_what_is_known_even_at_its_default() -> None:
    read = json.loads(document(a_run()))
    assert read["schema_version"] == RESULT_SCHEMA_VERSION
    assert read["status"] == "running"
    assert read["filters"] == {"tags": [], "filters": [], "providers": [], "prompts": [], "failed_of": None}
    assert read["summary"]["total"] == 0
    assert read["cases"] == []
    assert "finished_at" not in read


def test_names_are_those_of_the_run_document() -> None:
    read = json.loads(document(finished(a_run(filters=Filters(tags=("smoke",)))), a_result(0, output="x")))
    assert {"run_id", "suite_path", "started_at", "finished_at", "config_digest", "filters", "cases"} <= set(
        read
    )
    (case,) = read["cases"]
    assert {"cell", "case_key", "name", "status", "score", "output", "asserts"} <= set(case)
    assert case["cell"] == {"provider_id": "echo", "test_id": "case/0", "repeat": 0}


def test_cases_stand_one_to_a_line() -> None:
    lines = document(a_run(), a_result(0, output="a\nb\r"), a_result(1)).split(b"\n")
    assert json.loads(lines[-4].rstrip(b","))["output"] == "a\nb\r"
    assert json.loads(lines[-3])["index"] == 1


def test_cases_are_streamed() -> None:
    taken = []

    def cases() -> Any:
        for place in range(3):
            taken.append(place)
            yield a_result(place)

    pieces = run_document(a_run(), cases())
    for piece in pieces:
        if b'"index":1' in piece:
            break
    assert taken == [0, 1]


def test_hostile_values_make_a_valid_document() -> None:
    deep: Any = 1
    for _ in range(5_000):
        deep = [deep]
    run = a_run(config_snapshot={"x": "\ud83d", "deep": deep})
    written = document(run, a_result(0, output="\ud83d"), a_result(1, output=deep))
    assert [case["index"] for case in json.loads(written)["cases"] if "index" in case] == [1]
    assert len(list(read_document(written)[1])) == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a run document, found"),
        (b"[]", "not a run document, found"),
        (b"\xff", "not a run document, found"),
        (b"[" * 100_000, "not a run document, found"),
        (b'{"schema_version":' + b"[" * 100_000, "not a run document, found"),
        (b"{}", "`schema_version`"),
        (b'{"schema_version":1,"run_id":"x"}', "`cases`"),
        (b'{"schema_version":1,"cases":[]}', "`run_id`"),
        (b'{"schema_version":99}', "newer evenhand, found `schema_version` 99"),
    ],
)
def test_anything_else_is_refused_by_name(content: bytes, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_document(content, name="base.json")
    assert str(caught.value).startswith("base.json: ")
    assert message in str(caught.value)


def test_case_that_cannot_be_read_is_named_when_its_turn_comes() -> None:
    broken = document(a_run(), a_result(0), a_result(1)).replace(b'"name":"case/1"', b'"name":1')
    _, cases = read_document(broken, name="base.json")
    assert next(cases).name == "case/0"
    with pytest.raises(UsageError, match=r"base\.json: cases\[1\]: not a run document"):
        next(cases)
