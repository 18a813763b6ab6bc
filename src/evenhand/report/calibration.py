"""A calibration of a judge in words."""

from __future__ import annotations

from collections.abc import Iterator

from evenhand.model.calibration import Bounded, Calibration
from evenhand.report.figures import counted, dollars, percent


def lines(found: Calibration) -> Iterator[str]:
    """The figures of a calibration, one a line."""
    yield f"judge {found.judge}: {counted(found.items, 'item')}, {counted(found.repeats, 'repeat')}"
    yield f"agreement with people {_share(found.agreement)}"
    yield f"Cohen's kappa {_number(found.kappa)}"
    yield f"Krippendorff's alpha {_number(found.alpha)}"
    if found.human_alpha is not None:
        yield f"Krippendorff's alpha among people alone {found.human_alpha:.2f}"
    yield f"people pass: judge passes {found.right_pass:,}, fails {found.wrong_fail:,}{_rate(found.sensitivity)}"
    yield f"people fail: judge passes {found.wrong_pass:,}, fails {found.right_fail:,}{_rate(found.specificity)}"
    if found.self_consistency is not None:
        yield f"self-consistency {percent(found.self_consistency)} of pairs of verdicts on one item are equal"
    if found.position_flips is not None and found.position_shift is not None:
        yield (
            f"position: {percent(found.position_flips)} of verdicts turn with the answer before the rubric, "
            f"passes move by {found.position_shift * 100:+.1f} points"
        )
    if found.length_bias is not None:
        bias = found.length_bias
        yield (
            f"length: passes the longer half {bias.value * 100:+.1f} points more than people do, "
            f"95% interval {bias.low * 100:+.1f} to {bias.high * 100:+.1f}"
        )
    if found.unusable:
        yield f"{counted(found.unusable, 'verdict')} not given"
    if found.ties:
        yield f"{counted(found.ties, 'item')} left out: people are split"
    if found.cost_usd is not None:
        yield f"cost {dollars(found.cost_usd)}"
    yield from _warnings(found)


def _warnings(found: Calibration) -> Iterator[str]:
    if found.sensitivity is None or found.specificity is None:
        yield "people gave one label alone: the judge's errors on the other are unknown, and nothing can be corrected"
    elif found.sensitivity + found.specificity <= 1:
        yield "the judge does no better than chance: its verdicts say nothing, and nothing can be corrected"


def _share(found: Bounded) -> str:
    return f"{percent(found.value)}, 95% interval {percent(found.low)} to {percent(found.high)}"


def _number(found: Bounded | None) -> str:
    if found is None:
        return "unknown: all verdicts and labels are alike"
    return f"{found.value:.2f}, 95% interval {found.low:.2f} to {found.high:.2f}"


def _rate(share: float | None) -> str:
    return "" if share is None else f" ({percent(share)} right)"
