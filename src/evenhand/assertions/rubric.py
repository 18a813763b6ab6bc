"""Rubrics: a model judges the answer by a criterion in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar

from msgspec import Meta

from evenhand.assertions.judge_prompt import judge_messages
from evenhand.assertions.verdict import VERDICT_FORM, UnusableVerdict, Verdict, read_verdict
from evenhand.errors import ErrorClass, GraderError, Problem
from evenhand.model.assertion import ASSERTIONS, Example
from evenhand.model.evidence import Evidence
from evenhand.model.exchange import Request, TestInfo
from evenhand.model.grading import Desk, GradedAssertion, Grader, Graders
from evenhand.model.outcome import Outcome, failed, meets, passed
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
    (`grader_failed`). With `threshold` the score decides, without it `pass`.
    """

    value: Annotated[Val, Meta(description="The rubric: what a right answer is like. A template.")]
    grader: Annotated[
        Grader | None, Meta(description="The judge of this assertion, instead of the suite's, as a whole.")
    ] = None
    threshold: Annotated[float | None, Meta(description="Score from which the assertion passes.")] = None
    params: Annotated[
        Mapping[str, Any],
        Meta(description="Parameters of the judge's model, over those of its provider block."),
    ] = {}

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
        if self.threshold is not None and not 0 <= self.threshold <= 1:
            yield Problem(f"a threshold is between 0 and 1, found {self.threshold!r}", ("threshold",))

    def missing(self, graders: Graders) -> str | None:
        if self.grader is None and graders.judge is None:
            return f"{self.kind} assertion needs a grader; add `grader` to the suite or to the assertion"
        return None

    def asks(self, graders: Graders) -> tuple[Provider, ...]:
        judge = self.grader or graders.judge
        return () if judge is None else (judge.provider,)

    async def grade(self, evidence: Evidence, desk: Desk) -> Outcome:
        judge = self.grader or desk.graders.judge
        if judge is None:
            raise GraderError(self.missing(desk.graders) or "", ErrorClass.GRADER_MISSING)
        rubric = str(self.value.render(evidence.engine, evidence.scope))
        request = Request(
            transcript=judge_messages(judge, rubric, evidence),
            params=self.params,
            test=TestInfo(id="") if evidence.request is None else evidence.request.test,
            answer_form=VERDICT_FORM,
        )
        return self._outcome(await _verdict(judge, request, desk))

    def _outcome(self, verdict: Verdict) -> Outcome:
        held = verdict.passed if self.threshold is None else meets(verdict.score, self.threshold)
        make = passed if held else failed
        details = None if held == verdict.passed else {"pass": verdict.passed, "threshold": self.threshold}
        return make(verdict.reasoning, score=verdict.score, details=details)


async def _verdict(judge: Grader, request: Request, desk: Desk) -> Verdict:
    """The first usable verdict. Raises `GraderError` where the judge gives none in all its attempts."""
    unusable = ""
    for _ in range(1 + FURTHER_ASKS):
        try:
            response = await desk.ask(judge.provider, request, timeout_ms=judge.timeout_ms)
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
