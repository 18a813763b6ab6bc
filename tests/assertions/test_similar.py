"""`similar`: the cosine decides, and what has none is an error."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.assertions.similar import cosine_of
from evenhand.errors import BrokenAssertion
from evenhand.model.assertion import Assertion
from evenhand.model.grading import Graders
from support.assertions import build, evidence
from support.graded import graded

VECTORS = Path(__file__).parents[1] / "data" / "vectors"
ROWS = [
    json.loads(line)
    for name in ("assertions.jsonl", "field-cases.jsonl")
    for line in (VECTORS / name).read_text(encoding="utf-8").splitlines()
]


@pytest.mark.parametrize("record", [r for r in ROWS if r.get("topic") == "similar"], ids=lambda r: r["id"])
def test_similar_vector(record: dict[str, Any]) -> None:
    given, expected = record["suite_fragment"], record["expected"]
    options: dict[str, Any] = {"type": "similar", "value": "ref"}
    if given["threshold"] is not None:
        options["threshold"] = given["threshold"]
    outcome, _ = graded(options, evidence("x"), [given["output_vector"], given["reference_vector"]])
    assert outcome.status == expected["status"], outcome.reason
    if expected["status"] == "error":
        assert outcome.score is None
    else:
        assert outcome.score == pytest.approx(expected["score"], abs=expected["tolerance"])


@pytest.mark.parametrize("record", [r for r in ROWS if r.get("kind") == "similarity"], ids=lambda r: r["id"])
def test_similarity_field_case(record: dict[str, Any]) -> None:
    given, expected = record["input"], record["expected"]
    vectors = given["embeddings"] if isinstance(given["embeddings"], dict) else {"output": [1], "ref": [1]}
    output = given.get("output", given.get("output_json", "some output"))
    for options in given.get("asserts") or [given["assert"]]:
        outcome, desk = graded(options, evidence(output), [vectors["output"], vectors["ref"]])
        if expected["status"] == "evaluated":
            assert [request.text for request in desk.requests] == ['["warm","sea"]', '{"sky":"grey"}']
            assert outcome.status == "pass"
        elif "each" in expected:
            assert outcome.status in ("error", "fail")
        else:
            assert outcome.status == expected["status"]


def test_a_blank_output_fails_without_a_call() -> None:
    outcome, desk = graded({"type": "similar", "value": "r"}, evidence("  \n"))
    assert (outcome.status, outcome.score) == ("fail", 0.0)
    assert desk.requests == []


@pytest.mark.parametrize(
    "pair", [([], []), ([0, 0], [1, 0]), ([1], [1, 0]), ("x", [1]), ([1, "2"], [1, 2]), ([True], [1])]
)
def test_vectors_that_cannot_be_compared_are_an_error_in_both_polarities(pair: Any) -> None:
    for kind in ("similar", "not-similar"):
        outcome, _ = graded({"type": kind, "value": "r"}, evidence("x"), list(pair))
        assert (outcome.status, outcome.score) == ("error", None)


@pytest.mark.parametrize("vector", [[1e300, 1e300], [1e-300, 1e-300]])
def test_a_vector_of_any_size_is_like_itself(vector: list[float]) -> None:
    assert cosine_of(vector, vector) == pytest.approx(1.0)


FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.tuples(FINITE, FINITE), max_size=20))
def test_a_cosine_is_finite_symmetric_and_in_range_or_an_error(pairs: list[tuple[float, float]]) -> None:
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    try:
        cosine = cosine_of(left, right)
    except BrokenAssertion:
        return
    assert math.isfinite(cosine)
    assert -1 <= cosine <= 1
    assert cosine == cosine_of(right, left)


def test_without_embeddings_the_assertion_errors_with_the_words_of_the_documents() -> None:
    outcome, _ = graded({"type": "similar", "value": "r"}, evidence("x"), graders=Graders())
    assert (outcome.status, outcome.error_class) == ("error", "grader_missing")


@pytest.mark.parametrize(
    "options", [{"value": " "}, {"value": "r", "threshold": 1.5}, {"value": "r", "threshold": -2}]
)
def test_what_can_never_work_is_refused(options: dict[str, Any]) -> None:
    assert not isinstance(build({"type": "similar", **options}), Assertion)
