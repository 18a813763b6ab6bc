"""The kind `jinja`: truth, and errors that depend on the data."""

import pytest

from evenhand.assertions.expression import Jinja
from evenhand.errors import TemplateError
from evenhand.model.outcome import Status
from support.assertions import ENGINE, build, built, evidence, judged, verdict_on

DATA_ERRORS = [
    ("nobody == 1", "x"),
    ("output_json.city == 'Oslo'", "no JSON"),
    ("output_json.city == 'Oslo'", '{"town": 1}'),
    ("output_json.items > 1", '{"town": 1}'),
    ("output | int > 3", "five"),
]


@pytest.mark.parametrize(("value", "output"), DATA_ERRORS)
@pytest.mark.parametrize("kind", ["jinja", "not-jinja"])
def test_error_that_depends_on_the_data_fails_in_both_polarities(kind, value, output):
    outcome = verdict_on(output, type=kind, value=value)
    if kind == "not-jinja" and "cannot be evaluated" not in outcome.reason:
        pytest.fail(f"{value} was evaluated: {outcome.reason}")
    assert outcome.status is Status.FAIL
    assert outcome.score == 0.0


@pytest.mark.parametrize("value", ["output ==", "", "(", "output |", "{{ output }}", "1 1"])
def test_expression_that_does_not_parse_is_a_problem_at_load(value):
    [problem] = build({"type": "jinja", "value": value})
    assert problem.path == ("value",)
    assert problem.message


@pytest.mark.parametrize(
    ("value", "is_suspicious"),
    [("true", True), ("vars.a == 1", True), ("output", False), ("output_json.a", False)],
)
def test_expression_that_never_looks_at_the_answer_draws_a_warning(value, is_suspicious):
    assert bool(list(Jinja(value=value).warnings(ENGINE))) is is_suspicious


def test_expression_in_the_braces_of_a_template_is_told_to_take_them_off():
    (problem,) = Jinja(value="{{ output == 'x' }}").problems(ENGINE)
    assert str(problem) == (
        "value: an expression stands without the braces of a template; write `output == 'x'`"
    )


def test_negation_flips_what_was_evaluated():
    outcome = verdict_on("long answer", type="not-jinja", value="output | length > 100")
    assert outcome.passed
    assert outcome.reason.startswith("negated: expression is false: output | length > 100")


def test_output_wins_over_a_var_of_that_name_and_vars_keep_it():
    seen = evidence("answer", vars={"output": "var"})
    assert judged(
        built({"type": "jinja", "value": "output == 'answer' and vars.output == 'var'"}), seen
    ).passed


def test_reason_shows_the_expression_and_the_output():
    outcome = verdict_on("abc", type="jinja", value="output == 'abd'")
    assert outcome.reason == "expression is false: output == 'abd', over \"abc\""


def test_error_that_no_data_can_mend_is_an_error():
    class Unlucky:
        def test(self, expression, scope):
            raise TemplateError("unknown filter: nope", depends_on_data=False)

    seen = evidence("x")
    seen.engine = Unlucky()
    for negate in (False, True):
        assert judged(Jinja(value="output | nope", negate=negate), seen).status is Status.ERROR
