"""The three-way verdict of a gate, and what it does to the exit code."""

from __future__ import annotations

from typing import Any

import pytest

from evenhand.analysis.gate import judge_gate
from evenhand.analysis.verdict import exit_code
from evenhand.errors import ErrorClass, ExitCode
from evenhand.model.comparison import Comparison, Gate, GateVerdict
from evenhand.model.result import Summary

REGRESSED, HOLDS, UNKNOWN = GateVerdict.REGRESSED, GateVerdict.NOT_REGRESSED, GateVerdict.NOT_ENOUGH_EVIDENCE

SUMMARY = Summary(
    total=100, passed=95, failed=5, judged=100, judged_assertions=100, pass_rate_low=0.88, pass_rate_high=0.98
)


def against(**fields: Any) -> Comparison:
    fields = {"newly_failing": 0, "unchanged": 95, "cases": 100, "pairs": 100, "p_value": 1.0, **fields}
    return Comparison(base="branch:main", **fields)


@pytest.mark.parametrize(
    ("gate", "comparison", "verdict"),
    [
        (Gate(), against(), HOLDS),
        (Gate(), against(newly_failing=1), REGRESSED),
        (Gate(mode="budget", max_regressions=2), against(newly_failing=2), HOLDS),
        (Gate(mode="budget", max_regressions=2), against(newly_failing=3), REGRESSED),
        (Gate(mode="significant"), against(worse=0), HOLDS),
        (Gate(mode="significant"), against(worse=3, better=4, p_value=1.0), HOLDS),
        (Gate(mode="significant"), against(worse=3, better=1, p_value=0.6), UNKNOWN),
        (Gate(mode="significant"), against(worse=9, better=1, p_value=0.02), REGRESSED),
        (Gate(mode="significant", alpha=0.01), against(worse=9, better=1, p_value=0.02), UNKNOWN),
        (Gate(mode="significant"), against(cases=5, pairs=5), UNKNOWN),
        (Gate(), against(unchanged=0, added=7), UNKNOWN),
        (Gate(min_pass_rate=0.85), None, HOLDS),
        (Gate(min_pass_rate=0.9), None, UNKNOWN),
        (Gate(min_pass_rate=0.99), None, REGRESSED),
        (Gate(min_pass_rate=0.9), against(newly_failing=1), REGRESSED),
        (Gate(min_pass_rate=0.9), against(), UNKNOWN),
    ],
)
def test_the_gate_finds(gate: Gate, comparison: Comparison | None, verdict: GateVerdict) -> None:
    result = judge_gate(gate, SUMMARY, comparison)
    assert result is not None
    assert result.verdict is verdict
    assert result.reasons
    expected = {REGRESSED: ExitCode.FAILED, HOLDS: ExitCode.OK, UNKNOWN: ExitCode.SUITE}[verdict]
    newly_failing = comparison.newly_failing if comparison else 0
    assert exit_code(SUMMARY, gate=result, newly_failing=newly_failing) is expected


def test_a_gate_without_anything_to_look_at_leaves_the_rule_that_every_case_must_pass() -> None:
    assert judge_gate(Gate(), SUMMARY, None) is None
    assert exit_code(SUMMARY, gate=None) is ExitCode.FAILED


def test_too_little_evidence_can_be_accepted() -> None:
    result = judge_gate(Gate(min_pass_rate=0.9, on_inconclusive="pass"), SUMMARY, None)
    assert result is not None
    assert result.verdict is UNKNOWN
    assert exit_code(SUMMARY, gate=result) is ExitCode.OK


def test_nothing_judged_is_no_evidence_for_a_rate() -> None:
    result = judge_gate(Gate(min_pass_rate=0.0), Summary(), None)
    assert result is not None
    assert result.verdict is UNKNOWN


def test_a_gate_never_hides_what_broke_nor_an_unexpected_pass() -> None:
    holds = judge_gate(Gate(), SUMMARY, against())
    broken = Summary(
        total=2, errored=1, passed=1, judged_assertions=1, error_counts={ErrorClass.PROVIDER_TIMEOUT: 1}
    )
    assert exit_code(broken, gate=holds) is ExitCode.HARNESS
    assert (
        exit_code(Summary(total=1, xpassed=1, judged=1, judged_assertions=1), gate=holds) is ExitCode.FAILED
    )
    assert exit_code(SUMMARY, gate=holds, baseline_missing=True) is ExitCode.SUITE
