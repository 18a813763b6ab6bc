"""Whether two runs over the same cases differ: tests over paired verdicts and scores, and what they could see at all.

Everything here is deterministic: random draws come from a generator with a fixed seed.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import NamedTuple

from evenhand.analysis.stats import PairedTest, mcnemar

SEED = 20_260_101
RESAMPLES = 2_000
"""Draws of a bootstrap or of random signs: a p-value of 0.05 is then known to about half a point."""

LARGE = 200
"""Pairs from which the mean is taken as normal: the draws would cost time and say the same."""

POWER = 0.8
"""Chance of seeing the change that counts as visible."""

_EXACT_STEPS = 2_000_000
_NORMAL = NormalDist()


class MeanDifference(NamedTuple):
    """The mean of paired differences, head minus base, with its bounds and how likely it is by chance alone."""

    mean: float
    low: float
    high: float
    p_value: float


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted so that the chance of any false alarm among all of them stays at the level of one.

    S. Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Stat. 6 (1979).
    """
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted = [1.0] * len(p_values)
    worst = 0.0
    for rank, index in enumerate(order):
        worst = max(worst, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = worst
    return adjusted


def clustered_mcnemar(changes: Mapping[int, int], alpha: float = 0.05) -> PairedTest:
    """McNemar's test over cases that were asked several times.

    `changes` counts cases by how far their number of passes moved, in whole units that all cases share; cases that
    did not move say nothing. Under the hypothesis of no difference each move is as likely in either direction: the
    two-sided p-value is the share of the assignments of signs whose sum is at least as far from 0. It is exact (for
    moves of one unit it is McNemar's) while that takes a moment, and normal for thousands of repeated cases.
    """
    moves = {size: count for size, count in changes.items() if size and count}
    units = {abs(size) for size in moves}
    if len(units) <= 1:
        unit = next(iter(units), 1)
        return mcnemar(moves.get(-unit, 0), moves.get(unit, 0), alpha)
    sizes = [abs(size) for size, count in moves.items() for _ in range(count)]
    observed = abs(sum(size * count for size, count in moves.items()))
    if len(sizes) * sum(sizes) > _EXACT_STEPS:
        spread = math.sqrt(sum(size * size for size in sizes))
        beyond, equal = _two_sided(max(0, observed - 1) / spread), 0.0
    else:
        beyond, equal = _signed_sums(sizes, observed)
    return PairedTest(beyond, beyond < alpha, max(0.0, beyond - equal / 2))


def _signed_sums(sizes: Sequence[int], observed: int) -> tuple[float, float]:
    """P(|sum| >= observed) and P(|sum| = observed) over random signs."""
    whole = sum(sizes)
    chances = [1.0]
    for size in sizes:
        # The chance of each subset sum: a member stays out, or goes in.
        stays, goes = [*chances, *[0.0] * size], [*[0.0] * size, *chances]
        chances = [(a + b) / 2 for a, b in zip(stays, goes, strict=True)]
    beyond = equal = 0.0
    for total, chance in enumerate(chances):
        distance = abs(2 * total - whole)
        if distance >= observed:
            beyond += chance
            if distance == observed:
                equal += chance
    return min(1.0, beyond), equal


def mean_difference(differences: Sequence[float], *, seed: int = SEED) -> MeanDifference:
    """The mean of paired differences of scores, one for each case.

    The bounds are the 2.5 % and 97.5 % quantiles of the means of resampled cases (B. Efron's percentile bootstrap).
    The p-value is that of random signs, all of them where there are few: it cannot be small for a handful of cases.
    From `LARGE` cases on both are normal.
    """
    count = len(differences)
    if not count:
        return MeanDifference(0.0, 0.0, 0.0, 1.0)
    mean = math.fsum(differences) / count
    if not any(differences):
        return MeanDifference(0.0, 0.0, 0.0, 1.0)
    if count >= LARGE:
        return _normal_difference(differences, mean)
    draw = random.Random(seed)  # noqa: S311  (a statistic, no secret)
    means = sorted(math.fsum(draw.choices(differences, k=count)) / count for _ in range(RESAMPLES))
    low, high = means[round(0.025 * RESAMPLES)], means[round(0.975 * RESAMPLES) - 1]
    return MeanDifference(mean, min(low, mean), max(high, mean), _random_signs(differences, draw))


def _normal_difference(differences: Sequence[float], mean: float) -> MeanDifference:
    count = len(differences)
    variance = math.fsum((value - mean) ** 2 for value in differences) / (count - 1)
    error = math.sqrt(variance / count)
    if error == 0:
        return MeanDifference(mean, mean, mean, 0.0)
    reach = _NORMAL.inv_cdf(0.975) * error
    return MeanDifference(mean, mean - reach, mean + reach, _two_sided(abs(mean) / error))


def _random_signs(differences: Sequence[float], draw: random.Random) -> float:
    """The share of assignments of signs that lead at least as far from 0 as the observed one."""
    sizes = [abs(value) for value in differences if value]
    count = len(sizes)
    observed = abs(math.fsum(differences)) * (1 - 1e-12)
    if count <= 10:
        far = sum(
            abs(math.fsum(size if bits >> place & 1 else -size for place, size in enumerate(sizes)))
            >= observed
            for bits in range(1 << count)
        )
        return far / (1 << count)
    far = 0
    for _ in range(RESAMPLES):
        bits = draw.getrandbits(count)
        far += abs(sum(size if bits >> place & 1 else -size for place, size in enumerate(sizes))) >= observed
    return (far + 1) / (RESAMPLES + 1)


def minimum_detectable_change(
    pairs: int, changing_share: float, *, alpha: float = 0.05, power: float = POWER
) -> float | None:
    """The smallest change of the pass rate that McNemar's test sees with the given power, as a share.

    `changing_share` is the share of cases whose verdict differs between the runs. None where no change could be seen
    at all. R. Connor, "Sample size for testing differences in proportions for the paired-sample design", Biometrics 43
    (1987), solved for the difference; never below what the exact test needs: all changes in one direction.
    """
    fewest = fewest_changes(alpha)
    if pairs < fewest:
        return None
    z_alpha, z_power = _NORMAL.inv_cdf(1 - alpha / 2), _NORMAL.inv_cdf(power)

    def is_seen(change: float) -> bool:
        share = max(changing_share, change)
        needed = z_alpha * math.sqrt(share) + z_power * math.sqrt(max(0.0, share - change * change))
        return pairs * change * change >= needed * needed

    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if is_seen(middle) else (middle, high)
    return max(high, fewest / pairs)


def fewest_changes(alpha: float) -> int:
    """How many verdicts must change, all in one direction, before the exact test can call it significant."""
    return next(count for count in range(1, 2_000) if 2 * 0.5**count < alpha)


def _two_sided(distance: float) -> float:
    return math.erfc(distance / math.sqrt(2))
