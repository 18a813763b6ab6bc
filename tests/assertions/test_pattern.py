"""The kind `regex`: what it finds, what it refuses at load, what it says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.assertions.pattern import Regex
from evenhand.model.outcome import Status
from support.assertions import ENGINE, build, evidence, verdict_on


@pytest.mark.parametrize(
    ("options", "path", "message"),
    [
        ({"value": ""}, ("value",), "an empty pattern matches every output"),
        ({"value": "("}, ("value",), "not a usable pattern: unclosed group (at character 1"),
        ({"value": r"(?=a)\2"}, ("value",), "back-reference to group 2"),
        ({"value": "a", "flags": "g"}, ("flags",), "unknown flag 'g'"),
        ({"value": "a" * 10_001}, ("value",), "more than 10,000"),
    ],
)
@pytest.mark.parametrize("kind", ["regex", "not-regex"])
def test_bad_pattern_is_a_problem_at_load(kind, options, path, message):
    [problem] = build({"type": kind, **options})
    assert problem.path == path
    assert message in problem.message


@pytest.mark.parametrize(
    ("value", "is_suspicious"), [(".*", True), ("^", True), ("a|", True), ("a", False), ("^$", False)]
)
def test_pattern_that_cannot_fail_draws_a_warning(value, is_suspicious):
    assert bool(list(Regex(value=value).warnings(ENGINE))) is is_suspicious


def test_reason_of_a_failure_quotes_the_output_escaped_and_cut():
    outcome = verdict_on("\x1b[0m" + "x" * 10_000, type="regex", value=r"^\d+$", flags="m")
    assert outcome.reason.startswith(r'output does not match /^\d+$/m: "\u001b[0mxxx')
    assert len(outcome.reason) < 300


def test_negated_failure_quotes_the_place_of_the_match():
    outcome = verdict_on("x" * 5_000 + " the secret " + "y" * 5_000, type="not-regex", value="s.cret")
    assert outcome.status is Status.FAIL
    assert "negated: output matches /s.cret/ at character 5006: " in outcome.reason
    assert "the secret" in outcome.reason


@pytest.mark.parametrize("kind", ["regex", "not-regex"])
def test_search_that_hits_its_limit_is_an_error_in_both_polarities(kind):
    outcome = verdict_on("a" * 3_000 + "c", type=kind, value=r"((a+)+)(?=a*b)\1c")
    assert outcome.status is Status.ERROR
    assert outcome.error_class == "assert_failed"
    assert outcome.score is None


def test_number_is_not_found_inside_a_longer_number():
    assert verdict_on("47", type="regex", value=r"(?<!\d)7(?!\d)").status is Status.FAIL
    assert verdict_on("4 7", type="regex", value=r"(?<!\d)7(?!\d)").passed


def test_structured_output_is_searched_as_compact_json():
    assert verdict_on({"a": [1]}, type="regex", value=r'^\{"a":\[1\]\}$').passed


@given(output=st.text(), value=st.sampled_from([r"\d", "^a", "b$", "(?i)x", r"\bé\b", r"(?=.)c", "[^a-z]"]))
def test_exactly_one_of_regex_and_not_regex_passes(output, value):
    plain = verdict_on(output, type="regex", value=value)
    opposite = verdict_on(output, type="not-regex", value=value)
    if not evidence(output).is_silent:
        assert plain.passed is not opposite.passed
        assert plain.score + opposite.score == 1
