"""Deciding, while a case is repeated, whether it passes more or less often than a given share of the time."""

from __future__ import annotations

import enum
import math


class Decision(enum.StrEnum):
    """What the repeats of a case have shown."""

    PASSING = "passing"
    FAILING = "failing"
    UNDECIDED = "undecided"


def decide(passed: int, failed: int, *, pass_rate: float = 0.5, alpha: float = 0.05) -> Decision:
    """What so many passes and failures of one case show about its chance of passing.

    The test is a mixture likelihood ratio on either side of `pass_rate` (H. Robbins, "Statistical methods related to
    the law of the iterated logarithm", Ann. Math. Stat. 41, 1970): the likelihood averaged evenly over all chances
    above the share, against that of the share itself. Where the true chance is at or below `pass_rate`, the ratio is a
    supermartingale that starts at 1, so by Ville's inequality it ever reaches `2 / alpha` with probability of at most
    `alpha / 2`; the same holds on the other side. However often one looks and whenever one stops, a case is called
    passing or failing wrongly with probability of at most `alpha`.
    """
    limit = math.log(2 / alpha)
    if log_evidence_above(passed, failed, pass_rate) >= limit:
        return Decision.PASSING
    if log_evidence_above(failed, passed, 1 - pass_rate) >= limit:
        return Decision.FAILING
    return Decision.UNDECIDED


def log_evidence_above(passed: int, failed: int, share: float) -> float:
    """Log of the likelihood ratio: chances evenly spread over (share, 1) against the share itself.

    The integral of p^passed (1-p)^failed from `share` to 1 is the beta function times a binomial tail.
    """
    trials = passed + failed
    if not trials:
        return 0.0
    log_beta = math.lgamma(passed + 1) + math.lgamma(failed + 1) - math.lgamma(trials + 2)
    tail = _binomial_up_to(trials + 1, passed, share)
    if tail <= 0:
        return -math.inf
    log_share = passed * math.log(share) + failed * math.log1p(-share)
    return log_beta + math.log(tail) - math.log1p(-share) - log_share


def _binomial_up_to(trials: int, count: int, chance: float) -> float:
    """P(X <= count) for X binomial."""
    log_yes, log_no = math.log(chance), math.log1p(-chance)
    whole = math.lgamma(trials + 1)
    return min(
        1.0,
        math.fsum(
            math.exp(
                whole - math.lgamma(i + 1) - math.lgamma(trials - i + 1) + i * log_yes + (trials - i) * log_no
            )
            for i in range(count + 1)
        ),
    )
