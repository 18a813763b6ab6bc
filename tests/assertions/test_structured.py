from typing import Any

import pytest
from hypothesis import given

from evenhand.errors import ErrorClass
from evenhand.model.outcome import Status
from support.assertions import build, built, evidence, judged, verdict_on
from support.json_texts import CONFUSED, damaged, is_json

AGE = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}


@pytest.mark.parametrize(
    ("select", "schema", "output", "passes"),
    [
        ("first", None, 'so [1] {"a":', True),
        ("last", None, 'so [1] {"a":', False),
        ("any", None, 'so [1] {"a":', True),
        ("first", AGE, '[1] {"age": 7}', False),
        ("last", AGE, '[1] {"age": 7}', True),
        ("any", AGE, '[1] {"age": 7} [2]', True),
        ("last", AGE, '{"age": 7} [2]', False),
        ("any", AGE, "[1] [2]", False),
        ("any", AGE, '[1] {"age": 7} {"age":', True),
        ("last", AGE, '{"age": 7} and [', False),
    ],
)
def test_select_chooses_which_value_counts(select: str, schema: Any, output: str, passes: bool) -> None:
    outcome = verdict_on(output, type="contains-json", schema=schema, select=select)
    assert outcome.passed == passes, outcome.reason
    if not passes:
        assert ("truncated" in outcome.reason) == output.endswith((":", "["))


@pytest.mark.parametrize("schema", [None, AGE])
def test_truncated_json_fails_in_both_polarities(schema: Any) -> None:
    for kind in ("contains-json", "not-contains-json"):
        outcome = verdict_on('so {"age": 7', type=kind, schema=schema)
        assert outcome.status == Status.FAIL
        assert outcome.score == 0.0
        assert "truncated" in outcome.reason
        assert "at character 4" in outcome.reason


def test_negated_with_a_schema_every_value_is_looked_at() -> None:
    options = {"type": "not-contains-json", "schema": AGE}
    assert verdict_on("[1] {} [2]", **options).passed
    assert not verdict_on('[1] {} {"age": 1} [2]', **options).passed
    assert verdict_on("no JSON at all", **options).passed
    assert not verdict_on({"age": 1}, **options).passed


def test_a_structured_output_is_the_value() -> None:
    assert verdict_on({"age": 7}, type="contains-json", schema=AGE).passed
    assert verdict_on([], type="contains-json").passed
    assert not verdict_on(42, type="contains-json").passed
    assert verdict_on(42, type="is-json").passed


def test_details_list_the_failures_of_a_schema() -> None:
    outcome = verdict_on(
        '{"b":1,"a":2}', type="contains-json", schema={"additionalProperties": {"type": "string"}}
    )
    assert outcome.details["total"] == 2
    assert [error["path"] for error in outcome.details["errors"]] == ["/a", "/b"]


def test_a_long_message_of_the_validator_keeps_what_is_wrong() -> None:
    outcome = verdict_on(["x" * 5_000], type="contains-json", schema={"type": "object"})
    assert 'is not of type "object"' in outcome.reason
    assert len(outcome.reason) < 500


@pytest.mark.parametrize(
    "schema", [{"type": "nonsense"}, {"$ref": "https://example.com/s.json"}, {"pattern": "("}]
)
@pytest.mark.parametrize("kind", ["contains-json", "not-contains-json"])
def test_a_schema_that_does_not_compile_is_refused(kind: str, schema: Any) -> None:
    problems = build({"type": kind, "schema": schema})
    assert isinstance(problems, list)
    assert [problem.path for problem in problems] == [("schema",)]


def test_a_schema_that_only_breaks_at_run_time_is_an_error() -> None:
    assertion = built({"type": "not-contains-json"})
    broken = type(assertion)(schema={"type": "nonsense"}, negate=True)
    outcome = judged(broken, evidence("[1]"))
    assert outcome.status == Status.ERROR
    assert outcome.error_class == ErrorClass.ASSERT_FAILED


@pytest.mark.parametrize(
    "output", ["[" * 100_000, "[" * 100_000 + "]" * 100_000, '{"a":' * 10_000 + "1" + "}" * 10_000]
)
def test_hostile_depth_ends_in_a_verdict(output: str) -> None:
    seen = evidence(output)
    closed = output.endswith(("]", "}"))
    assert judged(built({"type": "is-json"}), seen).passed == closed
    assert judged(built({"type": "contains-json"}), seen).passed == closed
    outcome = judged(built({"type": "contains-json", "schema": {"items": {"$ref": "#"}}}), seen)
    assert outcome.status == (Status.ERROR if closed else Status.FAIL)


@pytest.mark.parametrize(
    "output", ['{"age": 1e400}', '{"\\ud800": 1}', '{"age": ' + "7" * 5_000 + "}", '{"age": "\\ud800"}']
)
def test_a_value_that_only_we_can_read_ends_in_an_outcome(output: str) -> None:
    assert verdict_on(output, type="contains-json").passed
    outcome = verdict_on(output, type="contains-json", schema=AGE)
    assert outcome.status in (Status.PASS, Status.FAIL, Status.ERROR)
    assert (verdict_on(output, type="not-contains-json", schema=AGE).status == "error") == (
        outcome.status == "error"
    )
    assert len(outcome.reason) < 500


@given(CONFUSED | damaged())
def test_is_json_says_what_the_standard_library_says(text: str) -> None:
    assert verdict_on(text, type="is-json").passed == is_json(text)
