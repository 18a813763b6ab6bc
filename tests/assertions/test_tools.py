"""The kind `tool-call`: names, arguments, schemas, and what silence shows."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.assertions.tools import CallsTool
from evenhand.model.evidence import Evidence
from evenhand.model.exchange import Response
from evenhand.model.outcome import Outcome, Status
from evenhand.template import Scope, Val
from support.assertions import ENGINE, build, built, evidence, judged

WEATHER = {"name": "get_weather", "arguments": {"city": "Oslo", "unit": "C"}}


FIELD_CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data/vectors/field-cases.jsonl").read_text().splitlines()
]


def called(*calls: dict, type: str = "tool-call", vars: dict | None = None, **options) -> Outcome:
    return judged(built({"type": type, **options}), evidence(vars=vars, response={"tool_calls": list(calls)}))


@pytest.mark.parametrize(
    ("options", "calls", "answer"),
    [
        pytest.param(options, case["input"]["tool_calls"], answer, id=case["id"])
        for case in FIELD_CASES
        if case["kind"] == "tool-call" and "tool_calls" in case["input"]
        for options, answer in zip(
            case["input"].get("asserts") or [case["input"]["assert"]],
            case["expected"].get("each") or [case["expected"]["status"]],
            strict=True,
        )
    ],
)
def test_field_case(options, calls, answer):
    assert called(*calls, **options).status == answer


@pytest.mark.parametrize(
    ("options", "path", "message"),
    [
        ({"name": " "}, ("name",), "empty name"),
        (
            {"name": "f", "args": ["x"]},
            ("args",),
            'must be an object of argument names and values, found ["x"]',
        ),
        ({"name": "f", "args": "x"}, ("args",), "must be an object"),
        ({"name": "f", "args": {"$raw": 1}}, ("args",), "must be an object"),
        ({"name": "f", "schema": {"type": "nonsense"}}, ("schema",), "unknown type 'nonsense'"),
        ({"name": "f", "schema": {"$ref": "https://schemas.example/x"}}, ("schema",), "is not followed"),
    ],
)
@pytest.mark.parametrize("kind", ["tool-call", "not-tool-call"])
def test_problem_at_load(kind, options, path, message):
    [problem] = build({"type": kind, **options})
    assert problem.path == path
    assert message in problem.message


def test_match_without_args_draws_a_warning():
    assert list(CallsTool(name="f", match="deep").warnings(ENGINE))
    assert not list(CallsTool(name="f", match="deep", args=Val({})).warnings(ENGINE))


def test_failure_lists_every_call_with_its_arguments():
    outcome = called(WEATHER, {"name": "search", "arguments": '{"q": "a\x1b"}'}, name="book")
    assert "tool `book` was not called (called: get_weather, search)" in outcome.reason
    assert 'get_weather {"city":"Oslo","unit":"C"}' in outcome.reason
    assert 'search {"q": "a\\u001b"}' in outcome.reason


def test_failure_stays_short_whatever_the_model_called():
    calls = [{"name": "f" * 1_000, "arguments": {"a": "b" * 100_000}}] * 1_000
    assert len(called(*calls, name="g").reason) < 8_000


def test_any_matching_call_satisfies():
    calls = [{"name": "f", "arguments": {"n": n}} for n in (1, 2, 3)]
    assert called(*calls, name="f", args={"n": 2}).passed


@pytest.mark.parametrize(
    ("args", "arguments", "expected"),
    [
        ({"n": 1}, {"n": 1.0}, True),
        ({"n": 1}, {"n": True}, False),
        ({"n": 1}, '{"n": 1.0, "m": 2}', True),
        ({"n": 9007199254740993}, '{"n": 9007199254740992.0}', False),
        ({"n": None}, {}, False),
        ({"n": None}, {"n": None}, True),
        ({}, None, True),
        ({"n": 1}, None, False),
        ({"n": 1}, ["x"], False),
        ({"n": 1}, '["x"]', False),
        ({"o": {"a": 1}}, {"o": {"a": 1, "b": 2}}, False),
        ({"o": {"a": 1}}, {"o": {"a": 1}}, True),
        ({"$raw": {"t": "{{ x }}"}}, {"t": "{{ x }}"}, True),
    ],
)
def test_args_are_a_subset_of_the_top_level(args, arguments, expected):
    assert called({"name": "f", "arguments": arguments}, name="f", args=args).passed is expected


@pytest.mark.parametrize(
    ("args", "arguments", "difference"),
    [
        ({"o": {"a": 1}}, {"o": {"a": 1, "b": 2}}, None),
        ({"o": {"a": {"c": 3}}}, {"o": {"a": {"c": 3, "d": 4}, "b": 2}}, None),
        ({"l": [{"a": 1}]}, {"l": [{"a": 1, "b": 2}]}, None),
        (
            {"l": [{"a": 1}]},
            {"l": [{"a": 1}, {"a": 2}]},
            'argument `l` was [{"a":1},{"a":2}], expected [{"a":1}]',
        ),
        ({"o": {"a": 1}}, {"o": {"a": 2}}, "argument `o.a` was 2, expected 1"),
        ({"o": {"a": 1}}, {"o": {}}, "argument `o.a` was not passed"),
        ({"o": {"a": 1}}, {"o": 5}, 'argument `o` was 5, expected {"a":1}'),
    ],
)
def test_deep_match_makes_inner_objects_subsets_too(args, arguments, difference):
    outcome = called({"name": "f", "arguments": arguments}, name="f", args=args, match="deep")
    assert outcome.passed is (difference is None)
    if difference:
        assert difference in outcome.reason


def test_expected_argument_keeps_the_type_of_its_expression():
    call = {"name": "f", "arguments": {"n": 3, "text": "3"}}
    assert called(call, vars={"n": 3}, name="f", args={"n": "{{ n }}"}).passed
    assert called(call, vars={"n": 3}, name="f", args={"text": "{{ n }}!"}).status is Status.FAIL


def test_args_may_be_one_expression_that_becomes_an_object():
    assert called(WEATHER, vars={"want": {"city": "Oslo"}}, name="get_weather", args="{{ want }}").passed
    outcome = called(WEATHER, vars={"want": [1]}, name="get_weather", args="{{ want }}")
    assert outcome.status is Status.ERROR
    assert "must become an object, became [1]" in outcome.reason


def test_schema_and_args_must_hold_for_the_same_call():
    calls = [{"name": "f", "arguments": {"a": 1}}, {"name": "f", "arguments": {"b": "x"}}]
    schema = {"required": ["b"]}
    assert called(*calls, name="f", schema=schema).passed
    outcome = called(*calls, name="f", args={"a": 1}, schema=schema)
    assert outcome.status is Status.FAIL


MALFORMED = {"name": "f", "arguments": '{"x": 1'}


def test_a_call_with_malformed_arguments_still_counts_by_name():
    assert called(MALFORMED, name="f").passed
    assert called(MALFORMED, type="not-tool-call", name="f").status is Status.FAIL


@pytest.mark.parametrize("constraint", [{"args": {"x": 1}}, {"schema": {"required": ["x"]}}])
@pytest.mark.parametrize("kind", ["tool-call", "not-tool-call"])
def test_malformed_arguments_fail_a_constrained_assertion_in_both_polarities(kind, constraint):
    outcome = called(MALFORMED, type=kind, name="f", **constraint)
    assert outcome.status is Status.FAIL
    assert outcome.score == 0.0
    assert "arguments are not JSON" in outcome.reason


def test_malformed_arguments_of_another_tool_do_not_matter():
    assert called(MALFORMED, type="not-tool-call", name="g", args={"x": 1}).passed


def test_arguments_that_a_schema_library_does_not_take_are_an_error():
    arguments = "[" * 50_000 + "]" * 50_000
    for kind in ("tool-call", "not-tool-call"):
        outcome = called({"name": "f", "arguments": arguments}, type=kind, name="f", schema={"type": "array"})
        assert outcome.status is Status.ERROR


def test_absence_of_calls_shows_nothing_where_the_provider_cannot_report_them():
    seen = Evidence(
        response=Response(output="done"),
        vars={},
        engine=ENGINE,
        scope=Scope({}),
        provider_reports_tool_calls=False,
    )
    positive = judged(built({"type": "tool-call", "name": "f"}), seen)
    assert positive.status is Status.FAIL
    assert "this provider does not report tool calls" in positive.reason
    assert judged(built({"type": "not-tool-call", "name": "f"}), seen).status is Status.ERROR


def test_a_refusal_does_not_satisfy_a_forbidden_call():
    seen = evidence("", response={"empty_reason": "refusal"})
    assert judged(built({"type": "not-tool-call", "name": "f"}), seen).status is Status.FAIL
    seen = evidence("", response={"tool_calls": [WEATHER]})
    assert judged(built({"type": "not-tool-call", "name": "f"}), seen).passed


json_objects = st.dictionaries(
    st.text(max_size=3),
    st.recursive(
        st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
        max_leaves=5,
    ),
    max_size=3,
)


@given(arguments=json_objects, more=json_objects, match=st.sampled_from(["shallow", "deep"]))
def test_arguments_match_themselves_and_any_superset_in_both_spellings(arguments, more, match):
    args = {"$raw": arguments}
    for passed in ({**more, **arguments}, json.dumps({**more, **arguments})):
        assert called({"name": "f", "arguments": passed}, name="f", args=args, match=match).passed


@given(wanted=json_objects, got=json_objects)
def test_what_matches_shallowly_matches_deeply(wanted, got):
    options = {"name": "f", "args": {"$raw": wanted}}
    if called({"name": "f", "arguments": got}, **options).passed:
        assert called({"name": "f", "arguments": got}, **options, match="deep").passed
