"""Grades one answer by one graded assertion, over the same path that every call takes."""

from __future__ import annotations

from pathlib import Path

import msgspec

from evenhand.errors import ClassifiedError, ErrorClass, GraderError
from evenhand.model.assertion import Assertion
from evenhand.model.evidence import Evidence
from evenhand.model.exchange import Request, Response
from evenhand.model.grading import GradedAssertion, Graders
from evenhand.model.outcome import Outcome, errored
from evenhand.model.provider import Provider
from evenhand.run.call import CallFailed, call
from evenhand.run.services import Services

AS_GRADER = {
    ErrorClass.PROVIDER_AUTH: ErrorClass.PROVIDER_AUTH,
    ErrorClass.PROVIDER_REQUEST: ErrorClass.GRADER_MISSING,
    ErrorClass.PROVIDER_PROTOCOL: ErrorClass.GRADER_FAILED,
    ErrorClass.CACHE_MISS: ErrorClass.CACHE_MISS,
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
    desk = ServiceDesk(services)
    try:
        outcome = assertion.settle(await assertion.grade(evidence, desk), evidence)
    except ClassifiedError as error:
        outcome = errored(error.message, error.error_class, details=error.details)
    return outcome if desk.cost_usd is None else msgspec.structs.replace(outcome, cost_usd=desk.cost_usd)


class ServiceDesk:
    """The desk of one grading: asks through the run's services and adds up what that costs."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.cost_usd: float | None = None

    @property
    def graders(self) -> Graders:
        """The graders of the suite."""
        return self._services.suite.graders

    @property
    def directory(self) -> Path:
        """The suite's folder."""
        return self._services.suite.directory

    async def ask(self, provider: Provider, request: Request, *, timeout_ms: float | None = None) -> Response:
        """The response of a grader's model. Raises `GraderError`."""
        line = self._services.grader_line(provider)
        try:
            response = await call(line, request, self._services, timeout_ms=timeout_ms)
        except CallFailed as failure:
            error = failure.error
            error_class = AS_GRADER.get(error.error_class, ErrorClass.GRADER_UNAVAILABLE)
            message = f"grader {provider.name!r}: {error.message}"
            raise GraderError(message, error_class, error.details) from None
        if response.cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + response.cost_usd
        return response
