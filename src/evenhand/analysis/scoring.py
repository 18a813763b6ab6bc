"""Arithmetic over the verdicts of one case: the score, whether it passes, whether graders can still matter.

A case's score is the weighted mean of what was judged. Errored and skipped assertions have no score and are left
out of it; nothing here turns an error into a pass or a fail.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from evenhand.model.outcome import Status, Weighed, meets

_FAIL, _ERROR = Status.FAIL, Status.ERROR
"""Looked up once: reading a member from its enumeration costs more than a comparison."""


class ScoreOverflow(ArithmeticError):
    """A weighted mean that is not a finite number."""


def case_score(items: Sequence[Weighed]) -> float | None:
    """The weighted mean over judged assertions.

    1.0 where nothing weighs (no assertion, all weights 0); None where there are assertions and every one errored.
    Raises `ScoreOverflow` where the mean is not finite.
    """
    total = weight = 0.0
    judged = False
    for item in items:
        score = item.outcome.score
        if score is not None:
            judged = True
            total += item.weight * score
            weight += item.weight
    if not judged and any(item.outcome.status is _ERROR for item in items):
        return None
    if weight <= 0:
        return 1.0
    mean = total / weight
    if not math.isfinite(mean):
        raise ScoreOverflow(f"the weighted mean is not finite: {total!r} / {weight!r}")
    return mean


def case_passes(items: Iterable[Weighed], score: float | None, threshold: float | None) -> bool:
    """The verdict of what was judged: the score meets the threshold, or without one no assertion failed.

    An error is no verdict and decides the case's status before this one does; a case of which nothing was learned
    does not pass.
    """
    if score is None:
        return False
    if threshold is not None:
        return meets(score, threshold)
    # A comprehension: a generator costs three times as much for a handful of items.
    return not [item for item in items if item.outcome.status is _FAIL]


def graders_matter(
    local: Sequence[Weighed],
    graded_weights: Sequence[float],
    threshold: float | None,
    *,
    bounded: bool = True,
) -> bool:
    """Whether graded assertions, each scoring somewhere in [0, 1], can still change the verdict.

    Without a threshold they can as long as every local assertion passed, whatever their weights. With one they
    can while the best mean still reaches it and the worst does not; always where the scores have no bounds
    (`bounded` is false). An errored local assertion decides the case.
    """
    if any(item.outcome.status is Status.ERROR for item in local):
        return False
    if threshold is None:
        return all(item.outcome.status is Status.PASS for item in local)
    remaining = sum(graded_weights)
    if remaining <= 0:
        return False
    if not bounded:
        return True
    reached = sum(item.weight * (item.outcome.score or 0.0) for item in local)
    whole = sum(item.weight for item in local) + remaining
    return meets((reached + remaining) / whole, threshold) and not meets(reached / whole, threshold)
