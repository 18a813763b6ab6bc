"""Two results of one cell side by side, and a fold over all of them."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

import msgspec

from evenhand.analysis.paired import clustered_mcnemar, holm, mean_difference, minimum_detectable_change
from evenhand.analysis.verdict import Delta, delta
from evenhand.model.comparison import Comparison, MetricChange
from evenhand.model.result import CaseStatus, CellKey

JUDGED = (CaseStatus.PASS, CaseStatus.FAIL, CaseStatus.XPASS, CaseStatus.XFAIL)
PASSING = (CaseStatus.PASS, CaseStatus.XPASS)

SCORE = "score"
"""The case score among the metrics."""

MAX_METRICS = 50
"""Metrics that a comparison follows; programs under test may invent names."""

_NOTHING = msgspec.Raw(b"null")


class Side(msgspec.Struct, frozen=True, gc=False):
    """What a comparison reads of a stored result; what is only compared stays as it is written."""

    cell: CellKey
    case_key: str
    status: CaseStatus
    name: str = ""
    score: float | None = None
    output: msgspec.Raw = _NOTHING
    tool_calls: msgspec.Raw = _NOTHING
    vars: msgspec.Raw = _NOTHING
    model: str | None = None
    unchecked: bool = False
    error_class: str | None = None
    named_scores: dict[str, float] = {}
    prompt_digest: str | None = None
    provider_digest: str | None = None
    assert_digest: str | None = None
    answered_by_provider_id: str | None = None

    @property
    def judged(self) -> bool:
        """Whether the output was looked at and found right or wrong."""
        return self.status in JUDGED and not self.unchecked


class CaseDiff(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """How one cell changed. `causes` names what differs that could explain it, the likeliest first."""

    cell: CellKey
    case_key: str
    name: str
    delta: Delta
    base_status: CaseStatus | None = None
    head_status: CaseStatus | None = None
    base_score: float | None = None
    head_score: float | None = None
    output_changed: bool = False
    causes: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether the verdict, the output or the presence of the cell changed."""
        return self.output_changed or self.delta not in (Delta.UNCHANGED, Delta.STILL_FAILING)


def compare(base: Side | None, head: Side | None, *, grader_changed: bool = False) -> CaseDiff:
    """The change of one cell from `base` to `head`; None where a run does not have it.

    `grader_changed` says whether the suites of both runs name different graders.
    """
    one = head or base
    if one is None:
        raise ValueError("a case that neither run has cannot have changed")
    change = delta(base.status if base else None, head.status if head else None)
    output_changed = False
    causes: tuple[str, ...] = ()
    if base is not None and head is not None:
        output_changed = base.output != head.output or base.tool_calls != head.tool_calls
        if output_changed or base.status is not head.status:
            causes = tuple(_causes(base, head, grader_changed, output_changed))
    return CaseDiff(
        cell=one.cell,
        case_key=one.case_key,
        name=one.name,
        delta=change,
        base_status=base.status if base else None,
        head_status=head.status if head else None,
        base_score=base.score if base else None,
        head_score=head.score if head else None,
        output_changed=output_changed,
        causes=causes,
    )


def _causes(base: Side, head: Side, grader_changed: bool, output_changed: bool) -> Iterator[str]:
    found = False
    for name, differs in (
        ("prompt", base.prompt_digest != head.prompt_digest),
        ("vars", base.vars != head.vars),
        ("provider", base.provider_digest != head.provider_digest),
        ("assertions", base.assert_digest != head.assert_digest),
        ("grader", grader_changed),
        ("fallback", base.answered_by_provider_id != head.answered_by_provider_id),
        ("model", base.model != head.model),
        ("output", output_changed),
    ):
        if differs:
            found = True
            yield name
    if not found:
        yield "error" if CaseStatus.ERROR in (base.status, head.status) else "unstable check"


class CompareFold:
    """Counts over the changes of all cells, which arrive in the plan's order: repeats of a case stand together."""

    def __init__(self) -> None:
        self._deltas: Counter[str] = Counter()
        self._causes: Counter[str] = Counter()
        self._moves: Counter[int] = Counter()
        self._output_changed = 0
        self._pairs = self._worse = self._better = self._cases = 0
        self._base_right = self._head_right = 0
        self._group: tuple[Any, ...] | None = None
        self._group_move = 0
        self._group_scores: dict[str, list[float]] = {}
        self._differences: dict[str, array[float]] = defaultdict(lambda: array("d"))

    @property
    def newly_failing(self) -> int:
        """Regressions so far."""
        return self._deltas[Delta.NEWLY_FAILING]

    def add(self, change: CaseDiff, base: Side | None, head: Side | None) -> None:
        """Count one cell."""
        self._deltas[change.delta] += 1
        self._output_changed += change.output_changed
        self._causes.update(change.causes)
        if base is None or head is None or not (base.judged and head.judged):
            return
        cell = head.cell
        group = (cell.provider_id, cell.prompt_id, cell.test_id)
        if group != self._group:
            self._close_group()
            self._group = group
        self._add_pair(base, head)

    def _add_pair(self, base: Side, head: Side) -> None:
        before, after = base.status in PASSING, head.status in PASSING
        self._pairs += 1
        self._base_right += before
        self._head_right += after
        self._worse += before and not after
        self._better += after and not before
        self._group_move += after - before
        if base.score is not None and head.score is not None:
            self._group_scores.setdefault(SCORE, []).append(head.score - base.score)
        if base.named_scores and head.named_scores:
            for name, score in head.named_scores.items():
                if name in base.named_scores:
                    self._group_scores.setdefault(name, []).append(score - base.named_scores[name])

    def _close_group(self) -> None:
        if self._group is None:
            return
        self._cases += 1
        if self._group_move:
            self._moves[self._group_move] += 1
        for name, differences in self._group_scores.items():
            if name in self._differences or len(self._differences) < MAX_METRICS:
                self._differences[name].append(sum(differences) / len(differences))
        self._group, self._group_move, self._group_scores = None, 0, {}

    def comparison(
        self, *, base: str, base_runs: tuple[str, ...], head: str, alpha: float = 0.05
    ) -> Comparison:
        """Everything that was counted; nothing can be added afterwards."""
        self._close_group()
        deltas = self._deltas
        test = clustered_mcnemar(self._moves, alpha)
        metrics = [(name, mean_difference(values)) for name, values in sorted(self._differences.items())]
        adjusted = holm([test.p_value, *(found.p_value for _, found in metrics)])
        judged = self._pairs > 0
        moving = sum(self._moves.values())
        return Comparison(
            base=base,
            base_runs=base_runs,
            head=head,
            newly_failing=deltas[Delta.NEWLY_FAILING],
            newly_passing=deltas[Delta.NEWLY_PASSING],
            still_failing=deltas[Delta.STILL_FAILING],
            unchanged=deltas[Delta.UNCHANGED],
            added=deltas[Delta.ADDED],
            removed=deltas[Delta.REMOVED],
            output_changed=self._output_changed,
            pairs=self._pairs,
            cases=self._cases,
            worse=self._worse,
            better=self._better,
            base_pass_rate=self._base_right / self._pairs if judged else None,
            head_pass_rate=self._head_right / self._pairs if judged else None,
            p_value=test.p_value if judged else None,
            mid_p=test.mid_p if judged else None,
            p_adjusted=adjusted[0] if judged else None,
            minimum_detectable_change=(
                minimum_detectable_change(self._cases, moving / self._cases, alpha=alpha) if judged else None
            ),
            metrics=tuple(
                MetricChange(
                    name=name,
                    cases=len(self._differences[name]),
                    mean=found.mean,
                    low=found.low,
                    high=found.high,
                    p_value=found.p_value,
                    p_adjusted=p_adjusted,
                )
                for (name, found), p_adjusted in zip(metrics, adjusted[1:], strict=True)
            ),
            causes=dict(self._causes.most_common()),
        )
