"""A comparison of two runs in words, the same in every report for people."""

from __future__ import annotations

from collections.abc import Iterator

from evenhand.model.calibration import CorrectedRate
from evenhand.model.comparison import Comparison, GateResult, GateVerdict
from evenhand.model.result import Run
from evenhand.report.figures import counted, most_frequent, percent


def counts(comparison: Comparison) -> list[tuple[str, int]]:
    """The numbers of cells by what became of them; those of the second half only where there are any."""
    found = [
        ("newly failing", comparison.newly_failing),
        ("newly passing", comparison.newly_passing),
        ("still failing", comparison.still_failing),
        ("unchanged", comparison.unchanged),
    ]
    further = [("added", comparison.added), ("removed", comparison.removed)]
    return [*found, *((name, count) for name, count in further if count)]


def figures(comparison: Comparison) -> Iterator[str]:
    """What the counts mean: rates, whether the difference may be chance, what could not have been seen."""
    if comparison.output_changed:
        yield f"{counted(comparison.output_changed, 'output')} changed"
    if comparison.suite_changes:
        yield f"the suites differ in: {', '.join(comparison.suite_changes)}"
    if comparison.causes:
        causes = ", ".join(f"{count:,} {name}" for name, count in most_frequent(comparison.causes))
        yield f"what differs where something changed: {causes}"
    if comparison.base_pass_rate is None or comparison.head_pass_rate is None:
        yield "no cell was judged in both runs"
        return
    yield (
        f"pass rate {percent(comparison.base_pass_rate)} before, {percent(comparison.head_pass_rate)} now, "
        f"over {counted(comparison.pairs, 'cell')} judged in both"
    )
    yield from _tests(comparison)
    yield _detectable(comparison)


def _tests(comparison: Comparison) -> Iterator[str]:
    if comparison.p_value is not None and comparison.mid_p is not None:
        moves = f"verdicts: {comparison.worse:,} worse, {comparison.better:,} better"
        yield f"{moves}, McNemar p {chance(comparison.p_value)} (mid-p {chance(comparison.mid_p).removeprefix('= ')})"
    for metric in comparison.metrics[:10]:
        if metric.mean or metric.low or metric.high:
            yield (
                f"{metric.name}: {metric.mean:+.3f} on average, 95% interval {metric.low:+.3f} to {metric.high:+.3f}, "
                f"p {chance(metric.p_adjusted)} after Holm's correction"
            )


def _detectable(comparison: Comparison) -> str:
    cases = counted(comparison.cases, "case")
    if comparison.minimum_detectable_change is None:
        return f"with {cases} no change at all can be told from chance"
    points = comparison.minimum_detectable_change * 100
    return f"with {cases} a change under {points:.2g} points cannot be seen (power 80%)"


def chance(p_value: float) -> str:
    """A p-value, never as nought."""
    return "< 0.0001" if p_value < 0.0001 else f"= {p_value:.4f}" if p_value < 0.01 else f"= {p_value:.3f}"


def run_lines(run: Run) -> Iterator[str]:
    """What a run's report says of its baseline and its gate; nothing where it has neither."""
    if run.corrected is not None:
        yield corrected_sentence(run.corrected)
    if run.gate is not None:
        yield gate_sentence(run.gate)
    if run.comparison is not None:
        found = ", ".join(f"{count:,} {name}" for name, count in counts(run.comparison))
        yield f"against {run.comparison.base}: {found}"
        yield from figures(run.comparison)
    elif run.baseline_note:
        yield f"not compared with {run.baseline}: {run.baseline_note}"


def corrected_sentence(found: CorrectedRate) -> str:
    """The share of judge verdicts that pass, as it is and as it stands for."""
    return (
        f"judge passes {percent(found.passed / found.judged)} of {counted(found.judged, 'verdict')}; corrected for its "
        f"errors on {counted(found.items, 'labelled answer')}: {percent(found.rate)}, 95% interval "
        f"{percent(found.low)} to {percent(found.high)}"
    )


def gate_sentence(gate: GateResult) -> str:
    """The verdict of a gate with its reasons."""
    kept = ""
    if gate.verdict is GateVerdict.NOT_ENOUGH_EVIDENCE and gate.on_inconclusive == "pass":
        kept = ", which the suite accepts"
    return f"gate: {gate.words}{kept}; {'; '.join(gate.reasons)}"
