"""Assertions that wait for scripts, graders or members, on their way to outcomes: a tree as deep as the groups are."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence

import msgspec

from evenhand.analysis.scoring import ScoreOverflow
from evenhand.analysis.verdict import collapse
from evenhand.errors import ErrorClass
from evenhand.model.assertion import Assertion
from evenhand.model.evidence import Evidence
from evenhand.model.group import Group, Tally
from evenhand.model.outcome import Outcome, Status, Weighed, errored, skipped
from evenhand.model.result import AssertResult

Grade = Callable[[Assertion, Evidence], Awaitable[Outcome]]
"""How a graded assertion is judged, `negate` applied: the seam behind which judges, embeddings and checkers live."""

GROUP_DECIDED = "skipped: the group is already decided"


class Branch:
    """One assertion, its outcome once there is one, and the branches of its members."""

    __slots__ = ("assertion", "is_turned", "members", "outcome")

    def __init__(
        self, assertion: Assertion, outcome: Outcome | None = None, *, is_turned: bool = False
    ) -> None:
        self.assertion = assertion
        self.outcome = outcome
        self.is_turned = is_turned
        """Whether the groups around it, taken together, want that it does not hold."""
        turned = is_turned is not assertion.turns_members
        self.members = [Branch(member, is_turned=turned) for member in assertion.members]

    @property
    def leaves(self) -> Iterator[Branch]:
        """The branches that are no groups."""
        if not self.members:
            yield self
        for member in self.members:
            yield from member.leaves

    def result(self, evidence: Evidence) -> AssertResult:
        """What the finished branch found."""
        return result_of(self.assertion, self.outcome or skipped(GROUP_DECIDED), evidence)

    @property
    def known(self) -> list[Weighed]:
        """The members that are finished, as they count."""
        return [
            Weighed(counted(m.outcome) if m.is_turned else m.outcome, m.assertion.weight)
            for m in self.members
            if m.outcome is not None
        ]

    @property
    def waiting(self) -> list[Branch]:
        """The members that are not finished yet."""
        return [member for member in self.members if member.outcome is None]

    def skip(self, reason: str, evidence: Evidence) -> None:
        """Finish without a verdict; what members already found is kept."""
        if self.outcome is not None:
            return
        for member in self.members:
            member.skip(reason, evidence)
        self.outcome = skipped(reason)
        if self.members:
            self.outcome = Outcome(
                status=Status.SKIPPED,
                reason=reason,
                parts=tuple(member.result(evidence) for member in self.members),
            )


def counted(outcome: Outcome) -> Outcome:
    """What a member's outcome counts as, where its opposite is wanted: a fail both ways is as bad as a pass."""
    if not outcome.both_ways:
        return outcome
    return msgspec.structs.replace(outcome, status=Status.PASS, score=1.0)


def close_finished(branch: Branch, evidence: Evidence) -> None:
    """Give groups an outcome whose members all have one."""
    group = branch.assertion
    if branch.outcome is None and isinstance(group, Group):
        for member in branch.members:
            close_finished(member, evidence)
        if not branch.waiting:
            branch.outcome = _concluded(branch, group, evidence)


def close_decided(branch: Branch, evidence: Evidence, *, score_matters: bool) -> None:
    """Give groups an outcome that members which still wait could not change; those are skipped."""
    group = branch.assertion
    if branch.outcome is not None or not isinstance(group, Group):
        return
    for member in branch.waiting:
        close_decided(member, evidence, score_matters=_matters_inside(group, score_matters))
    _close_if_decided(branch, group, evidence, score_matters)


async def ask(
    branch: Branch,
    evidence: Evidence,
    grade: Callable[[Assertion], Awaitable[Outcome]],
    *,
    score_matters: bool,
    short_circuit: bool,
) -> None:
    """Finish a branch by asking graders: the members of a group in turn, until they decide it."""
    group = branch.assertion
    if not isinstance(group, Group):
        branch.outcome = await grade(group)
        return
    inside = _matters_inside(group, score_matters)
    if not short_circuit:
        await asyncio.gather(
            *(
                ask(member, evidence, grade, score_matters=inside, short_circuit=False)
                for member in branch.waiting
            )
        )
        branch.outcome = _concluded(branch, group, evidence)
        return
    close_decided(branch, evidence, score_matters=score_matters)
    for member in branch.waiting:
        if branch.outcome is None:
            await ask(member, evidence, grade, score_matters=inside, short_circuit=True)
            _close_if_decided(branch, group, evidence, score_matters)


def result_of(assertion: Assertion, outcome: Outcome, evidence: Evidence) -> AssertResult:
    """An assertion and its outcome as they are stored and shown."""
    return AssertResult(
        kind=assertion.kind,
        status=outcome.status,
        score=outcome.score,
        weight=assertion.weight,
        reason=outcome.reason,
        details=outcome.details,
        criteria=assertion,
        metric=None if assertion.metric is None else assertion.metric_for(evidence),
        parts=outcome.parts,
        named_scores=outcome.named_scores,
        named_score_weights=outcome.named_score_weights,
        cached=outcome.cached,
        cost_usd=outcome.cost_usd,
        error_class=outcome.error_class,
        unenforced=outcome.unenforced,
    )


def _matters_inside(group: Group, score_matters: bool) -> bool:
    return group.decides_by_score or (score_matters and group.keeps_scores)


def _close_if_decided(branch: Branch, group: Group, evidence: Evidence, score_matters: bool) -> None:
    waiting = branch.waiting
    if not waiting or group.is_decided(
        branch.known, [member.assertion for member in waiting], score_matters=score_matters
    ):
        for member in waiting:
            member.skip(GROUP_DECIDED, evidence)
        branch.outcome = _concluded(branch, group, evidence)


def _concluded(branch: Branch, group: Group, evidence: Evidence) -> Outcome:
    """The outcome of a group, `negate` included, over its finished members."""
    judged = branch.known
    parts = tuple(member.result(evidence) for member in branch.members)
    cost_usd, is_cached = _bill(branch, parts)
    try:
        score = group.score_of(judged)
        status = group.verdict_of(judged, score)
    except ScoreOverflow as overflow:
        broken = errored(str(overflow), ErrorClass.ASSERT_FAILED, parts=parts)
        return msgspec.structs.replace(broken, cost_usd=cost_usd, cached=is_cached)
    return group.settle(
        Outcome(
            status=status,
            score=None if status is Status.ERROR else score,
            reason=_reason(group, judged, status),
            parts=parts,
            error_class=_error_class(judged) if status is Status.ERROR else None,
            cost_usd=cost_usd,
            cached=is_cached,
            unenforced=status is Status.PASS and group.is_unenforced(judged),
        ),
        evidence,
    )


def _reason(group: Group, members: Sequence[Weighed], status: Status) -> str:
    tally = Tally.of(members)
    counts = [(tally.passed, "passed"), (tally.failed, "failed"), (tally.errored, "errored")]
    counts.append((len(members) - sum(tally), "skipped"))
    reason = f"{group.wanted}: {', '.join(f'{count} {word}' for count, word in counts if count)}"
    both_ways = [m.outcome.reason for m in members if m.outcome.both_ways and m.outcome.passed]
    if both_ways:
        reason += f"; what fails both ways counts as passed here: {both_ways[0]}"
    if status is Status.ERROR:
        broken = next(m.outcome.reason for m in members if m.outcome.status is Status.ERROR)
        reason += f"; {broken}"
    return reason


def _error_class(members: Sequence[Weighed]) -> ErrorClass:
    classes = [m.outcome.error_class for m in members if m.outcome.status is Status.ERROR]
    return collapse([found for found in classes if found is not None] or [ErrorClass.INTERNAL])


def _bill(branch: Branch, members: Sequence[AssertResult]) -> tuple[float | None, bool]:
    """What the graders of a group cost, and whether every verdict of theirs came from the cache.

    Where all did, the cost is what they would have cost; else it is what was paid, without that of kept ones.
    """
    paid = [member.cost_usd for member in members if member.cost_usd is not None and not member.cached]
    is_cached = not paid and _is_cached(branch)
    costs = paid
    if is_cached:
        costs = [member.cost_usd for member in members if member.cost_usd is not None]
    return (sum(costs) if costs else None), is_cached


def _is_cached(branch: Branch) -> bool:
    """Whether graders were asked and every verdict of theirs came from the cache."""
    asked = [
        leaf.outcome.cached
        for leaf in branch.leaves
        if leaf.assertion.tier == "graded" and leaf.outcome is not None and leaf.outcome.score is not None
    ]
    return bool(asked) and all(asked)
