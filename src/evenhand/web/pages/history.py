"""One case over the runs of its suite."""

from __future__ import annotations

import hashlib

import msgspec

from evenhand.model.result import CaseResult, Run
from evenhand.report.changed_case import text_of
from evenhand.store.store import RunStore
from evenhand.text.word_diff import Piece, word_diff

MAX_RUNS = 30
"""Runs, back from the newest, in which a case is looked for."""


class PastResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a case came to in another run; `same_output` says whether its answer was this one."""

    run_id: str
    started_at: str
    branch: str | None
    status: str
    score: float | None
    same_output: bool
    is_this: bool


def history(store: RunStore, run: Run, case: CaseResult) -> tuple[PastResult, ...]:
    """The case in the newest runs of its suite, the one begun last first."""
    own = output_digest(case)
    found = []
    for other in store.runs(suite=run.suite_path, limit=MAX_RUNS):
        past = store.result(other.run_id, case.case_key)
        if past is not None:
            found.append(
                PastResult(
                    run_id=other.run_id,
                    started_at=other.started_at,
                    branch=other.git.branch if other.git else None,
                    status=past.status.value,
                    score=past.score,
                    same_output=output_digest(past) == own,
                    is_this=other.run_id == run.run_id,
                )
            )
    return tuple(found)


def output_digest(case: CaseResult) -> str:
    """16 hex digits that tell whether two answers are the same."""
    return hashlib.sha256(text_of(case).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def output_changes(before: CaseResult, after: CaseResult) -> tuple[Piece, ...]:
    """What the output lost and gained between two runs, word by word."""
    return tuple(word_diff(text_of(before), text_of(after)))
