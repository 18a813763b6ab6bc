"""What several judges decide together. Pure.

A judge that gave no verdict has no vote, and nobody votes for it: the others decide only where its verdict, whatever
it had been, could not have changed the decision.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from evenhand.analysis.verdict import collapse
from evenhand.errors import ErrorClass
from evenhand.model.grading import Vote
from evenhand.model.outcome import Outcome, Status, errored, failed, meets, passed
from evenhand.text.excerpt import clipped

REASON_LENGTH = 120


class Ballot(NamedTuple):
    """What one judge found, or that it found nothing: an outcome with a score, or an errored one."""

    judge: str
    outcome: Outcome


def counted(ballots: Sequence[Ballot], vote: Vote, threshold: float | None) -> Outcome:
    """The outcome of a vote, with that of each judge among its parts.

    `threshold` is the one that the mean must reach. A majority is more than half of all judges; where neither side
    has it, there is no verdict. The score is the mean of the scores that were given, of `all` the lowest one.
    """
    decision = _DECISIONS[vote](ballots, threshold)
    found = "; ".join(_in_words(ballot) for ballot in ballots)
    parts = tuple(_part(ballot) for ballot in ballots)
    if decision is None:
        classes = [b.outcome.error_class or ErrorClass.GRADER_FAILED for b in ballots if not _has_voted(b)]
        why = "judges without a verdict could have changed the vote" if classes else "the judges are split"
        error_class = collapse(classes) if classes else ErrorClass.GRADER_FAILED
        undecided = errored(f"no {vote} of {len(ballots)} judges, {why}: {found}", error_class)
        return msgspec.structs.replace(undecided, parts=parts)
    scores = _scores(ballots)
    score = min(scores) if vote == "all" else math.fsum(scores) / len(scores)
    reason = f"{_tally(ballots, vote, score, threshold)}: {found}"
    return msgspec.structs.replace((passed if decision else failed)(reason, score=score), parts=parts)


def _majority(ballots: Sequence[Ballot], _: float | None) -> bool | None:
    in_favour, against = _sides(ballots)
    if 2 * in_favour > len(ballots):
        return True
    return False if 2 * against > len(ballots) else None


def _all(ballots: Sequence[Ballot], _: float | None) -> bool | None:
    in_favour, against = _sides(ballots)
    if against:
        return False
    return True if in_favour == len(ballots) else None


def _mean(ballots: Sequence[Ballot], threshold: float | None) -> bool | None:
    if threshold is None:
        raise ValueError("a mean needs a threshold")
    scores = _scores(ballots)
    given, missing = math.fsum(scores), len(ballots) - len(scores)
    if scores and meets(given / len(ballots), threshold):
        return True
    return None if meets((given + missing) / len(ballots), threshold) else False


_DECISIONS = {"majority": _majority, "all": _all, "mean": _mean}


def _has_voted(ballot: Ballot) -> bool:
    return ballot.outcome.status is not Status.ERROR


def _sides(ballots: Sequence[Ballot]) -> tuple[int, int]:
    in_favour = sum(ballot.outcome.passed for ballot in ballots)
    return in_favour, sum(_has_voted(ballot) for ballot in ballots) - in_favour


def _scores(ballots: Sequence[Ballot]) -> list[float]:
    return [ballot.outcome.score for ballot in ballots if ballot.outcome.score is not None]


def _tally(ballots: Sequence[Ballot], vote: Vote, score: float, threshold: float | None) -> str:
    if vote == "mean":
        return f"mean {score:.2f} of {len(_scores(ballots))} judges, threshold {threshold:g}"
    return f"{_sides(ballots)[0]} of {len(ballots)} judges pass it ({vote})"


def _in_words(ballot: Ballot) -> str:
    outcome = ballot.outcome
    score = "" if outcome.score is None else f" {outcome.score:.2f}"
    return f"{ballot.judge!r} {outcome.status}{score} ({clipped(outcome.reason, length=REASON_LENGTH)})"


def _part(ballot: Ballot) -> Outcome:
    details = {"judge": ballot.judge}
    if ballot.outcome.details is not None:
        details["details"] = ballot.outcome.details
    return msgspec.structs.replace(ballot.outcome, details=details)
