"""The members of groups and the component results of scripts, as reports show them below what they decided."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from evenhand.model.named_scores import member_of
from evenhand.model.outcome import Outcome, Status
from evenhand.model.result import AssertResult
from evenhand.report.encode import json_line

MAX_LEVELS = 10
"""Levels of members that reports show; results hold all."""

COMPONENT = "component"
"""What reports call a component result of a script, which has no kind."""


class Member(NamedTuple):
    """A member and its level, 1 for those directly inside; without a result, so many more are left out there."""

    level: int
    result: AssertResult | None
    left_out: int = 0


def members(result: AssertResult, *, max_shown: int) -> Iterator[Member]:
    """What a result is made of, each group before its members; of each group at most so many."""
    return _members(result, 1, max_shown)


def _members(result: AssertResult, level: int, max_shown: int) -> Iterator[Member]:
    if level > MAX_LEVELS:
        return
    for part in result.parts[:max_shown]:
        member = shown(part)
        yield Member(level, member)
        yield from _members(member, level + 1, max_shown)
    if len(result.parts) > max_shown:
        yield Member(level, None, len(result.parts) - max_shown)


def shown(part: Any) -> AssertResult:
    """A part of a verdict as a result, whether it comes from a run or from a store."""
    member = member_of(part)
    if member is not None:
        return member
    if isinstance(part, Outcome):
        return AssertResult(
            kind=COMPONENT,
            status=part.status,
            score=part.score,
            reason=part.reason,
            details=part.details,
            parts=part.parts,
        )
    if isinstance(part, dict) and part.get("status") in _STATUSES:
        score, reason, parts = part.get("score"), part.get("reason", ""), part.get("parts", ())
        return AssertResult(
            kind=COMPONENT,
            status=Status(part["status"]),
            score=score if isinstance(score, (int, float)) else None,
            reason=reason if isinstance(reason, str) else json_line(reason),
            details=part.get("details"),
            parts=tuple(parts) if isinstance(parts, (list, tuple)) else (),
        )
    return AssertResult(kind=COMPONENT, status=Status.SKIPPED, reason=json_line(part))


_STATUSES = frozenset(status.value for status in Status)
