"""What the kinds about traces find in them, and where they find nothing to judge."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.assertions.traces import nearest_rank
from evenhand.model.outcome import Outcome
from evenhand.run.evaluate import judge
from support.assertions import build, built, evidence

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"


def trace(*spans: tuple[str, float | None, int], **fields: Any) -> dict[str, Any]:
    """A trace of spans by name, duration in milliseconds and status code."""
    made = [
        {
            "span_id": f"{number:016x}",
            "name": name,
            "start_ms": 1_000.0,
            "end_ms": None if took is None else 1_000.0 + took,
            "status_code": code,
            "status_message": "timed out" if code == 2 else None,
        }
        for number, (name, took, code) in enumerate(spans)
    ]
    return {"trace_id": TRACE_ID, "spans": made, **fields}


AGENT = trace(
    ("retrieval.search", 20.0, 0), ("llm.chat", 900.0, 1), ("llm.chat", 100.0, 1), ("tool.call", 50.0, 2)
)


def outcome(kind: str, found: dict[str, Any] | None = AGENT, output: str = "x", **options: Any) -> Outcome:
    seen = evidence(output, response={} if found is None else {"trace": found})
    return judge(built({"type": kind, **options}), seen)


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ({"pattern": "llm.*", "min": 2, "max": 2}, "pass"),
        ({"pattern": "LLM.CHAT", "min": 2}, "pass"),
        ({"pattern": "llm.*", "max": 1}, "fail"),
        ({"pattern": "{llm,tool}.*", "min": 3}, "pass"),
        ({"pattern": "http.*", "max": 0}, "pass"),
        ({"pattern": "http.*", "min": 1}, "fail"),
        ({"max": 4}, "pass"),
        ({"min": 5}, "fail"),
    ],
)
def test_spans_are_counted_by_name(options: dict[str, Any], status: str) -> None:
    assert outcome("trace-span-count", **options).status == status


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ({"max": 900}, "pass"),
        ({"max": 899}, "fail"),
        ({"min": 20}, "pass"),
        ({"min": 21}, "fail"),
        ({"pattern": "llm.*", "min": 100, "max": 900}, "pass"),
        ({"max": 50, "percentile": 50}, "pass"),
        ({"max": 49, "percentile": 50}, "fail"),
        ({"max": 100, "percentile": 75}, "pass"),
        ({"max": 100, "percentile": 76}, "fail"),
    ],
)
def test_durations_are_held_to_bounds(options: dict[str, Any], status: str) -> None:
    assert outcome("trace-span-duration", **options).status == status


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ({}, "fail"),
        ({"pattern": "llm.*"}, "pass"),
        ({"max_count": 1}, "pass"),
        ({"max_percentage": 25}, "pass"),
        ({"max_percentage": 24.9}, "fail"),
        ({"max_percentage": 50, "max_count": 0}, "fail"),
    ],
)
def test_errors_are_counted_by_their_status(options: dict[str, Any], status: str) -> None:
    assert outcome("trace-error-spans", **options).status == status


def test_reasons_say_what_was_found() -> None:
    missing = outcome("trace-span-count", pattern="http.*", min=1).reason
    assert missing == (
        '0 spans match \'http.*\', expected at least 1, found "llm.chat" ×2, "retrieval.search", "tool.call"'
    )
    slow = outcome("trace-span-duration", max=60).reason
    assert slow == ('2 of 4 spans did not take at most 60 ms: "llm.chat" 900.000 ms, "llm.chat" 100.000 ms')
    broken = outcome("trace-error-spans").reason
    assert broken == '1 of 4 spans ended with an error: "tool.call" ("timed out"); at most 0 may'


KINDS = {
    "trace-span-count": {"max": 3},
    "trace-span-duration": {"max": 3},
    "trace-error-spans": {},
}


@pytest.mark.parametrize("negate", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_without_any_span_nothing_is_judged(kind: str, negate: bool) -> None:
    for found in (None, trace()):
        assert outcome(kind, found, negate=negate, **KINDS[kind]).status == "error"


def test_missing_spans_are_explained() -> None:
    assert "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" in outcome("trace-error-spans", trace()).reason
    assert "continue the `traceparent`" in outcome("trace-error-spans", trace(foreign_spans=3)).reason
    assert "tracing: {enabled: true}" in outcome("trace-error-spans", None).reason


@pytest.mark.parametrize("kind", KINDS)
def test_incomplete_trace_is_not_judged(kind: str) -> None:
    found = outcome(kind, {**AGENT, "dropped_spans": 7}, **KINDS[kind])
    assert (found.status, "7 spans beyond 4" in found.reason) == ("error", True)


@pytest.mark.parametrize("negate", [False, True])
@pytest.mark.parametrize("kind", ["trace-span-duration", "trace-error-spans"])
def test_where_no_span_matches_neither_polarity_holds(kind: str, negate: bool) -> None:
    found = outcome(kind, pattern="http.*", negate=negate, **KINDS[kind])
    assert (found.status, found.reason.startswith("no span matches 'http.*', found")) == ("fail", True)


def test_span_without_an_end_has_no_duration_to_judge() -> None:
    assert outcome("trace-span-duration", trace(("open", None, 0)), max=1_000).status == "error"


def test_negation_turns_the_verdict_round() -> None:
    assert outcome("not-trace-span-count", pattern="llm.*", max=1).status == "pass"
    assert outcome("not-trace-error-spans").status == "pass"
    assert outcome("not-trace-span-duration", max=900).status == "fail"


def test_negated_kind_may_pass_on_an_empty_output() -> None:
    assert outcome("not-trace-error-spans", output="").status == "pass"


@pytest.mark.parametrize(
    "options",
    [
        {"type": "trace-span-count"},
        {"type": "trace-span-count", "min": 0},
        {"type": "trace-span-count", "min": 3, "max": 2},
        {"type": "trace-span-count", "pattern": "", "max": 2},
        {"type": "trace-span-duration"},
        {"type": "trace-span-duration", "min": 0},
        {"type": "trace-span-duration", "max": float("inf")},
        {"type": "trace-span-duration", "min": 3, "max": 2},
        {"type": "trace-span-duration", "max": 3, "percentile": 0},
        {"type": "trace-error-spans", "max_percentage": 100},
        {"type": "trace-error-spans", "max_count": -1},
    ],
    ids=str,
)
def test_check_that_cannot_fail_or_cannot_pass_is_refused(options: dict[str, Any]) -> None:
    assert isinstance(build(options), list)


@given(st.lists(st.floats(0, 1e6), min_size=1), st.floats(0.01, 100))
def test_percentile_is_a_measured_value_that_so_many_do_not_exceed(values: list[float], share: float) -> None:
    ascending = sorted(values)
    found = nearest_rank(ascending, share)
    assert found in ascending
    assert sum(value <= found for value in ascending) >= share / 100 * len(ascending) - 1e-6
