"""Groups: assertions whose verdict is made of those of their members.

A group is three-valued, as its members are: it passes, fails, or nothing was learned. Everything here is arithmetic
over finished members; who asks them, and in which order, is the engine's matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import msgspec
from msgspec import Meta

from evenhand.model.assertion import MEMBERS, Assertion, vacuous
from evenhand.model.evidence import Evidence
from evenhand.model.outcome import Outcome, Status, Weighed


class Tally(NamedTuple):
    """How many members ended how; skipped ones are not counted."""

    passed: int = 0
    failed: int = 0
    errored: int = 0

    @classmethod
    def of(cls, members: Iterable[Weighed]) -> Tally:
        """The counts of finished members."""
        statuses = [member.outcome.status for member in members]
        return cls(statuses.count(Status.PASS), statuses.count(Status.FAIL), statuses.count(Status.ERROR))


class Group(Assertion, frozen=True, kw_only=True):
    """An assertion that is made of others."""

    members: Annotated[
        tuple[Any, ...],
        Meta(
            description="The assertions of the group, groups among them.",
            min_length=1,
            extra_json_schema={"items": {"$ref": "#/$defs/assertion"}},
        ),
    ] = msgspec.field(name=MEMBERS)
    """As written; a finished suite holds `Assertion` here."""

    tier: ClassVar[Literal["local", "graded", "members"]] = "members"

    @property
    def wanted(self) -> str:
        """What the group asks of its members, in words."""
        raise NotImplementedError

    @property
    def decides_by_score(self) -> bool:
        """Whether the members' scores, and not only their verdicts, decide that of the group."""
        return False

    @property
    def keeps_scores(self) -> bool:
        """Whether the members' scores are part of the group's."""
        return True

    def status_of(self, tally: Tally) -> Status:
        """The verdict, before `negate`, where the members' verdicts decide it."""
        raise NotImplementedError

    def verdict_of(self, members: Sequence[Weighed], score: float | None) -> Status:
        """The verdict, before `negate`, of finished members. `score` is that of `score_of`."""
        return self.status_of(Tally.of(members))

    def score_of(self, members: Sequence[Weighed]) -> float | None:
        """The score, before `negate`, over the members that have one; None where none has."""
        raise NotImplementedError

    def is_decided(
        self, known: Sequence[Weighed], waiting: Sequence[Assertion], *, score_matters: bool
    ) -> bool:
        """Whether the members that wait cannot change the verdict any more, nor the score where that matters."""
        tally, count = Tally.of(known), len(waiting)
        # The verdict is monotone in each member's, so these three bound it.
        first = self.status_of(tally._replace(passed=tally.passed + count))
        if first is not self.status_of(tally._replace(failed=tally.failed + count)):
            return False
        if first is not self.status_of(tally._replace(errored=tally.errored + count)):
            return False
        return not score_matters or first is Status.ERROR or self.has_final_score(known, waiting)

    def has_final_score(self, known: Sequence[Weighed], waiting: Sequence[Assertion]) -> bool:
        """Whether the members that wait cannot change the score any more."""
        raise NotImplementedError

    def is_unenforced(self, members: Sequence[Weighed]) -> bool:
        """Whether a group that passes does so only because a budget could not be enforced."""
        return all(
            member.outcome.unenforced
            for member in members
            if member.outcome.status in (Status.PASS, Status.FAIL)
        )

    @property
    def is_guarded(self) -> bool:
        """Whether the group says that something is not there, which nothing at all must not satisfy."""
        return self.negate

    def settle(self, outcome: Outcome, evidence: Evidence) -> Outcome:
        # As with a single budget: what nobody could enforce is not turned round either.
        if outcome.unenforced or outcome.status not in (Status.PASS, Status.FAIL):
            return outcome
        return self.guarded(self.negated(outcome, evidence) if self.negate else outcome, evidence)

    def guarded(self, outcome: Outcome, evidence: Evidence) -> Outcome:
        if not (self.is_guarded and outcome.passed and evidence.is_silent):
            return outcome
        if not any(member.reads_output for member in leaves(self)):
            return outcome
        return msgspec.structs.replace(outcome, status=Status.FAIL, score=0.0, reason=vacuous(evidence))


def leaves(group: Assertion) -> Iterator[Assertion]:
    """The assertions inside a group that are none themselves, at every depth."""
    for member in group.members:
        if member.members:
            yield from leaves(member)
        else:
            yield member
