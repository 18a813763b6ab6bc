"""What one assertion found."""

from __future__ import annotations

import enum
import math
from typing import Any

import msgspec

from evenhand.errors import ErrorClass


class Status(enum.StrEnum):
    """How an assertion ended. `error` means that nothing was learned; it is never a verdict."""

    PASS = "pass"
    FAIL = "fail"
    ERROR = "error"
    SKIPPED = "skipped"


# Looked up once: reading a member from its enumeration costs more than a comparison.
_PASS, _FAIL = Status.PASS, Status.FAIL


class Outcome(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """The verdict of one assertion: a status, a finite score where something was judged, and the reason.

    `parts` holds what a verdict is made of: the results of a group's members (`AssertResult`), or the component
    results of a script (outcomes). `named_scores` are further figures that a script or checker reports.
    `unenforced` marks a verdict that holds only because a budget could not be enforced. `both_ways` marks a fail that
    says nothing for the opposite either, such as that of a script that threw: `negate` leaves it as it is, and so
    does a group that asks for the opposite.
    """

    status: Status
    score: float | None = None
    reason: str = ""
    details: Any = None
    parts: tuple[Any, ...] = ()
    named_scores: dict[str, float] = {}
    named_score_weights: dict[str, float] = {}
    """Shares of the named scores in their means, 1 where none is given."""
    error_class: ErrorClass | None = None
    cost_usd: float | None = None
    cached: bool = False
    unenforced: bool = False
    both_ways: bool = False

    @property
    def passed(self) -> bool:
        """Whether the assertion was judged and held."""
        return self.status is _PASS


class Weighed(msgspec.Struct, frozen=True, gc=False):
    """One assertion's outcome and its share in the mean."""

    outcome: Outcome
    weight: float


def passed(reason: str, *, score: float = 1.0, details: Any = None) -> Outcome:
    """An assertion that held."""
    return Outcome(status=_PASS, score=finite(score), reason=reason, details=details)


def failed(reason: str, *, score: float = 0.0, details: Any = None) -> Outcome:
    """An assertion that was judged and did not hold."""
    return Outcome(status=_FAIL, score=finite(score), reason=reason, details=details)


def failed_both_ways(reason: str, *, details: Any = None) -> Outcome:
    """An assertion that does not hold, and whose opposite does not hold either."""
    return Outcome(status=_FAIL, score=0.0, reason=reason, details=details, both_ways=True)


def verdict(held: bool, reason: str, *, details: Any = None) -> Outcome:
    """Pass with score 1 or fail with score 0."""
    return passed(reason, details=details) if held else failed(reason, details=details)


def errored(
    reason: str, error_class: ErrorClass, *, details: Any = None, parts: tuple[Any, ...] = ()
) -> Outcome:
    """An assertion of which nothing was learned."""
    return Outcome(status=Status.ERROR, reason=reason, error_class=error_class, details=details, parts=parts)


def skipped(reason: str) -> Outcome:
    """An assertion that was not evaluated because it could not change the verdict."""
    return Outcome(status=Status.SKIPPED, reason=reason)


TOLERANCE = 1e-9
"""Float noise that a comparison with a threshold forgives: a mean of 12/15 meets 0.8."""


def meets(score: float, threshold: float) -> bool:
    """Whether a score reaches a threshold, float noise forgiven."""
    return score >= threshold - TOLERANCE


def finite(score: float) -> float:
    """The score itself. NaN and infinity never enter a result."""
    if not math.isfinite(score):
        raise ValueError(f"a score must be finite, found {score!r}")
    return score
