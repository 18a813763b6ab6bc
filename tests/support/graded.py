"""Stand-ins for graded kinds: what the engine does with graders, before any grader."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from evenhand.errors import ClassifiedError, ErrorClass, GraderError
from evenhand.model.assertion import Assertion
from evenhand.model.evidence import Evidence
from evenhand.model.exchange import Request, Response
from evenhand.model.grading import GradedAssertion, Grader, Graders
from evenhand.model.outcome import Outcome, errored, failed, meets, passed
from evenhand.model.provider import Provider
from support.assertions import built

NAMES = ("llm-rubric", "similar", "exec")


class Graded(Assertion, frozen=True, kw_only=True, tag="stand-in"):
    """A graded assertion whose grade the test decides."""

    position: int
    threshold: float | None = None
    tier: ClassVar[Literal["local", "graded"]] = "graded"


class Grades:
    """Grades by the position of the assertion in its case, and the positions that were asked for."""

    def __init__(self, grades: Mapping[str, Mapping[str, Any]]) -> None:
        self.grades = grades
        self.asked: list[int] = []

    async def __call__(self, assertion: Assertion, evidence: Evidence) -> Outcome:
        assert isinstance(assertion, Graded)
        self.asked.append(assertion.position)
        grade = self.grades[str(assertion.position)]
        if "error_class" in grade:
            raise GraderError("the grader broke", ErrorClass(grade["error_class"]))
        if not 0 <= grade["score"] <= 1:
            raise GraderError("a score outside [0, 1]", ErrorClass.CHECKER_FAILED)
        threshold = assertion.threshold
        held = grade["pass"] if threshold is None else meets(grade["score"], threshold)
        make = passed if held else failed
        return assertion.settle(make("graded", score=grade["score"]), evidence)


class FakeDesk:
    """A desk whose models answer from `replies` in turn: outputs, responses, or errors to raise."""

    def __init__(
        self, replies: Sequence[Any] = (), *, graders: Graders = Graders(), directory: Path = Path()
    ) -> None:
        self.replies = list(replies)
        self.graders = graders
        self.directory = directory
        self.requests: list[Request] = []

    async def recall(
        self,
        asked: Any,
        make: Callable[[], Awaitable[Response]],
        *,
        name: str,
        salt: str | None = None,
        usable: Callable[[Response], object] | None = None,
    ) -> Response:
        return await make()

    async def ask(
        self,
        provider: Provider,
        request: Request,
        *,
        timeout_ms: float | None = None,
        usable: Callable[[Response], object] | None = None,
        seat: int = 0,
    ) -> Response:
        self.requests.append(request)
        reply = self.replies[len(self.requests) - 1]
        if isinstance(reply, Exception):
            raise reply
        return reply if isinstance(reply, Response) else Response(output=reply)


class Answering(Provider, frozen=True, tag="answering"):
    """A provider that exists only to be named."""


ALL_GRADERS = Graders(judges=(Grader(provider=Answering(id="judge")),), embeddings=Answering(id="vectors"))


def graded(
    options: Mapping[str, Any], seen: Evidence, replies: Sequence[Any] = (), *, graders: Graders = ALL_GRADERS
) -> tuple[Outcome, FakeDesk]:
    """The settled outcome of one graded assertion whose graders answer so, and the desk that it used."""
    assertion = built(options)
    assert isinstance(assertion, GradedAssertion)
    desk = FakeDesk(replies, graders=graders)
    try:
        outcome = asyncio.run(assertion.grade(seen, desk))
    except ClassifiedError as error:
        return errored(error.message, error.error_class, details=error.details), desk
    return assertion.settle(outcome, seen), desk
