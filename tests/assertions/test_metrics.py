"""Budgets: figures at, over and without the limit."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.model.outcome import Outcome, Status
from support.assertions import build, built, evidence, judged

USAGE = {"input_tokens": 100, "output_tokens": 50, "cache_read_tokens": 30, "cache_write_tokens": 20}


def spent(type: str, response: dict, **options) -> Outcome:
    return judged(built({"type": type, **options}), evidence(response=response))


@pytest.mark.parametrize(
    ("kind", "response", "limit", "status", "reason"),
    [
        ("cost", {"cost_usd": 0.01}, 0.01, "pass", "cost $0.010000 <= $0.010000"),
        ("cost", {"cost_usd": 0.0100004}, 0.01, "fail", "cost $0.0100004 > $0.01"),
        ("cost", {"cost_usd": 0.1 + 0.2}, 0.3, "pass", "cost $0.300000 <= $0.300000"),
        ("cost", {"cost_usd": 0.0}, 0, "pass", "cost $0.000000 <= $0.000000"),
        ("latency", {"latency_ms": 0}, 100, "pass", "latency 0ms <= 100ms"),
        ("latency", {"latency_ms": 1234.5678}, 100, "fail", "latency 1234.568ms > 100ms"),
        ("latency", {"latency_ms": 1e7}, 100, "fail", "latency 10000000ms > 100ms"),
        ("tokens", {"usage": USAGE}, 180, "pass", "tokens 180 <= 180"),
        ("tokens", {"usage": {}}, 0, "pass", "tokens 0 <= 0"),
        ("tokens", {"usage": USAGE}, 179, "fail", "tokens 180 > 179"),
    ],
)
def test_figure_against_its_limit(kind, response, limit, status, reason):
    outcome = spent(kind, response, max=limit)
    assert outcome.status == status
    assert outcome.reason == reason


def test_billable_tokens_count_what_was_written_to_the_cache():
    assert spent("tokens", {"usage": USAGE}, max=180, count="billable").reason == "billable tokens 200 > 180"


@pytest.mark.parametrize("kind", ["cost", "tokens"])
@pytest.mark.parametrize("prefix", ["", "not-"])
def test_unreported_figure_passes_with_a_note_negated_or_not(kind, prefix):
    outcome = spent(prefix + kind, {}, max=1)
    assert outcome.passed
    assert outcome.score == 1.0
    assert outcome.unenforced
    assert outcome.reason == f"{kind} not reported; budget not enforced"


@pytest.mark.parametrize("kind", ["cost", "tokens"])
@pytest.mark.parametrize("prefix", ["", "not-"])
@pytest.mark.parametrize(("on_missing", "status"), [("fail", Status.FAIL), ("error", Status.ERROR)])
def test_on_missing_decides_negated_or_not(kind, prefix, on_missing, status):
    outcome = spent(prefix + kind, {}, max=1, on_missing=on_missing)
    assert outcome.status is status
    assert not outcome.unenforced
    assert "not reported" in outcome.reason


@pytest.mark.parametrize("response", [{}, {"latency_ms": 3, "cached": True}])
@pytest.mark.parametrize("kind", ["latency", "not-latency"])
def test_latency_that_was_not_measured_is_an_error(kind, response):
    assert spent(kind, response, max=5).status is Status.ERROR


@pytest.mark.parametrize("cost", [math.nan, math.inf, -0.5])
@pytest.mark.parametrize("kind", ["cost", "not-cost"])
def test_impossible_cost_is_an_error(kind, cost):
    assert spent(kind, {"cost_usd": cost}, max=1).status is Status.ERROR


@pytest.mark.parametrize(
    "options",
    [
        {"type": "cost", "max": -1},
        {"type": "cost", "max": math.inf},
        {"type": "cost", "max": math.nan},
        {"type": "cost"},
        {"type": "latency", "max": math.inf},
        {"type": "latency", "max": -1},
        {"type": "latency", "max": 1, "on_missing": "pass"},
        {"type": "tokens", "max": -1},
        {"type": "tokens", "max": 1.5},
        {"type": "tokens", "max": 5, "count": "all"},
        {"type": "tokens", "max": 5, "on_missing": "skip"},
    ],
)
def test_bad_budget_is_a_problem_at_load(options):
    assert isinstance(build(options), list)


@pytest.mark.parametrize("kind", ["cost", "tokens", "latency"])
def test_negated_budget_holds_over_an_empty_output(kind):
    response = {"empty_reason": "refusal", "cost_usd": 9.0, "latency_ms": 9, "usage": {"input_tokens": 9}}
    outcome = spent(f"not-{kind}", response, max=5)
    assert outcome.passed
    assert outcome.reason.startswith("negated: ")


@given(figure=st.floats(0, 1e9), limit=st.floats(0, 1e9), kind=st.sampled_from(["cost", "latency"]))
def test_exactly_one_of_a_budget_and_its_negation_passes(figure, limit, kind):
    response = {"cost_usd": figure, "latency_ms": figure}
    plain, opposite = spent(kind, response, max=limit), spent(f"not-{kind}", response, max=limit)
    assert plain.passed is not opposite.passed
    shown, relation, allowed = plain.reason.removeprefix(f"{kind} ").split(" ")
    assert (relation == "<=") is plain.passed
    if not plain.passed:
        assert shown != allowed
