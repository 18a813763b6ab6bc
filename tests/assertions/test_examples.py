"""Every example of every kind holds, so the reference page shows only what is true."""

import pytest

from evenhand.model.assertion import ASSERTIONS, Assertion, Example
from support.assertions import build, built, evidence, judged
from support.graded import graded

KINDS = ASSERTIONS.all()
LOCAL_EXAMPLES = [
    pytest.param(kind, example, id=f"{kind}-{number}")
    for kind, cls in KINDS.items()
    if cls.tier != "graded"
    for number, example in enumerate(cls.examples)
]


GRADED_EXAMPLES = [
    pytest.param(kind, example, id=f"{kind}-{number}")
    for kind, cls in KINDS.items()
    if cls.tier == "graded"
    for number, example in enumerate(cls.examples)
]


@pytest.mark.parametrize(("kind", "example"), GRADED_EXAMPLES)
def test_every_graded_example_ends_as_it_says(kind: str, example: Example) -> None:
    seen = evidence(example.output, vars=example.vars, response=example.response)
    outcome, _ = graded({"type": kind, **example.options}, seen, example.replies)
    assert outcome.status == example.expect, outcome.reason
    turned, _ = graded({"type": f"not-{kind}", **example.options}, seen, example.replies)
    assert turned.status == {"pass": "fail", "fail": "pass", "error": "error"}[example.expect]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_examples_that_pass_and_that_fail(kind: str) -> None:
    assert {"pass", "fail"} <= {example.expect for example in KINDS[kind].examples}


@pytest.mark.parametrize("kind", KINDS)
def test_the_options_of_every_example_are_right(kind: str) -> None:
    for example in KINDS[kind].examples:
        assert isinstance(build({"type": kind, **example.options}), Assertion)


@pytest.mark.parametrize(("kind", "example"), LOCAL_EXAMPLES)
def test_every_example_ends_as_it_says(kind: str, example: Example) -> None:
    outcome = judged(
        built({"type": kind, **example.options}),
        evidence(example.output, vars=example.vars, response=example.response),
    )
    assert outcome.status == example.expect, outcome.reason


@pytest.mark.parametrize(("kind", "example"), LOCAL_EXAMPLES)
def test_an_error_is_never_turned_by_negation(kind: str, example: Example) -> None:
    outcome = judged(
        built({"type": f"not-{kind}", **example.options}),
        evidence(example.output, vars=example.vars, response=example.response),
    )
    assert (outcome.status == "error") == (example.expect == "error"), outcome.reason
