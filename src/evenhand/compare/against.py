"""What a run is compared with at its end: found before the first call, judged after the last."""

from __future__ import annotations

import msgspec

from evenhand.analysis.gate import judge_gate
from evenhand.compare.changes import changes, compared, head_changes
from evenhand.compare.references import BRANCH, NONE, NothingYet, Reference, SuiteIdentity, resolve
from evenhand.errors import EvenhandError
from evenhand.model.result import Filters, Run
from evenhand.model.suite import Suite
from evenhand.store.store import RunStore

DEFAULT_ALPHA = 0.05


class Against(msgspec.Struct, frozen=True):
    """The baseline of a run. Without `reference` there is none yet, and `note` says so."""

    asked: str
    reference: Reference | None = None
    note: str | None = None


def find_baseline(
    asked: str | None, suite: Suite, store: RunStore, *, without: str | None = None
) -> Against | None:
    """The baseline that was asked for, else that of the suite; None where nobody wants one.

    Raises `UsageError` where one is asked for and cannot be had; none so far is no error.
    """
    if asked is None:
        if suite.baseline is None:
            return None
        asked = f"{BRANCH}{suite.baseline.branch}"
    if asked == NONE:
        return None
    try:
        return Against(asked, resolve(asked, store, suite=SuiteIdentity.of(suite), without=without))
    except NothingYet as error:
        return Against(asked, note=str(error))


def judged_against(run: Run, against: Against | None, suite: Suite, store: RunStore) -> Run:
    """The finished run with its comparison and the verdict of the suite's gate. Its results must be stored."""
    gate = suite.gate
    note = against.note if against else None
    comparison = None
    if against is not None and against.reference is not None:
        head = Reference(run.run_id, (run,), store)
        try:
            # What a part of a suite leaves out was not removed from it.
            is_whole = msgspec.structs.replace(run.filters, repeat=None) == Filters()
            find = changes if is_whole else head_changes
            alpha = gate.alpha if gate else DEFAULT_ALPHA
            comparison = compared(against.reference, head, find(against.reference, head), alpha=alpha)
        except EvenhandError as error:
            note = f"the baseline {against.asked} went away while the suite ran: {error}"
    return msgspec.structs.replace(
        run,
        baseline=against.asked if against else None,
        baseline_note=note,
        comparison=comparison,
        gate=judge_gate(gate, run.summary, comparison) if gate else None,
    )


def baseline_is_missing(run: Run, against: Against | None) -> bool:
    """Whether a baseline that was there could not be compared with."""
    return against is not None and against.reference is not None and run.comparison is None
