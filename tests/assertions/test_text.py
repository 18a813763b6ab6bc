from typing import Any

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evenhand.errors import ErrorClass, Problem
from evenhand.model.assertion import ASSERTIONS
from evenhand.model.outcome import Status
from evenhand.template import Engine
from evenhand.text.json_reader import compact_json
from support.assertions import build, built, evidence, judged, verdict_on
from support.json_texts import CHARACTERS, values

NEEDLES = st.text(CHARACTERS, min_size=1, max_size=4)
OUTPUTS = st.text(CHARACTERS, min_size=1, max_size=20)


def test_a_reason_quotes_a_long_output_around_the_place_that_matters() -> None:
    output = "ß" * 3_000 + "I am SORRY" + "x" * 3_000
    outcome = verdict_on(output, type="not-icontains", value="sorry")
    assert outcome.status == Status.FAIL
    assert "at character 3006" in outcome.reason
    assert "I am SORRY" in outcome.reason
    assert len(outcome.reason) < 400


@pytest.mark.parametrize(
    ("options", "path", "says"),
    [
        ({"type": "contains", "value": ""}, ("value",), "every output contains that"),
        ({"type": "icontains", "value": ""}, ("value",), "every output contains that"),
        ({"type": "not-contains", "value": ""}, ("value",), "every output contains that"),
        ({"type": "starts-with", "value": ""}, ("value",), "every output starts with that"),
        ({"type": "icontains-any", "values": []}, ("values",), "no output can pass"),
        ({"type": "icontains-any", "values": ["a", ""]}, ("values", 1), "every output contains that"),
        ({"type": "length"}, (), "no bound"),
        ({"type": "length", "min": 0}, ("min",), "no bound"),
        ({"type": "length", "min": 9, "max": 1}, ("min",), "`min` 9 is greater than `max` 1"),
        ({"type": "length", "max": -1}, ("max",), "cannot be negative, found -1"),
        ({"type": "length", "min": -1, "max": 3}, ("min",), "cannot be negative, found -1"),
    ],
)
def test_a_check_that_cannot_fail_or_cannot_pass_is_refused(
    options: dict[str, Any], path: tuple[str | int, ...], says: str
) -> None:
    problems = build(options)
    assert isinstance(problems, list)
    assert [problem.path for problem in problems] == [path]
    assert says in str(problems[0])
    assert problems[0].hint


@pytest.mark.parametrize(
    "options",
    [
        {"type": "contains"},
        {"type": "contains", "value": 3},
        {"type": "contains", "value": "a", "valeu": "b"},
        {"type": "length", "max": "3"},
        {"type": "length", "max": 2.5},
        {"type": "equals"},
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any]) -> None:
    problems = build(options)
    assert isinstance(problems, list)
    assert all(isinstance(problem, Problem) for problem in problems)


@pytest.mark.parametrize("options", [{"type": "equals", "value": ""}, {"type": "length", "max": 0}])
def test_silence_can_be_asserted(options: dict[str, Any]) -> None:
    assert verdict_on("", **options).passed
    assert not verdict_on("x", **options).passed


def test_a_hint_tells_that_a_text_would_be_equal_as_json() -> None:
    hint = "both are equal as JSON"
    assert hint in verdict_on('{"b":2,"a":1}', type="equals", value='{"a": 1, "b": 2}').reason
    assert hint in verdict_on("1.0", type="equals", value="1").reason
    assert hint not in verdict_on("b", type="equals", value="a").reason
    assert hint not in verdict_on('"a"', type="equals", value="a").reason
    assert hint not in verdict_on("2", type="equals", value="1").reason


def test_an_expected_value_that_does_not_render_is_an_error_and_no_comparison() -> None:
    for negation in ("", "not-"):
        outcome = judged(
            built({"type": f"{negation}equals", "value": "{{ nope.deep }}"}), evidence("{{ nope.deep }}")
        )
        assert outcome.status == Status.ERROR
        assert outcome.error_class == ErrorClass.RENDER_FAILED
        assert "`value` does not render" in outcome.reason
        assert outcome.score is None


def test_a_leaf_that_is_one_expression_keeps_its_type() -> None:
    options = {"type": "equals", "value": {"n": "{{ n }}", "text": "n is {{ n }}"}}
    seen = evidence('{"n": 3, "text": "n is 3"}', vars={"n": 3})
    assert judged(built(options), seen).passed
    assert not judged(built(options), evidence('{"n": "3", "text": "n is 3"}', vars={"n": 3})).passed


def test_numbers_beyond_a_float_are_compared_at_full_precision() -> None:
    equal = {"type": "equals", "value": 9007199254740993}
    assert verdict_on("9007199254740993", **equal).passed
    assert not verdict_on("9007199254740992", **equal).passed
    assert verdict_on("1e400", type="not-equals", value=1.5).passed


def test_negation_reads_a_structured_output_as_compact_json() -> None:
    assert not verdict_on({"a": "secret"}, type="not-contains", value='"a":"secret"').passed


@pytest.mark.parametrize("output", ["", " \n", None, {}, []])
def test_a_negated_assertion_fails_on_an_output_without_content(output: Any) -> None:
    outcome = verdict_on(output, type="not-contains", value="secret")
    assert outcome.status == Status.FAIL
    assert outcome.score == 0.0
    assert outcome.reason.startswith("output was empty (blank): a negated assertion cannot pass vacuously")


def test_the_guard_leaves_answers_that_did_something() -> None:
    called = evidence("", response={"tool_calls": [{"name": "look_up"}], "empty_reason": "tool_use_only"})
    assert judged(built({"type": "not-contains", "value": "secret"}), called).passed
    claimed = evidence("real text", response={"empty_reason": "refusal"})
    assert judged(built({"type": "not-contains", "value": "secret"}), claimed).passed
    assert verdict_on(0, type="not-contains", value="secret").passed
    assert verdict_on("", type="not-length", max=0).reason.startswith("negated: ")


def test_the_guard_names_the_reason_that_the_provider_gave() -> None:
    seen = evidence("", response={"stop_reason": "max_tokens"})
    assert "output was empty (truncated)" in judged(built({"type": "not-equals", "value": "x"}), seen).reason


@given(NEEDLES, OUTPUTS)
def test_contains_implies_icontains(needle: str, output: str) -> None:
    for text in (output, output + needle + output):
        if verdict_on(text, type="contains", value=needle).passed:
            assert verdict_on(text, type="icontains", value=needle).passed
            assert verdict_on(text, type="icontains", value=needle.casefold()).passed


OPTIONS = st.one_of(
    st.builds(lambda value: {"type": "contains", "value": value}, NEEDLES),
    st.builds(lambda value: {"type": "icontains", "value": value}, NEEDLES),
    st.builds(
        lambda values: {"type": "icontains-any", "values": values}, st.lists(NEEDLES, min_size=1, max_size=3)
    ),
    st.builds(lambda value: {"type": "starts-with", "value": value}, NEEDLES),
    st.builds(lambda bound: {"type": "length", "max": bound}, st.integers(0, 20)),
    st.builds(lambda value: {"type": "equals", "value": {"$raw": value}}, values()),
    st.just({"type": "is-json"}),
    st.just({"type": "contains-json", "schema": {"type": "object"}}),
)


@given(OPTIONS, OUTPUTS | values() | values().map(compact_json))
def test_exactly_one_of_a_kind_and_its_negation_passes(options: dict[str, Any], output: Any) -> None:
    seen = evidence(output)
    assume(not seen.is_blank)
    positive = judged(built(options), seen)
    negative = judged(built({**options, "negate": True}), seen)
    if options["type"] == "contains-json" and "truncated" in positive.reason + negative.reason:
        assert not positive.passed
        assert not negative.passed
        return
    if options["type"] == "contains-json" and "at character" in negative.reason:
        assert not negative.passed  # a later value matches, while the first does not
        return
    assert positive.passed != negative.passed
    assert positive.score == 1.0 - (negative.score or 0.0)
    assert negative.reason.startswith("negated: ")
    for outcome in (positive, negative):
        assert outcome.reason.isprintable() or "\ufe0f" in outcome.reason


def test_a_huge_output_on_one_line_is_judged_with_short_reasons() -> None:
    output = "[x] é" * 400_000
    seen = evidence(output)
    for options in (
        {"type": "contains", "value": "y"},
        {"type": "icontains", "value": "Y"},
        {"type": "starts-with", "value": "y"},
        {"type": "equals", "value": "y"},
        {"type": "equals", "value": output[:-1]},
        {"type": "equals", "value": {"y": 1}},
        {"type": "length", "max": 5},
        {"type": "is-json"},
        {"type": "not-contains", "value": "é"},
    ):
        outcome = judged(built(options), seen)
        assert outcome.status == Status.FAIL
        assert len(outcome.reason) < 1_500, outcome.reason


@pytest.mark.parametrize(
    ("value", "is_suspicious"),
    [("{{ q }}", True), ("a {{ q.x }} b", True), ("{{ 7 * 7 }}", False), ("{{", False), ("{ q }", False)],
)
@pytest.mark.parametrize("kind", ["contains", "icontains", "starts-with", "icontains-any"])
def test_a_text_that_looks_like_a_template_draws_a_warning(
    kind: str, value: str, is_suspicious: bool
) -> None:
    cls = ASSERTIONS.all()[kind]
    options = {"values": [value]} if kind == "icontains-any" else {"value": value}
    assert bool(list(msgspec.convert({"type": kind, **options}, cls).warnings(Engine()))) is is_suspicious
