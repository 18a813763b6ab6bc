"""Graded assertions: kinds that ask somebody else for the verdict, and what a suite configures for them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Protocol

import msgspec
from msgspec import Meta

from evenhand.errors import Problem
from evenhand.model.assertion import Assertion
from evenhand.model.evidence import Evidence
from evenhand.model.exchange import Json, Request, Response
from evenhand.model.outcome import Outcome
from evenhand.model.provider import Provider

GRADER_TIMEOUT_MS = 120_000.0
"""Time for one call of a grader or checker that sets no other."""


class Grader(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Who judges by rubrics, and what the judge is shown."""

    provider: Annotated[
        Any,
        Meta(
            description="The model that judges: a provider block, as under `providers`.",
            extra_json_schema={"$ref": "#/$defs/provider"},
        ),
    ]
    """As written; a finished suite holds a `Provider` here."""
    template: Annotated[
        str | None,
        Meta(
            description="The message to the judge, or `file://` with it: text with `{{rubric}}`, `{{output}}` and, "
            "where they are included, `{{prompt}}` and `{{tool_calls}}`."
        ),
    ] = None
    timeout_ms: Annotated[
        Annotated[float, Meta(gt=0)],
        Meta(description="Time for one call of the judge, and of `exec` checkers that set no other."),
    ] = GRADER_TIMEOUT_MS
    include_tool_calls: Annotated[
        bool, Meta(description="Show the judge the tools that the model called.")
    ] = False
    include_prompt: Annotated[bool, Meta(description="Show the judge the question.")] = False
    verdict_mode: Annotated[
        Literal["forced"], Meta(description="Verdicts are always structured, never read out of prose.")
    ] = "forced"


Vote = Literal["majority", "all", "mean"]
"""How several judges decide together."""

VOTE_DESCRIPTION = (
    "How several judges decide together: more than half of them pass the answer (`majority`, by default), each of "
    "them does (`all`), or the mean of their scores reaches the assertion's `threshold` (`mean`)."
)

EVEN_MAJORITY = Problem(
    "an even number of judges may be split, which is an error", hint="add a judge, or choose another `vote`"
)
"""What draws a warning where a majority may not come about."""


class Graders(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The graders that a suite configures for all its cases, by the role that they have."""

    judges: tuple[Grader, ...] = ()
    vote: Vote | None = None
    """How the judges decide together, where the suite says so."""
    embeddings: Provider | None = None

    @property
    def judge(self) -> Grader | None:
        """The first judge, None without any."""
        return self.judges[0] if self.judges else None


class Desk(Protocol):
    """What a graded assertion may use while it grades one answer."""

    @property
    def graders(self) -> Graders:
        """The graders of the suite."""
        ...

    @property
    def directory(self) -> Path:
        """The suite's folder, where programs run."""
        ...

    async def ask(
        self,
        provider: Provider,
        request: Request,
        *,
        timeout_ms: float | None = None,
        usable: Callable[[Response], object] | None = None,
        seat: int = 0,
    ) -> Response:
        """Put a question to a grader's model, with the waits and attempts of every call, or take the kept answer.

        Its cost counts as the assertion's. `seat` tells equal judges of one jury apart. An answer for which `usable`
        raises is neither kept nor used again. Raises `GraderError` with the class that a grader's failure has.
        """
        ...

    async def recall(
        self,
        asked: Json,
        make: Callable[[], Awaitable[Response]],
        *,
        name: str,
        salt: str | None = None,
        usable: Callable[[Response], object] | None = None,
    ) -> Response:
        """The kept answer to a question that is not put to a model, or else the one that `make` brings.

        `asked` is the canonical view of the question, `name` whom messages say it is put to. Raises `GraderError` where
        only kept answers may be used and there is none, and what `make` raises.
        """
        ...


class GradedAssertion(Assertion, frozen=True, kw_only=True):
    """A check whose verdict may cost money: it runs after the local ones and is skipped once they decided."""

    tier: ClassVar[Literal["local", "graded"]] = "graded"
    is_judges_verdict: ClassVar[bool] = False
    """Whether the verdict is that of the suite's judge, whose errors a calibration measures."""
    calls_each: ClassVar[int] = 1
    """Questions to each of the models that grading asks, re-asks left out."""

    def missing(self, graders: Graders) -> str | None:
        """Why the assertion cannot be graded with what the suite configures; None where it can."""
        return None

    def asks(self, graders: Graders) -> tuple[Provider, ...]:
        """The models that grading asks."""
        return ()

    async def grade(self, evidence: Evidence, desk: Desk) -> Outcome:
        """Judge the answer, before `negate`. Raises `ClassifiedError` where there is no trustworthy verdict."""
        raise NotImplementedError
