"""The two passes over a case's assertions: local ones first, then the graded ones that can still matter."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from evenhand.analysis.scoring import graders_matter
from evenhand.errors import ClassifiedError, ErrorClass
from evenhand.io.reply import in_words
from evenhand.io.user_code import raised
from evenhand.model.assertion import Assertion, scores_freely
from evenhand.model.evidence import Evidence
from evenhand.model.outcome import Outcome, Status, Weighed, errored
from evenhand.run.groups import Branch, Grade, ask, close_decided, close_finished
from evenhand.run.transform import RunScripts, views

JudgeScripts = Callable[[Sequence[Assertion], Evidence], Awaitable[Sequence[Outcome]]]
"""How the script assertions of a case are judged together, `negate` applied."""

DECIDED = "skipped: outcome already decided"


async def evaluate_case(
    assertions: Sequence[Assertion],
    evidence: Evidence,
    *,
    threshold: float | None,
    short_circuit: bool,
    judge_scripts: JudgeScripts,
    run_transforms: RunScripts,
    grade: Grade,
) -> list[Weighed]:
    """Judge the answer by every assertion; the outcomes keep the order of the assertions.

    Scripts are asked in one batch once the other local assertions are judged, and before graded ones. Members of
    groups take part in the same passes; a group with a graded member is graded.
    """
    outcomes: list[Outcome | None] = [
        judge(a, evidence) if a.tier == "local" and not a.is_script and a.transform is None else None
        for a in assertions
    ]
    if None in outcomes:
        branches = [Branch(a, o) for a, o in zip(assertions, outcomes, strict=True)]
        await _judge_waiting(branches, evidence, judge_scripts, run_transforms)
        if any(branch.outcome is None for branch in branches):
            await _Grading(evidence, grade, run_transforms, threshold, short_circuit).finish(branches)
        outcomes = [branch.outcome for branch in branches]
    return [Weighed(o, a.weight) for o, a in zip(outcomes, assertions, strict=True) if o is not None]


async def _judge_waiting(
    branches: Sequence[Branch], evidence: Evidence, judge_scripts: JudgeScripts, run_transforms: RunScripts
) -> None:
    """Judge what is local and waits: members of groups, what has a transform, then all scripts at once."""
    waiting = [
        leaf
        for branch in branches
        if branch.outcome is None
        for leaf in branch.leaves
        if leaf.assertion.tier == "local"
    ]
    scripts: dict[int, tuple[Evidence, list[Branch]]] = {}
    seen = await views([leaf.assertion for leaf in waiting], evidence, run_transforms)
    for leaf, view in zip(waiting, seen, strict=True):
        if isinstance(view, Outcome):
            leaf.outcome = view
        elif leaf.assertion.is_script:
            scripts.setdefault(id(view), (view, []))[1].append(leaf)
        else:
            leaf.outcome = _over(view, leaf.assertion, judge(leaf.assertion, view))
    batches = list(scripts.values())
    judged = await asyncio.gather(
        *(judge_scripts([leaf.assertion for leaf in batch], view) for view, batch in batches)
    )
    for (view, batch), outcomes in zip(batches, judged, strict=True):
        for leaf, outcome in zip(batch, outcomes, strict=True):
            leaf.outcome = _over(view, leaf.assertion, outcome)
    for branch in branches:
        close_finished(branch, evidence)


class _Grading:
    """The second pass over the assertions of one case: what only graders can finish."""

    def __init__(
        self,
        evidence: Evidence,
        grade: Grade,
        run_transforms: RunScripts,
        threshold: float | None,
        short_circuit: bool,
    ) -> None:
        self._evidence = evidence
        self._grade = grade
        self._run_transforms = run_transforms
        self._threshold = threshold
        self._short_circuit = short_circuit

    async def finish(self, branches: Sequence[Branch]) -> None:
        """Give every branch an outcome."""
        matters = self._threshold is not None
        if self._short_circuit:
            self._skip_if_decided(branches)
            waiting = [branch for branch in branches if branch.outcome is None]
            for branch in waiting:
                close_decided(branch, self._evidence, score_matters=matters)
            if any(branch.outcome is not None for branch in waiting):
                self._skip_if_decided(branches)
        await asyncio.gather(
            *(
                ask(
                    branch,
                    self._evidence,
                    self._graded,
                    score_matters=matters,
                    short_circuit=self._short_circuit,
                )
                for branch in branches
                if branch.outcome is None
            )
        )

    def _skip_if_decided(self, branches: Sequence[Branch]) -> None:
        local = [Weighed(b.outcome, b.assertion.weight) for b in branches if b.outcome is not None]
        waiting = [branch for branch in branches if branch.outcome is None]
        weights = [branch.assertion.weight for branch in waiting]
        bounded = not any(branch.members and scores_freely(branch.assertion) for branch in waiting)
        if not graders_matter(local, weights, self._threshold, bounded=bounded):
            for branch in waiting:
                branch.skip(DECIDED, self._evidence)

    async def _graded(self, assertion: Assertion) -> Outcome:
        try:
            (view,) = await views([assertion], self._evidence, self._run_transforms)
            if isinstance(view, Outcome):
                return view
            return _over(view, assertion, await self._grade(assertion, view))
        except ClassifiedError as error:
            return errored(error.message, error.error_class, details=error.details)
        except Exception as error:  # noqa: BLE001  (as in `judge`)
            return errored(raised(error), ErrorClass.INTERNAL)


def _over(view: Evidence, assertion: Assertion, outcome: Outcome) -> Outcome:
    """The outcome of an assertion over what its transform left of the answer.

    Groups look at the answer itself before they take a fail for a good sign. Where a transform left nothing to judge,
    only this place knows.
    """
    if outcome.status is not Status.FAIL or assertion.transform is None:
        return outcome
    if not (assertion.reads_output and view.is_silent):
        return outcome
    return msgspec.structs.replace(outcome, both_ways=True)


def judge(assertion: Assertion, evidence: Evidence) -> Outcome:
    """The outcome of one local assertion. Whatever breaks in it becomes an error, never a verdict."""
    try:
        outcome = assertion.judge(evidence)
        return outcome if isinstance(outcome, Outcome) else _no_outcome(assertion, outcome)
    except ClassifiedError as error:
        return errored(error.message, error.error_class, details=error.details)
    except Exception as error:  # noqa: BLE001  (a broken kind must not take the cell's other verdicts with it)
        return errored(raised(error), ErrorClass.INTERNAL)


def _no_outcome(assertion: Assertion, found: object) -> Outcome:
    return errored(
        f"`{type(assertion).__name__}.evaluate` must return an `Outcome`, found {in_words(found)}; "
        "`verdict(held, reason)` makes one",
        ErrorClass.INTERNAL,
    )
