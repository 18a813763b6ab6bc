"""Rubrics: a model judges the answer by a criterion in words."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar

from msgspec import Meta, structs

from evenhand.assertions.judge_prompt import judge_messages
from evenhand.assertions.verdict import VERDICT_FORM, UnusableVerdict, Verdict, read_verdict
from evenhand.assertions.vote import Ballot, counted
from evenhand.errors import ClassifiedError, ErrorClass, GraderError, Problem
from evenhand.model.assertion import ASSERTIONS, Example
from evenhand.model.evidence import Evidence
from evenhand.model.exchange import Request, TestInfo
from evenhand.model.grading import (
    EVEN_MAJORITY,
    VOTE_DESCRIPTION,
    Desk,
    GradedAssertion,
    Grader,
    Graders,
    Vote,
)
from evenhand.model.outcome import Outcome, errored, failed, meets, passed
from evenhand.model.provider import Provider
from evenhand.template import Engine, Val

FURTHER_ASKS = 2
"""How often a judge is asked again after an unusable verdict."""

REPLY = {"reasoning": "It is friendly and short.", "pass": True, "score": 0.9}
POOR = {"reasoning": "It is curt.", "pass": False, "score": 0.2}


@ASSERTIONS.register
class LlmRubric(GradedAssertion, frozen=True, kw_only=True, tag="llm-rubric"):
    """A model that judges finds that the output satisfies the rubric.

    The judge is the assertion's own `grader`, else the suite's. It answers with a structured verdict (`pass`, a
    `score` from 0 to 1, its reasoning), which is never read out of prose. A verdict that is missing, truncated, out
    of range or contradicts itself is asked for again, at most twice, and then errors the assertion
    (`grader_failed`). With `threshold` the score decides, without it `pass`. Several judges, as a list, are asked at
    once and vote; one without a verdict errors the assertion unless the vote is decided whatever it had said.
    """

    value: Annotated[Val, Meta(description="The rubric: what a right answer is like. A template.")]
    grader: Annotated[
        Grader | Annotated[tuple[Grader, ...], Meta(min_length=1)] | None,
        Meta(
            description="The judge of this assertion, or a list of them, instead of the suite's, as a whole."
        ),
    ] = None
    vote: Annotated[Vote | None, Meta(description=VOTE_DESCRIPTION)] = None
    threshold: Annotated[float | None, Meta(description="Score from which the assertion passes.")] = None
    params: Annotated[
        Mapping[str, Any],
        Meta(description="Parameters of the judge's model, over those of its provider block."),
    ] = {}

    is_judges_verdict: ClassVar[bool] = True
    examples: ClassVar[tuple[Example, ...]] = (
        Example(
            options={"value": "Is friendly."},
            output="Hello, good to see you!",
            replies=(REPLY,),
            expect="pass",
        ),
        Example(options={"value": "Is friendly."}, output="What now.", replies=(POOR,), expect="fail"),
        Example(
            options={"value": "Is friendly.", "threshold": 0.95},
            output="Hello, good to see you!",
            replies=(REPLY,),
            expect="fail",
        ),
        Example(
            options={"value": "Is friendly."},
            output="Hello!",
            replies=("Yes, I would say so.",) * (1 + FURTHER_ASKS),
            expect="error",
        ),
    )

    @property
    def criterion(self) -> str | None:
        return self.value.text

    def problems(self, engine: Engine) -> Iterator[Problem]:
        rubric = self.criterion
        if rubric is None:
            yield Problem("a rubric is text, found another value", ("value",), "say in words what is right")
        elif not rubric.strip():
            yield Problem("the rubric is empty", ("value",), "say in words what a right answer is like")
        several = isinstance(self.grader, tuple) and len(self.grader) > 1
        if self.vote is not None and self.grader is not None and not several:
            yield Problem("one judge cannot vote", ("vote",), "list further ones in `grader`, or remove it")
        if self.threshold is not None and not 0 <= self.threshold <= 1:
            yield Problem(f"a threshold is between 0 and 1, found {self.threshold!r}", ("threshold",))

    def warnings(self, engine: Engine) -> Iterator[Problem]:
        if isinstance(self.grader, tuple) and len(self.grader) % 2 == 0 and self.vote in (None, "majority"):
            yield EVEN_MAJORITY.under("grader")

    def missing(self, graders: Graders) -> str | None:
        judges = self._judges(graders)
        if not judges:
            return f"{self.kind} assertion needs a grader; add `grader` to the suite or to the assertion"
        if len(judges) > 1 and self._vote(graders) == "mean" and self.threshold is None:
            return f"{self.kind} assertion needs a `threshold`, which the mean of its judges is to reach"
        unfit = (judge.provider.unfit_to_judge(self.params) for judge in judges)
        return next((reason for reason in unfit if reason is not None), None)

    def asks(self, graders: Graders) -> tuple[Provider, ...]:
        return tuple(judge.provider for judge in self._judges(graders))

    def _judges(self, graders: Graders) -> tuple[Grader, ...]:
        if self.grader is None:
            return graders.judges
        return (self.grader,) if isinstance(self.grader, Grader) else self.grader

    def _vote(self, graders: Graders) -> Vote:
        return self.vote or graders.vote or "majority"

    async def grade(self, evidence: Evidence, desk: Desk) -> Outcome:
        missing = self.missing(desk.graders)
        if missing is not None:
            raise GraderError(missing, ErrorClass.GRADER_MISSING)
        rubric = str(self.value.render(evidence.engine, evidence.scope))
        judges = self._judges(desk.graders)
        if len(judges) == 1:
            return await self._judged(judges[0], rubric, evidence, desk)
        # Each is awaited to its end, so that what a failing one cost is counted.
        asking = (
            self._ballot(judge, rubric, evidence, desk, seat)
            for judge, seat in zip(judges, _seats(judges), strict=True)
        )
        outcomes = await asyncio.gather(*asking)
        ballots = [Ballot(judge.provider.name, found) for judge, found in zip(judges, outcomes, strict=True)]
        return counted(ballots, self._vote(desk.graders), self.threshold)

    async def _ballot(self, judge: Grader, rubric: str, evidence: Evidence, desk: Desk, seat: int) -> Outcome:
        try:
            return await self._judged(judge, rubric, evidence, desk, seat)
        except ClassifiedError as error:
            return errored(error.message, error.error_class, details=error.details)

    async def _judged(
        self, judge: Grader, rubric: str, evidence: Evidence, desk: Desk, seat: int = 0
    ) -> Outcome:
        request = Request(
            transcript=judge_messages(judge, rubric, evidence),
            params=self.params,
            test=TestInfo(id="") if evidence.request is None else evidence.request.test,
            answer_form=VERDICT_FORM,
        )
        return self._outcome(await _verdict(judge, request, desk, seat))

    def _outcome(self, verdict: Verdict) -> Outcome:
        held = verdict.passed if self.threshold is None else meets(verdict.score, self.threshold)
        make = passed if held else failed
        details = None if held == verdict.passed else {"pass": verdict.passed, "threshold": self.threshold}
        return make(verdict.reasoning, score=verdict.score, details=details)


def _seats(judges: Sequence[Grader]) -> list[int]:
    """For each judge, how many before it are the same one: each of them gives a verdict of its own."""
    nameless = [structs.replace(judge.provider, id="", label=None) for judge in judges]
    return [nameless[:place].count(provider) for place, provider in enumerate(nameless)]


async def _verdict(judge: Grader, request: Request, desk: Desk, seat: int) -> Verdict:
    """The first usable verdict. Raises `GraderError` where the judge gives none in all its attempts."""
    unusable = ""
    for _ in range(1 + FURTHER_ASKS):
        try:
            response = await desk.ask(
                judge.provider, request, timeout_ms=judge.timeout_ms, usable=read_verdict, seat=seat
            )
            return read_verdict(response)
        except UnusableVerdict as error:
            unusable = str(error)
        except GraderError as error:
            if error.error_class is not ErrorClass.GRADER_FAILED:
                raise
            unusable = error.message
    raise GraderError(
        f"no usable verdict from judge {judge.provider.name!r} in {1 + FURTHER_ASKS} attempts: {unusable}",
        ErrorClass.GRADER_FAILED,
    )
