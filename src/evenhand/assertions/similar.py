"""Similarity: the output means about the same as a reference."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar

from msgspec import Meta

from evenhand.errors import BrokenAssertion, ErrorClass, GraderError, Problem
from evenhand.model.assertion import ASSERTIONS, Example
from evenhand.model.evidence import Evidence
from evenhand.model.exchange import Request, TestInfo
from evenhand.model.grading import GRADER_TIMEOUT_MS, Desk, GradedAssertion, Graders
from evenhand.model.outcome import Outcome, failed, meets, passed
from evenhand.model.provider import Provider
from evenhand.template import Engine, Val
from evenhand.text.json_reader import compact_json


@ASSERTIONS.register
class Similar(GradedAssertion, frozen=True, kw_only=True, tag="similar"):
    """The output is close in meaning to a reference, by the cosine of their embeddings.

    The first provider of the suite whose type is `embeddings` turns both into vectors. The cosine decides; the score
    is the cosine moved from [-1, 1] to [0, 1]. A blank output fails without a call. Vectors that cannot be compared
    (of zero length, of different dimensions) are an error.
    """

    value: Annotated[
        Val, Meta(description="The reference. What is not text is compared as compact JSON. A template.")
    ]
    threshold: Annotated[float, Meta(description="Cosine from which the assertion passes.")] = 0.8

    calls_each: ClassVar[int] = 2
    examples: ClassVar[tuple[Example, ...]] = (
        Example(
            options={"value": "Paris is the capital."},
            output="The capital is Paris.",
            replies=([0.6, 0.8], [0.8, 0.6]),
            expect="pass",
        ),
        Example(
            options={"value": "Paris is the capital."},
            output="I like trains.",
            replies=([1.0, 0.0], [0.6, 0.8]),
            expect="fail",
        ),
        Example(
            options={"value": "Paris."}, output="Paris", replies=([0.0, 0.0], [0.6, 0.8]), expect="error"
        ),
    )

    def problems(self, engine: Engine) -> Iterator[Problem]:
        if not -1 <= self.threshold <= 1:
            yield Problem(f"a threshold is between -1 and 1, found {self.threshold!r}", ("threshold",))
        reference = self.value.authored
        if isinstance(reference, str) and not reference.strip():
            yield Problem("the reference is blank, which nothing is similar to", ("value",))

    def missing(self, graders: Graders) -> str | None:
        if graders.embeddings is None:
            return (
                f"{self.kind} assertion needs an embeddings provider in the suite; "
                "add one with `type: embeddings` to `providers`"
            )
        return None

    def asks(self, graders: Graders) -> tuple[Provider, ...]:
        return () if graders.embeddings is None else (graders.embeddings,)

    async def grade(self, evidence: Evidence, desk: Desk) -> Outcome:
        reference = self.value.render(evidence.engine, evidence.scope)
        if evidence.is_blank:
            return failed("the output is blank, which is similar to nothing")
        text = reference if isinstance(reference, str) else compact_json(reference)
        test = TestInfo(id="") if evidence.request is None else evidence.request.test
        asking = (_vector(evidence.text, test, desk), _vector(text, test, desk))
        # Both are awaited to their end, so that what a failing pair cost is counted.
        answers = await asyncio.gather(*asking, return_exceptions=True)
        vectors: list[list[float]] = []
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
            vectors.append(answer)
        return self.compared(vectors[0], vectors[1])

    def compared(self, output: list[float], reference: list[float]) -> Outcome:
        """The verdict on two vectors. Raises `BrokenAssertion` where they cannot be compared."""
        cosine = cosine_of(output, reference)
        held = meets(cosine, self.threshold)
        score = min(1.0, max(0.0, (cosine + 1) / 2))
        sign = "at least" if held else "below"
        return (passed if held else failed)(
            f"cosine {cosine:.4f} is {sign} {self.threshold:g}", score=score, details={"cosine": cosine}
        )


async def _vector(text: str, test: TestInfo, desk: Desk) -> list[float]:
    embeddings = desk.graders.embeddings
    if embeddings is None:
        raise GraderError("no embeddings provider", ErrorClass.GRADER_MISSING)
    response = await desk.ask(
        embeddings,
        Request(text=text, test=test),
        timeout_ms=GRADER_TIMEOUT_MS,
        usable=lambda answer: _as_vector(answer.output),
    )
    return _as_vector(response.output)


def _as_vector(value: Any) -> list[float]:
    if not isinstance(value, list) or not all(type(x) in (int, float) and math.isfinite(x) for x in value):
        raise BrokenAssertion("an embedding must be a list of finite numbers", ErrorClass.GRADER_FAILED)
    return [float(x) for x in value]


def cosine_of(left: list[float], right: list[float]) -> float:
    """The cosine of the angle between two vectors, in [-1, 1].

    Raises `BrokenAssertion` for vectors without length or of different dimensions, of which it is undefined.
    """
    if len(left) != len(right):
        message = f"embeddings of {len(left)} and {len(right)} dimensions cannot be compared"
        raise BrokenAssertion(message, ErrorClass.GRADER_FAILED)
    scales = [max(map(abs, vector), default=0.0) for vector in (left, right)]
    if not all(scales):
        raise BrokenAssertion("an embedding without length cannot be compared", ErrorClass.GRADER_FAILED)
    # Scaled first, so that squares neither overflow nor vanish.
    a, b = ([x / scale for x in vector] for vector, scale in zip((left, right), scales, strict=True))
    product = math.fsum(x * y for x, y in zip(a, b, strict=True))
    return max(-1.0, min(1.0, product / (math.hypot(*a) * math.hypot(*b))))
