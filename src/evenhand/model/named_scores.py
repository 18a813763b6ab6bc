"""Named scores: figures that a suite collects by name, from `metric` and from what scripts report beside a verdict."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from evenhand.model.outcome import Status
from evenhand.model.result import AssertResult


class Share(NamedTuple):
    """What one assertion adds to the mean of a name."""

    name: str
    score: float
    weight: float


def shares(result: AssertResult, factor: float = 1.0) -> Iterator[Share]:
    """What a judged assertion adds, its members included; `factor` is the weight of the groups around it.

    A score weighs what its assertion does and, where a script says so, its own weight on top. A figure under the
    assertion's own metric is left out: the metric has the score itself. Component results of scripts add nothing.
    """
    if result.status is not Status.PASS and result.status is not Status.FAIL:
        return
    weight = factor * result.weight
    if result.metric and result.score is not None:
        yield Share(result.metric, result.score, weight)
    for name, score in result.named_scores.items():
        if name != result.metric:
            yield Share(name, score, weight * result.named_score_weights.get(name, 1.0))
    for part in result.parts:
        member = member_of(part)
        if member is not None:
            yield from shares(member, weight)


def member_of(part: Any) -> AssertResult | None:
    """The result of a group's member, as it is or as it was stored; None for a component of a script."""
    if isinstance(part, AssertResult):
        return part
    if not isinstance(part, dict) or not isinstance(part.get("kind"), str):
        return None
    try:
        return msgspec.convert(part, AssertResult)
    except (msgspec.ValidationError, RecursionError):
        return None


def named_means(results: Iterable[AssertResult]) -> dict[str, float]:
    """The weighted mean by name. A mean without weight is 0; one that is not finite is left out."""
    # Asked for every cell: nearly all have no names.
    named = [result for result in results if result.metric is not None or result.named_scores or result.parts]
    if not named:
        return {}
    sums: dict[str, list[float]] = {}
    for result in named:
        for name, score, weight in shares(result):
            share = sums.setdefault(name, [0.0, 0.0])
            share[0] += score * weight
            share[1] += weight
    means = {name: total / weight if weight > 0 else 0.0 for name, (total, weight) in sums.items()}
    return {name: mean for name, mean in means.items() if math.isfinite(mean)}
