"""Grades one answer by one graded assertion, over the same path that every call takes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec

from evenhand.cache.question import question_of
from evenhand.errors import ClassifiedError, ErrorClass, GraderError, ProviderError
from evenhand.model.assertion import Assertion
from evenhand.model.evidence import Evidence
from evenhand.model.exchange import Json, Request, Response
from evenhand.model.grading import GradedAssertion, Graders
from evenhand.model.outcome import Outcome, errored
from evenhand.model.provider import Provider
from evenhand.run.cached_call import answer, not_kept, remembered
from evenhand.run.call import CallFailed
from evenhand.run.services import Services

AS_GRADER = {
    ErrorClass.PROVIDER_AUTH: ErrorClass.PROVIDER_AUTH,
    ErrorClass.PROVIDER_REQUEST: ErrorClass.GRADER_MISSING,
    ErrorClass.PROVIDER_PROTOCOL: ErrorClass.GRADER_FAILED,
    ErrorClass.CACHE_MISS: ErrorClass.CACHE_MISS,
    ErrorClass.CACHE_UNAVAILABLE: ErrorClass.CACHE_UNAVAILABLE,
    ErrorClass.RENDER_FAILED: ErrorClass.RENDER_FAILED,
}
"""The class that a failed call has when a grader made it; `grader_unavailable` for every other.

A refused request is the suite's to mend (a wrong model name, a wrong parameter), as is a grader that is not there.
"""


async def grade_with(services: Services, assertion: Assertion, evidence: Evidence) -> Outcome:
    """The outcome of a graded assertion, `negate` applied, with what it cost even where it failed."""
    if not isinstance(assertion, GradedAssertion):
        raise GraderError(f"nothing knows how to grade {assertion.kind!r}", ErrorClass.GRADER_MISSING)
    missing = assertion.missing(services.suite.graders)  # of cases that only the run brings up
    if missing is not None:
        raise GraderError(missing, ErrorClass.GRADER_MISSING)
    desk = ServiceDesk(services, evidence)
    try:
        outcome = assertion.settle(await assertion.grade(evidence, desk), evidence)
    except ClassifiedError as error:
        outcome = errored(error.message, error.error_class, details=error.details)
    if desk.cost_usd is None and not desk.is_cached:
        return outcome
    return msgspec.structs.replace(outcome, cost_usd=desk.cost_usd, cached=desk.is_cached)


class ServiceDesk:
    """The desk of one grading: asks through the run's services and adds up what that costs."""

    def __init__(self, services: Services, evidence: Evidence) -> None:
        self._services = services
        self._repeat = 0 if evidence.request is None else evidence.request.repeat
        self._test = "" if evidence.request is None else evidence.request.test.id
        self._case_salt = None if evidence.case is None else evidence.case.cache_salt
        self._spent: float | None = None
        self._saved: float | None = None
        self._asked = 0
        self._kept = 0

    @property
    def graders(self) -> Graders:
        """The graders of the suite."""
        return self._services.suite.graders

    @property
    def directory(self) -> Path:
        """The suite's folder."""
        return self._services.suite.directory

    @property
    def is_cached(self) -> bool:
        """Whether every answer was a kept one."""
        return 0 < self._kept == self._asked

    @property
    def cost_usd(self) -> float | None:
        """What the calls cost; where there were none, what the kept answers would have."""
        return self._saved if self.is_cached else self._spent

    async def ask(
        self,
        provider: Provider,
        request: Request,
        *,
        timeout_ms: float | None = None,
        usable: Callable[[Response], object] | None = None,
        seat: int = 0,
    ) -> Response:
        """The response of a grader's model. Raises `GraderError`."""
        services = self._services
        line = services.grader_line(provider)
        try:
            response = await answer(
                line,
                request,
                services,
                timeout_ms=timeout_ms,
                fresh=not services.suite.cache.grader,
                repeat=self._repeat,
                case_salt=self._case_salt,
                usable=usable or _anything,
                seat=seat,
            )
        except CallFailed as failure:
            raise _as_grader(provider.name, failure.error) from None
        self._count(response)
        return response

    async def recall(
        self,
        asked: Json,
        make: Callable[[], Awaitable[Response]],
        *,
        name: str,
        salt: str | None = None,
        usable: Callable[[Response], object] | None = None,
    ) -> Response:
        """The kept answer, or what `make` brings. Raises `GraderError`, and what `make` raises."""
        services, cache = self._services, self._services.cache
        try:
            if cache is None or not services.suite.cache.grader:
                if cache is not None and cache.only:
                    raise CallFailed(not_kept(name), 0)
                return await make()
            question = question_of(
                asked,
                repeat=self._repeat,
                provider_salt=salt,
                case_salt=self._case_salt,
                provider=name,
                test=self._test,
            )
            response = await remembered(question, services, cache, make, usable=usable or _anything)
        except CallFailed as failure:
            raise _as_grader(name, failure.error) from None
        self._count(response)
        return response

    def _count(self, response: Response) -> None:
        self._asked += 1
        self._kept += response.cached
        cost = response.cost_usd
        if cost is not None and response.cached:
            self._saved = (self._saved or 0.0) + cost
        elif cost is not None:
            self._spent = (self._spent or 0.0) + cost


def _anything(response: Response) -> None:
    """Takes every answer of a grader as one that may be used again."""


def _as_grader(name: str, error: ProviderError) -> GraderError:
    error_class = AS_GRADER.get(error.error_class, ErrorClass.GRADER_UNAVAILABLE)
    return GraderError(f"grader {name!r}: {error.message}", error_class, error.details)
