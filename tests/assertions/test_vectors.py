"""The right answers in tests/data/vectors for single assertions, for every kind that is there."""

import json
from pathlib import Path
from typing import Any

import pytest

from evenhand.model.assertion import Assertion
from support.assertions import build, built, evidence, is_here, judged

VECTORS = Path(__file__).parents[1] / "data" / "vectors"


def records(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (VECTORS / name).read_text(encoding="utf-8").splitlines()]


SINGLE = [
    pytest.param(record, id=record["id"])
    for record in records("assertions.jsonl")
    if "assert" in record and is_here(record["assert"])
]


@pytest.mark.parametrize("record", SINGLE)
def test_assertion_vector(record: dict[str, Any]) -> None:
    expected = record["expected"]
    assertion = build(record["assert"])
    if expected["status"] == "load_error":
        assert not isinstance(assertion, Assertion)
        return
    assert isinstance(assertion, Assertion), assertion
    outcome = judged(
        assertion, evidence(record["output"], vars=record.get("vars"), response=record.get("metrics"))
    )
    assert outcome.status == expected["status"], outcome.reason
    assert outcome.score == (None if outcome.status == "error" else expected["score"])
    assert expected.get("reason_contains", "") in outcome.reason


DECIDED = {"js-require-inline": "error"}
"""Field cases whose answer is left open, and what it is here: inline code has no modules, and says so."""

KNOWN_INPUTS = {"assert", "asserts", "output", "output_json", "output_repeat", "output_template", "vars"}


def field_checks() -> list[Any]:
    """Each assertion of each field case that is nothing but assertions over one output."""
    checks = []
    for record in records("field-cases.jsonl"):
        given, expected = record["input"], record["expected"]
        asserts = given.get("asserts") or [given.get("assert")]
        if not given.keys() <= KNOWN_INPUTS or not all(isinstance(a, dict) and is_here(a) for a in asserts):
            continue
        for options in asserts:
            answer = (
                expected.get("each") or expected.get(options["type"]) or expected.get("domarinn") or expected
            )
            if "status" not in answer:
                continue  # about the case, not about this assertion
            if record["id"] in DECIDED:
                answer = {"status": DECIDED[record["id"]]}
            checks.append(pytest.param(options, given, answer, id=f"{record['id']}-{options['type']}"))
    return checks


def output_of(given: dict[str, Any]) -> Any:
    if "output_repeat" in given:
        piece, times, rest = given["output_repeat"]
        return piece * times + rest
    return given.get("output", given.get("output_json", given.get("output_template")))


@pytest.mark.parametrize(("options", "given", "answer"), field_checks())
def test_field_case(options: dict[str, Any], given: dict[str, Any], answer: dict[str, Any]) -> None:
    assertion = build(options)
    if not isinstance(assertion, Assertion):
        assert "error" in answer["status"], assertion
        return
    outcome = judged(assertion, evidence(output_of(given), vars=given.get("vars")))
    assert outcome.status in answer["status"].split("-or-"), outcome.reason
    if outcome.score is not None and "score" in answer:
        assert outcome.score == answer["score"]
    assert len(outcome.reason) < 2_000


def test_a_reason_over_a_huge_output_stays_short() -> None:
    outcome = judged(built({"type": "contains", "value": "y"}), evidence("x" * 50_000_000))
    assert outcome.status == "fail"
    assert len(outcome.reason) < 400
