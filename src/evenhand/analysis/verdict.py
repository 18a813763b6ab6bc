"""What counts and classes add up to: an exit code, one class for a case, the change between two runs."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import TypeVar

from evenhand.analysis.gate import gate_is_inconclusive
from evenhand.errors import ErrorClass, ExitCode, exit_code_of
from evenhand.model.comparison import GateResult, GateVerdict
from evenhand.model.result import CaseStatus, Summary

Class = TypeVar("Class", bound=str)

_PRECEDENCE: tuple[str, ...] = (
    ErrorClass.GRADER_MISSING,
    ErrorClass.GRADER_UNAVAILABLE,
    ErrorClass.GRADER_FAILED,
    ErrorClass.CHECKER_FAILED,
    ErrorClass.ASSERT_FAILED,
)


def exit_code(
    summary: Summary,
    *,
    allow_unchecked: bool = False,
    allow_empty: bool = False,
    baseline_missing: bool = False,
    newly_failing: int = 0,
    gate: GateResult | None = None,
) -> ExitCode:
    """The exit code of a run that reached its end; the first rule that applies decides.

    Machinery that broke anywhere is 3: the run is no evidence. What its author must mend is 2: a suite fault, a
    baseline that was asked for and not found, nothing to run, every case skipped, no case judged, every judged
    case answered by a fallback. A judged case that is wrong, an `xpass` or a regression is 1.
    With a gate that had something to look at, its verdict stands for the single cases that are wrong: 1 where it
    regressed, 2 where it has not enough evidence.
    """
    faults = [exit_code_of(error_class) for error_class in summary.error_counts]
    if ExitCode.HARNESS in faults or summary.errored > sum(summary.error_counts.values()):
        return ExitCode.HARNESS
    if faults or baseline_missing:
        return ExitCode.SUITE
    if not summary.total:
        return ExitCode.OK if allow_empty else ExitCode.SUITE
    if summary.skipped == summary.total:
        return ExitCode.SUITE
    if summary.fallback_cases and summary.fallback_cases == summary.judged:
        return ExitCode.SUITE
    if not summary.judged and not allow_unchecked:
        return ExitCode.SUITE
    if gate is not None and gate_is_inconclusive(gate):
        return ExitCode.SUITE
    got_worse = summary.failed or newly_failing if gate is None else gate.verdict is GateVerdict.REGRESSED
    if got_worse or summary.xpassed:
        return ExitCode.FAILED
    return ExitCode.OK


def collapse(error_classes: Iterable[Class]) -> Class:
    """The one class of a case whose assertions errored for several reasons.

    Classes of the machinery hide those of the suite, since they outrank them in the exit code; among equals graders
    come before checkers and checkers before other assertions, and else the first seen stays. A class that this
    version does not know belongs to the machinery.
    """
    seen = list(error_classes)
    if not seen:
        raise ValueError("no error class to collapse")
    harness = [error_class for error_class in seen if exit_code_of(error_class) is ExitCode.HARNESS]
    return min(harness or seen, key=_rank)


def _rank(error_class: str) -> int:
    return _PRECEDENCE.index(error_class) if error_class in _PRECEDENCE else len(_PRECEDENCE)


class Delta(enum.StrEnum):
    """How one case changed between two runs. `pass` and `xpass` are passing; everything else is not."""

    NEWLY_FAILING = "newly_failing"
    NEWLY_PASSING = "newly_passing"
    STILL_FAILING = "still_failing"
    UNCHANGED = "unchanged"
    ADDED = "added"
    REMOVED = "removed"


def delta(base: CaseStatus | None, head: CaseStatus | None) -> Delta:
    """How the case of two runs with the same key changed from `base` to `head`; None where a run has no such case."""
    if base is None and head is None:
        raise ValueError("a case that neither run has cannot have changed")
    if base is None:
        return Delta.ADDED
    if head is None:
        return Delta.REMOVED
    return _DELTAS[_passing(base), _passing(head)]


_DELTAS = {
    (True, True): Delta.UNCHANGED,
    (True, False): Delta.NEWLY_FAILING,
    (False, True): Delta.NEWLY_PASSING,
    (False, False): Delta.STILL_FAILING,
}


def _passing(status: CaseStatus) -> bool:
    return status is CaseStatus.PASS or status is CaseStatus.XPASS
