"""How far a judge agrees with people, how far that is more than chance, and what its errors do to a pass rate."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from evenhand.analysis.paired import SEED
from evenhand.analysis.stats import Z_95, Interval

RESAMPLES = 1_000

T = TypeVar("T")


class Confusion(NamedTuple):
    """Verdicts of a judge by what people said: `right_pass` is passed by both, `wrong_pass` by the judge alone."""

    right_pass: int = 0
    wrong_pass: int = 0
    right_fail: int = 0
    wrong_fail: int = 0

    @property
    def total(self) -> int:
        """All verdicts."""
        return sum(self)

    @property
    def sensitivity(self) -> float | None:
        """The share of what people pass that the judge passes too; None where people passed nothing."""
        passed = self.right_pass + self.wrong_fail
        return self.right_pass / passed if passed else None

    @property
    def specificity(self) -> float | None:
        """The share of what people fail that the judge fails too; None where people failed nothing."""
        failed = self.right_fail + self.wrong_pass
        return self.right_fail / failed if failed else None

    @property
    def agreement(self) -> float:
        """The share of equal verdicts."""
        return (self.right_pass + self.right_fail) / self.total if self.total else 0.0


class Estimate(NamedTuple):
    """A figure with the bounds of its 95 % interval."""

    value: float
    low: float
    high: float


def confusion_of(items: Sequence[tuple[bool, Sequence[bool]]]) -> Confusion:
    """The confusion over items, each what people said and the judge's verdicts."""
    counts = Counter((label, verdict) for label, verdicts in items for verdict in verdicts)
    return Confusion(counts[True, True], counts[False, True], counts[False, False], counts[True, False])


def cohens_kappa(confusion: Confusion) -> float | None:
    """Agreement beyond what both would reach by chance: 1 is full, 0 is chance; None where neither ever differs.

    J. Cohen, "A coefficient of agreement for nominal scales", Educ. Psychol. Meas. 20 (1960).
    """
    total = confusion.total
    if not total:
        return None
    people = (confusion.right_pass + confusion.wrong_fail) / total
    judge = (confusion.right_pass + confusion.wrong_pass) / total
    expected = people * judge + (1 - people) * (1 - judge)
    return None if expected == 1 else (confusion.agreement - expected) / (1 - expected)


def krippendorffs_alpha(units: Sequence[Sequence[object]]) -> float | None:
    """Agreement of any number of observers over units, of which each may lack some; None without any variation.

    For nominal values: one less the observed disagreement over the expected one. K. Krippendorff, "Computing
    Krippendorff's alpha-reliability" (2011).
    """
    pairable = [values for values in units if len(values) > 1]
    totals = Counter(value for values in pairable for value in values)
    count = sum(totals.values())
    expected = count * (count - 1) - sum(n * (n - 1) for n in totals.values())
    if not expected:
        return None
    observed = 0.0
    for values in pairable:
        size = len(values)
        equal = sum(n * (n - 1) for n in Counter(values).values())
        observed += (size * (size - 1) - equal) / (size - 1)
    return 1 - (count - 1) * observed / expected


def bootstrapped(
    items: Sequence[T], figure: Callable[[Sequence[T]], float | None], *, seed: int = SEED
) -> Estimate | None:
    """A figure over items with the percentile bootstrap's interval over resampled items; None where it has no value.

    Deterministic. Resamples in which the figure has no value are left out.
    """
    value = figure(items)
    if value is None:
        return None
    draw = random.Random(seed)  # noqa: S311  (a statistic, no secret)
    found = [figure(draw.choices(items, k=len(items))) for _ in range(RESAMPLES)]
    known = sorted(number for number in found if number is not None)
    low, high = known[int(0.025 * len(known))], known[math.ceil(0.975 * len(known)) - 1]
    return Estimate(value, min(low, value), max(high, value))


def self_consistency(verdicts: Sequence[Sequence[bool]]) -> float | None:
    """The share of pairs of verdicts on the same item that are equal; None where no item has two."""
    pairs = equal = 0
    for found in verdicts:
        passed, size = sum(found), len(found)
        pairs += size * (size - 1) // 2
        equal += (passed * (passed - 1) + (size - passed) * (size - passed - 1)) // 2
    return equal / pairs if pairs else None


def length_bias(items: Sequence[tuple[int, bool, float]]) -> float | None:
    """How much more the judge favours long outputs than people do: the excess of its passes in the longer half.

    Items are an output's length, what people said, and the share of verdicts that pass. The result is the mean of
    verdict less label in the longer half, less that in the shorter; None where all outputs are of one length.
    """
    ordered = sorted(items, key=lambda item: item[0])
    half = len(ordered) // 2
    short, long = ordered[:half], ordered[len(ordered) - half :]
    if not half or short[0][0] == long[-1][0]:
        return None

    def excess(some: Sequence[tuple[int, bool, float]]) -> float:
        return sum(share - label for _, label, share in some) / len(some)

    return excess(long) - excess(short)


def corrected_rate(passed: int, judged: int, confusion: Confusion) -> Interval | None:
    """The pass rate that a judge's verdicts stand for, given how it errs on labelled items.

    W. Rogan and B. Gladen, "Estimating prevalence from the results of a screening test", Am. J. Epidemiol. 107 (1978);
    the interval, which carries the uncertainty of the error rates too, is that of T. Lang and J. Reiczigel, "Confidence
    limits for prevalence of disease adjusted for estimated sensitivity and specificity", Prev. Vet. Med. 113 (2014).
    None where there is nothing to correct or the judge does no better than chance.
    """
    sensitivity, specificity = confusion.sensitivity, confusion.specificity
    if not judged or sensitivity is None or specificity is None or sensitivity + specificity <= 1:
        return None
    rate = _unit((passed / judged + specificity - 1) / (sensitivity + specificity - 1))
    z2 = Z_95 * Z_95
    size = judged + z2
    apparent = (passed + z2 / 2) / size
    positives = confusion.right_pass + confusion.wrong_fail + 2
    negatives = confusion.right_fail + confusion.wrong_pass + 2
    se, sp = (confusion.right_pass + 1) / positives, (confusion.right_fail + 1) / negatives
    power = se + sp - 1
    if power <= 0:
        return Interval(rate, 0.0, 1.0)
    center = (apparent + sp - 1) / power
    shift = 2 * z2 * (center * se * (1 - se) / positives - (1 - center) * sp * (1 - sp) / negatives)
    variance = (
        apparent * (1 - apparent) / size
        + center * center * se * (1 - se) / positives
        + (1 - center) * (1 - center) * sp * (1 - sp) / negatives
    )
    reach = Z_95 * math.sqrt(variance) / power
    low, high = _unit(center + shift - reach), _unit(center + shift + reach)
    return Interval(rate, min(low, rate), max(high, rate))


def _unit(value: float) -> float:
    return min(1.0, max(0.0, value))
