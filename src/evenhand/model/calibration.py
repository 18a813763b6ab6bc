"""How a judge compares with people, as it is stored, and what that says of a run's pass rate."""

from __future__ import annotations

import msgspec


class Bounded(msgspec.Struct, frozen=True, kw_only=True):
    """A figure with the bounds of its 95 % interval."""

    value: float
    low: float
    high: float


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """One calibration of a judge against labels of people.

    `right_pass` counts verdicts that people and judge passed, `wrong_pass` those that the judge alone passed; each
    repeat is a verdict. Agreement, kappa and alpha have intervals over items.
    """

    schema_version: int = 1
    judge_digest: str
    """sha256 of the suite's graders as they were: a changed judge is another one."""
    judge: str
    calibrated_at: str
    items: int
    repeats: int
    unusable: int
    """Verdicts that the judge did not give."""
    ties: int
    """Items left out because people do not agree on them."""
    right_pass: int
    wrong_pass: int
    right_fail: int
    wrong_fail: int
    sensitivity: float | None
    specificity: float | None
    agreement: Bounded
    kappa: Bounded | None
    alpha: Bounded | None
    """Krippendorff's, over all labels of people and the judge as one more observer, by most of its verdicts."""
    human_alpha: float | None
    """Krippendorff's among people alone, where several labelled the same items."""
    self_consistency: float | None
    position_flips: float | None
    """The share of items on which the judge's verdict turned when it saw the answer before the rubric."""
    position_shift: float | None
    """How much higher its pass rate was then."""
    length_bias: Bounded | None
    cost_usd: float | None


class CorrectedRate(msgspec.Struct, frozen=True, kw_only=True):
    """The share of judge verdicts that pass, and what it comes to given how the judge errs."""

    passed: int
    judged: int
    rate: float
    low: float
    high: float
    sensitivity: float
    specificity: float
    items: int
    calibrated_at: str
