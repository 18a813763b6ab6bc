"""Groups: several assertions that count as one.

A verdict of a member is never made of an error: `any-of` passes if one member passed, `all-of` and `assert-set` fail
if one failed, and otherwise an errored member errors the group.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, ClassVar

from msgspec import Meta

from evenhand.analysis.scoring import case_score, graders_matter
from evenhand.errors import Problem
from evenhand.model.assertion import ASSERTIONS, MEMBERS, Assertion, Example, scores_freely
from evenhand.model.group import Group, Tally
from evenhand.model.outcome import Status, Weighed, meets
from evenhand.template import Engine

OSLO: dict[str, Any] = {"type": "icontains", "value": "oslo"}
BERGEN: dict[str, Any] = {"type": "icontains", "value": "bergen"}
SHORT: dict[str, Any] = {"type": "length", "max": 20}


class MeanGroup(Group, frozen=True, kw_only=True):
    """What groups have in common whose score is the weighted mean of their members'."""

    @property
    def wanted(self) -> str:
        return "every member must pass"

    def status_of(self, tally: Tally) -> Status:
        if tally.failed:
            return Status.FAIL
        return Status.ERROR if tally.errored else Status.PASS

    def score_of(self, members: Sequence[Weighed]) -> float | None:
        return case_score(members)

    def has_final_score(self, known: Sequence[Weighed], waiting: Sequence[Assertion]) -> bool:
        return not any(member.weight for member in waiting)


class BestGroup(Group, frozen=True, kw_only=True):
    """What groups have in common in which one member decides."""

    def has_final_score(self, known: Sequence[Weighed], waiting: Sequence[Assertion]) -> bool:
        best = _best(known)
        return best is not None and best >= 1 and not any(scores_freely(member) for member in waiting)

    def is_unenforced(self, members: Sequence[Weighed]) -> bool:
        return not any(member.outcome.passed and not member.outcome.unenforced for member in members) and any(
            member.outcome.unenforced for member in members
        )

    def warnings(self, engine: Engine) -> Iterator[Problem]:
        yield from _useless_weights(self)


@ASSERTIONS.register
class AllOf(MeanGroup, frozen=True, kw_only=True, tag="all-of"):
    """Every assertion of the group passes.

    The score is the weighted mean of its members' scores.
    """

    examples: ClassVar[tuple[Example, ...]] = (
        Example(options={"assert": [OSLO, SHORT]}, output="It is Oslo.", expect="pass"),
        Example(options={"assert": [OSLO, SHORT]}, output="It is Bergen.", expect="fail"),
    )


@ASSERTIONS.register
class AssertSet(MeanGroup, frozen=True, kw_only=True, tag="assert-set"):
    """Every assertion of the set passes or, with `threshold`, their weighted mean score reaches it.

    With a threshold the set is judged as a case is: members may fail as long as the score is reached, and a member
    that errors makes the set an error.
    """

    threshold: Annotated[
        float | None,
        Meta(description="Score from which the set passes, instead of every member having to pass."),
    ] = None
    config: Annotated[
        dict[str, Any] | None,
        Meta(description="Notes that stay with the set in results. Members do not see it: each has its own."),
    ] = None

    examples: ClassVar[tuple[Example, ...]] = (
        Example(options={"assert": [OSLO, SHORT], "threshold": 0.5}, output="It is Bergen.", expect="pass"),
        Example(options={"assert": [OSLO, SHORT], "threshold": 0.7}, output="It is Bergen.", expect="fail"),
        Example(
            options={"assert": [{**OSLO, "weight": 3}, SHORT], "threshold": 0.7},
            output="It is Oslo, the capital.",
            expect="pass",
        ),
    )

    @property
    def wanted(self) -> str:
        if self.threshold is None:
            return super().wanted
        return f"the score must reach {self.threshold:g}"

    @property
    def decides_by_score(self) -> bool:
        return self.threshold is not None

    def verdict_of(self, members: Sequence[Weighed], score: float | None) -> Status:
        if self.threshold is None:
            return super().verdict_of(members, score)
        if score is None or Tally.of(members).errored:
            return Status.ERROR
        return Status.PASS if meets(score, self.threshold) else Status.FAIL

    def is_decided(
        self, known: Sequence[Weighed], waiting: Sequence[Assertion], *, score_matters: bool
    ) -> bool:
        if self.threshold is None:
            return super().is_decided(known, waiting, score_matters=score_matters)
        if Tally.of(known).errored or self.has_final_score(known, waiting):
            return True
        weights = [member.weight for member in waiting]
        bounded = not any(scores_freely(member) for member in waiting)
        return not (score_matters or graders_matter(known, weights, self.threshold, bounded=bounded))

    def problems(self, engine: Engine) -> Iterator[Problem]:
        if self.threshold is None:
            return
        path = ("threshold",)
        free = scores_freely(self)
        if not math.isfinite(self.threshold) or not (free or 0 <= self.threshold <= 1):
            yield Problem(f"a threshold is between 0 and 1, found {self.threshold!r}", path)
        if not any(member.weight for member in self.members):
            message = "every member weighs 0, so that the threshold is always met"
            yield Problem(message, path, "give one a weight")

    def warnings(self, engine: Engine) -> Iterator[Problem]:
        if self.threshold == 0 and not scores_freely(self):
            message = "a threshold of 0 is always met"
            yield Problem(message, ("threshold",), "set the score that must be reached")


@ASSERTIONS.register
class AnyOf(BestGroup, frozen=True, kw_only=True, tag="any-of"):
    """At least one assertion of the group passes.

    The score is the best of its members' scores.
    """

    examples: ClassVar[tuple[Example, ...]] = (
        Example(options={"assert": [OSLO, BERGEN]}, output="It is Bergen.", expect="pass"),
        Example(options={"assert": [OSLO, BERGEN]}, output="It is Rome.", expect="fail"),
    )

    @property
    def wanted(self) -> str:
        return "one member must pass"

    def status_of(self, tally: Tally) -> Status:
        if tally.passed:
            return Status.PASS
        return Status.ERROR if tally.errored else Status.FAIL

    def score_of(self, members: Sequence[Weighed]) -> float | None:
        return _best(members)


@ASSERTIONS.register
class NoneOf(BestGroup, frozen=True, kw_only=True, tag="none-of"):
    """No assertion of the group passes.

    The opposite of `any-of`: the score is 1 less the best of its members' scores. It cannot pass on an empty answer,
    unless its members look only at cost, latency or tokens.
    """

    examples: ClassVar[tuple[Example, ...]] = (
        Example(options={"assert": [OSLO, BERGEN]}, output="It is Rome.", expect="pass"),
        Example(options={"assert": [OSLO, BERGEN]}, output="It is Oslo.", expect="fail"),
        Example(options={"assert": [OSLO, BERGEN]}, output="", expect="fail"),
    )

    @property
    def wanted(self) -> str:
        return "no member may pass"

    @property
    def turns_members(self) -> bool:
        return not self.negate

    def status_of(self, tally: Tally) -> Status:
        if tally.passed:
            return Status.FAIL
        return Status.ERROR if tally.errored else Status.PASS

    def verdict_of(self, members: Sequence[Weighed], score: float | None) -> Status:
        # A budget that nobody could enforce passes, turned round or not.
        return Status.PASS if self.is_unenforced(members) else super().verdict_of(members, score)

    def score_of(self, members: Sequence[Weighed]) -> float | None:
        best = _best(members)
        if best is None:
            return None
        return best if self.is_unenforced(members) else 1.0 - best

    @property
    def is_guarded(self) -> bool:
        return True


@ASSERTIONS.register
class AtLeastSome(Group, frozen=True, kw_only=True, tag="at-least"):
    """At least `n` assertions of the group pass.

    The score is the share of `n` that passed, at most 1.
    """

    n: Annotated[int, Meta(ge=1, description="How many members must pass.")]

    examples: ClassVar[tuple[Example, ...]] = (
        Example(options={"n": 2, "assert": [OSLO, BERGEN, SHORT]}, output="It is Oslo.", expect="pass"),
        Example(
            options={"n": 2, "assert": [OSLO, BERGEN, SHORT]}, output="Oslo, the capital city.", expect="fail"
        ),
    )

    @property
    def wanted(self) -> str:
        return f"at least {self.n} must pass"

    @property
    def keeps_scores(self) -> bool:
        return False

    def status_of(self, tally: Tally) -> Status:
        if tally.passed >= self.n:
            return Status.PASS
        return Status.ERROR if tally.passed + tally.errored >= self.n else Status.FAIL

    def score_of(self, members: Sequence[Weighed]) -> float | None:
        return min(1.0, Tally.of(members).passed / self.n)

    def has_final_score(self, known: Sequence[Weighed], waiting: Sequence[Assertion]) -> bool:
        return Tally.of(known).passed >= self.n

    def is_unenforced(self, members: Sequence[Weighed]) -> bool:
        enforced = sum(member.outcome.passed and not member.outcome.unenforced for member in members)
        return enforced < self.n <= Tally.of(members).passed

    def problems(self, engine: Engine) -> Iterator[Problem]:
        count = len(self.members)
        if self.n > count:
            members = "1 member" if count == 1 else f"{count} members"
            yield Problem(
                f"{self.n} of {members} can never pass", ("n",), f"ask for at most {count}, or add assertions"
            )

    def warnings(self, engine: Engine) -> Iterator[Problem]:
        yield from _useless_weights(self)


def _best(members: Sequence[Weighed]) -> float | None:
    return max((m.outcome.score for m in members if m.outcome.score is not None), default=None)


def _useless_weights(group: Group) -> Iterator[Problem]:
    for index, member in enumerate(group.members):
        if member.weight != 1:
            yield Problem(
                f"a weight changes nothing in `{group.kind}` but the shares of named scores",
                (MEMBERS, index, "weight"),
                "`all-of` and `assert-set` take the weighted mean",
            )
