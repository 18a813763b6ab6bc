"""Formulas over counts: intervals, paired comparison, repeated sampling. Finite for every count from 0 on."""

from __future__ import annotations

import math
from typing import NamedTuple

Z_95 = 1.959963984540054
"""Quantile of the standard normal distribution that leaves 2.5 % above it."""

_EXACT_INTEGERS_UP_TO = 1_000
"""Numbers of pairs up to which McNemar's p-value is a quotient of whole numbers; beyond, 1e-8 is close enough."""


class Interval(NamedTuple):
    """A share and the bounds between which the true share lies with the given confidence, all in [0, 1]."""

    rate: float
    low: float
    high: float


class PairedTest(NamedTuple):
    """How likely a difference between two runs over the same cases is by chance alone."""

    p_value: float
    significant: bool
    mid_p: float = 1.0
    """The p-value with half the probability of what was observed taken off: less cautious, shown beside it."""


def wilson(passed: int, total: int, z: float = Z_95) -> Interval:
    """The share `passed / total` with Wilson's score interval; all zero where `total` is 0.

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927).
    """
    if total <= 0:
        return Interval(0.0, 0.0, 0.0)
    return wilson_of_share(passed / total, total, z)


def wilson_of_share(rate: float, size: float, z: float = Z_95) -> Interval:
    """Wilson's interval for a share of a sample of `size` > 0, which an effective size need not make a whole number."""
    spread = z * z / size
    center = rate + spread / 2
    margin = z * math.sqrt(rate * (1 - rate) / size + spread / (4 * size))
    low = (center - margin) / (1 + spread) if rate > 0 else 0.0
    high = (center + margin) / (1 + spread) if rate < 1 else 1.0
    return Interval(rate, min(max(low, 0.0), rate), max(min(high, 1.0), rate))


def mcnemar(only_first: int, only_second: int, alpha: float = 0.05) -> PairedTest:
    """Exact two-sided McNemar test over paired verdicts.

    The arguments count the pairs in which only the first, or only the second, of two runs passed; pairs that agree
    say nothing. Under the hypothesis of no difference the smaller count is binomial with p = 1/2. The mid-p is that
    of M. Fagerland et al., "The McNemar test for binary matched-pairs data", BMC Med. Res. Methodol. 13 (2013).
    """
    pairs = only_first + only_second
    smaller = min(only_first, only_second)
    observed = _binomial_term(pairs, smaller)
    if 2 * smaller == pairs:
        return PairedTest(1.0, False, 1.0 - observed / 2 if pairs else 1.0)
    if 2 * smaller == pairs - 1:
        return PairedTest(1.0, False, 1.0 - observed)
    p_value = min(1.0, 2 * _lower_tail(pairs, smaller))
    return PairedTest(p_value, p_value < alpha, max(0.0, p_value - observed))


def _binomial_term(trials: int, count: int) -> float:
    """P(X = count) for X binomial with p = 1/2."""
    if trials <= _EXACT_INTEGERS_UP_TO:
        return math.comb(trials, count) / (1 << trials)
    log_term = math.lgamma(trials + 1) - math.lgamma(count + 1) - math.lgamma(trials - count + 1)
    return math.exp(log_term - trials * math.log(2))


def _lower_tail(trials: int, count: int) -> float:
    """P(X <= count) for X binomial with p = 1/2 and `count` below the middle."""
    if trials <= _EXACT_INTEGERS_UP_TO:
        return sum(math.comb(trials, i) for i in range(count + 1)) / (1 << trials)
    log_term = math.lgamma(trials + 1) - math.lgamma(count + 1) - math.lgamma(trials - count + 1)
    term = total = 1.0
    for i in range(count, 0, -1):
        term *= i / (trials - i + 1)
        total += term
        if term < total * 1e-17:
            break
    return math.exp(log_term - trials * math.log(2)) * total


def pass_at_k(samples: int, passed: int, k: int) -> float:
    """Unbiased chance that at least one of `k` samples passes, from `passed` of `samples` observed.

    M. Chen et al., "Evaluating large language models trained on code" (2021). With `k` above the number of samples it
    is 1 where any sample passed, else 0.
    """
    if passed <= 0 or k <= 0:
        return 0.0
    if samples - passed < k:
        return 1.0
    return 1.0 - _share_of_draws(samples, samples - passed, k)


def pass_hat_k(samples: int, passed: int, k: int) -> float:
    """Unbiased chance that all of `k` samples pass (pass^k), from `passed` of `samples` observed.

    S. Yao et al., "tau-bench" (2024). With `k` above the number of samples it is 1 where every sample passed, else 0.
    """
    if samples <= 0 or k <= 0:
        return 0.0
    if passed >= samples:
        return 1.0
    return _share_of_draws(samples, passed, k) if k <= passed else 0.0


def _share_of_draws(samples: int, chosen: int, k: int) -> float:
    """C(chosen, k) / C(samples, k): the share of draws of `k` that fall wholly among the chosen."""
    share = 1.0
    for i in range(k):
        share *= (chosen - i) / (samples - i)
    return share
