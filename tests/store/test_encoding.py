"""Results as they stand in the store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.model.assertion import Assertion
from evenhand.model.outcome import Status
from evenhand.model.result import CaseStatus
from evenhand.store import encoding
from evenhand.store.encoding import (
    document_of,
    pack,
    pack_run,
    result_of,
    unpack,
    unpack_run,
    without_secrets,
)
from evenhand.store.rebuilding import MAX_DEPTH, TOO_DEEP, deeper_than
from evenhand.store.redaction import REPLACEMENT, Redactor
from evenhand.template import Val
from support.stored_results import a_result, a_run, an_assert, an_errored_result, case_results
from support.vectors import row_id, rows

NO_SECRETS = Redactor(())


class HasWord(Assertion, frozen=True, kw_only=True, tag="has-word"):
    """The output has a word."""

    value: Val


def as_json(result: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(result))


def nested(levels: int) -> Any:
    value: Any = {"core": 1}
    for level in range(levels):
        value = [value] if level % 2 else {"a": value, "b": 0}
    return value


@settings(max_examples=60)
@given(case_results())
def test_any_result_comes_back_as_it_was(result: Any) -> None:
    again = result_of(document_of(result))
    assert as_json(again) == as_json(result)
    assert document_of(again) == document_of(result)


@settings(max_examples=40)
@given(st.lists(case_results(), min_size=1, max_size=4))
def test_blocks_keep_every_document_in_its_place(results: list[Any]) -> None:
    documents = [document_of(result) for result in results]
    assert all(b"\n" not in document for document in documents)
    assert unpack(pack(documents)) == documents


def test_assertion_is_stored_as_it_was_written() -> None:
    criteria = HasWord(value=Val("{{ name }}"), negate=True)
    stored = result_of(document_of(a_result(asserts=(an_assert(criteria=criteria),))))
    assert stored.asserts[0].criteria == {"type": "has-word", "value": "{{ name }}", "negate": True}


def test_assertion_beside_something_unstorable_is_stored_as_it_was_written() -> None:
    criteria = HasWord(value=Val({"x": "{{ name }}", "half": "\ud83d"}))
    stored = result_of(document_of(a_result(asserts=(an_assert(criteria=criteria),))))
    assert stored.asserts[0].criteria == {"type": "has-word", "value": {"x": "{{ name }}", "half": "\ufffd"}}


@pytest.mark.parametrize(
    "row", [r for r in rows("field-cases") if r["id"] == "lone-surrogate-output"], ids=row_id
)
def test_half_a_surrogate_pair_is_stored_as_valid_utf8(row: dict[str, Any]) -> None:
    document = document_of(a_result(output=row["input"]["output"], error="\udcff", vars={"\ud800": "\ud800"}))
    document.decode()
    stored = result_of(document)
    assert (stored.output, stored.error, stored.vars) == ("ok \ufffd end", "\ufffd", {"\ufffd": "\ufffd"})


@pytest.mark.parametrize(
    "row", [r for r in rows("field-cases") if r["id"] == "nul-and-control-output"], ids=row_id
)
def test_control_characters_are_stored(row: dict[str, Any]) -> None:
    assert result_of(document_of(a_result(output=row["input"]["output"]))).output == row["input"]["output"]


@pytest.mark.parametrize(
    "row", [r for r in rows("field-cases") if r["id"] == "huge-single-output"], ids=row_id
)
def test_output_of_fifty_megabytes_is_stored_whole(row: dict[str, Any]) -> None:
    character, count, end = row["input"]["output_repeat"]
    output = character * count + end
    (document,) = unpack(pack([document_of(a_result(output=output))]))
    assert result_of(document).output == output


def test_ten_thousand_assertions_are_stored() -> None:
    result = a_result(asserts=tuple(an_assert(criteria={"value": place}) for place in range(10_000)))
    assert as_json(result_of(document_of(result))) == as_json(result)


@pytest.mark.parametrize("levels", [MAX_DEPTH + 50, 990, 100_000])
@pytest.mark.parametrize("field", ["output", "raw", "metadata", "error_details", "request", "prompt"])
def test_values_too_deep_leave_a_note_and_the_rest_of_the_result(levels: int, field: str) -> None:
    document = document_of(a_result(**{field: nested(levels)}, reasoning="kept"))
    stored = result_of(document)
    assert TOO_DEEP in document.decode()
    assert stored.reasoning == "kept"
    assert not deeper_than(stored, MAX_DEPTH + 2)


def test_values_within_the_depth_are_stored_whole() -> None:
    value = nested(MAX_DEPTH - 5)
    assert result_of(document_of(a_result(output=value))).output == value


@pytest.mark.parametrize(
    ("output", "stored"),
    [
        ({"x": object()}, {"x": "[not stored: 'object' is not JSON]"}),
        ({"x": 10**5_000}, {"x": "[not stored: a whole number of more than 4,300 digits]"}),
        ({"x": float("nan"), "y": float("inf")}, {"x": None, "y": None}),
        ({"x": {1: 2, (1,): 3}}, {"x": {"1": 2, "(1,)": 3}}),
        (b"bytes", "Ynl0ZXM="),
        (-(2**64), -(2**64)),
    ],
)
def test_what_json_cannot_hold_is_replaced(output: Any, stored: Any) -> None:
    assert result_of(document_of(a_result(output=output))).output == stored


class Hostile(dict[str, int]):
    """A mapping that fails while it is read."""

    def items(self) -> Any:
        def failing() -> Iterator[tuple[str, int]]:
            yield "a", 1
            raise RuntimeError("gone")

        return failing()


@pytest.mark.parametrize("status", [CaseStatus.FAIL, CaseStatus.ERROR])
def test_result_with_a_field_of_a_wrong_type_keeps_its_verdict(status: CaseStatus) -> None:
    base = an_errored_result() if status is CaseStatus.ERROR else a_result(status=status)
    broken = msgspec.structs.replace(base, output="\ud83d", vars=Hostile(), reasoning=["no text"])
    stored = result_of(document_of(broken))
    assert (stored.cell, stored.case_key, stored.status) == (base.cell, base.case_key, status)
    assert stored.score == base.score
    assert stored.error_class == base.error_class
    assert "not stored" in str(stored.output)


def test_document_larger_than_the_limit_keeps_its_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "MAX_DOCUMENT_BYTES", 10_000)
    for output in ("x" * 10_001, "\ud83d" * 10_001):
        stored = result_of(document_of(a_result(output=output)))
        assert stored.output == "[not stored: too large]"
        assert stored.status is CaseStatus.PASS


def test_secrets_are_replaced_and_the_result_says_the_same() -> None:
    redactor = Redactor(["secret-0123456789"])
    document = document_of(a_result(output="my secret-0123456789", raw='{"k":"secret-0123456789"}'))
    cleaned, result = without_secrets(document, redactor)
    assert result.output == f"my {REPLACEMENT}"
    assert result_of(cleaned) == result
    assert b"secret-0123456789" not in cleaned


def test_run_comes_back_as_it_was() -> None:
    run = a_run(config_snapshot={"a": [1, {"b": None}]}, digests={"tests": "x"}, exit_code=3)
    packed, cleaned = pack_run(run, NO_SECRETS)
    assert unpack_run(packed) == cleaned == run


@pytest.mark.parametrize("snapshot", [{"x": "\ud83d"}, {"x": nested(100_000)}, {"x": object()}, nested(300)])
def test_run_with_an_unstorable_configuration_is_stored(snapshot: Any) -> None:
    run = a_run(config_snapshot=snapshot)
    assert unpack_run(pack_run(run, NO_SECRETS)[0]).run_id == run.run_id


def test_skipped_assertion_has_no_score() -> None:
    stored = result_of(document_of(a_result(asserts=(an_assert(Status.SKIPPED),), score=None)))
    assert stored.asserts[0].score is stored.score is None
