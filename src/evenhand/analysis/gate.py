"""The three-way verdict of a gate: regressed, not regressed, or not enough evidence to say."""

from __future__ import annotations

from collections.abc import Iterable

from evenhand.analysis.paired import fewest_changes
from evenhand.model.comparison import (
    Comparison,
    Gate,
    GateResult,
    GateVerdict,
)
from evenhand.model.result import Summary

Finding = tuple[GateVerdict, str]

_REGRESSED = GateVerdict.REGRESSED
_HOLDS = GateVerdict.NOT_REGRESSED
_UNKNOWN = GateVerdict.NOT_ENOUGH_EVIDENCE


def judge_gate(gate: Gate, summary: Summary, comparison: Comparison | None) -> GateResult | None:
    """What a gate makes of a run; None where it has nothing to look at: no baseline yet and no rate to reach.

    The worst finding decides: one that regressed, else one without enough evidence.
    """
    findings = list(_findings(gate, summary, comparison))
    if not findings:
        return None
    verdict = next(v for v in (_REGRESSED, _UNKNOWN, _HOLDS) if any(found is v for found, _ in findings))
    return GateResult(
        verdict=verdict, reasons=tuple(text for _, text in findings), on_inconclusive=gate.on_inconclusive
    )


def gate_is_inconclusive(result: GateResult) -> bool:
    """Whether the run must not end as passed for want of evidence."""
    return result.verdict is _UNKNOWN and result.on_inconclusive == "fail"


def _findings(gate: Gate, summary: Summary, comparison: Comparison | None) -> Iterable[Finding]:
    if comparison is not None:
        if (
            comparison.unchanged
            + comparison.newly_passing
            + comparison.newly_failing
            + comparison.still_failing
            == 0
        ):
            yield _UNKNOWN, f"no case of this run is in {comparison.base}"
        elif gate.mode == "significant":
            yield _significant(gate, comparison)
        else:
            yield _counted(gate, comparison)
    if gate.min_pass_rate is not None:
        yield _rate(gate.min_pass_rate, summary)


def _counted(gate: Gate, comparison: Comparison) -> Finding:
    allowed = gate.max_regressions if gate.mode == "budget" else 0
    count = comparison.newly_failing
    text = f"{count:,} newly failing, {allowed:,} allowed, against {comparison.base}"
    return (_REGRESSED if count > allowed else _HOLDS), text


def _significant(gate: Gate, comparison: Comparison) -> Finding:
    repeated = f"{comparison.pairs:,} cells in " if comparison.pairs != comparison.cases else ""
    counts = (
        f"{comparison.worse:,} worse and {comparison.better:,} better of {repeated}{comparison.cases:,} cases"
    )
    p_value = 1.0 if comparison.p_value is None else comparison.p_value
    test = f"{counts} against {comparison.base}, p = {p_value:.3g}"
    if comparison.cases < fewest_changes(gate.alpha):
        return (
            _UNKNOWN,
            f"{test}: {fewest_changes(gate.alpha)} cases are the fewest in which a change can show",
        )
    if comparison.worse <= comparison.better:
        return _HOLDS, test
    if p_value < gate.alpha:
        return _REGRESSED, f"{test} is below {gate.alpha:g}"
    return _UNKNOWN, f"{test} is not below {gate.alpha:g}, yet more got worse than better"


def _rate(wanted: float, summary: Summary) -> Finding:
    low, high = summary.pass_rate_low, summary.pass_rate_high
    if low is None or high is None:
        return _UNKNOWN, f"no case was judged, and the pass rate must reach {wanted:.1%}"
    interval = f"the pass rate lies between {low:.1%} and {high:.1%}, and must reach {wanted:.1%}"
    if low >= wanted - 1e-9:
        return _HOLDS, interval
    return (_REGRESSED if high < wanted else _UNKNOWN), interval
