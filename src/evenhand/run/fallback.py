"""Who else may answer where a provider does not: the chain of fallbacks, walked once, never followed further."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from evenhand.errors import ErrorClass
from evenhand.model.evidence import Evidence
from evenhand.model.exchange import Request, Response
from evenhand.model.provider import Provider
from evenhand.model.result import FallbackAttempt
from evenhand.run.cached_call import answer
from evenhand.run.call import CallFailed
from evenhand.run.plan import Cell
from evenhand.run.services import Services
from evenhand.template import Scope

FALLBACK_CLASSES = frozenset(
    {
        ErrorClass.PROVIDER_AUTH,
        ErrorClass.PROVIDER_UNAVAILABLE,
        ErrorClass.PROVIDER_TIMEOUT,
        ErrorClass.PROVIDER_PROTOCOL,
        ErrorClass.PROVIDER_RATE_LIMIT,
        ErrorClass.EXEC_FAILED,
    }
)
"""Failures after which somebody else is asked. A refused request would be refused elsewhere too, or hide a mistake."""


class Answer(NamedTuple):
    """A response, who gave it, and who was asked without success on the way to it."""

    response: Response
    provider: Provider
    attempts: tuple[FallbackAttempt, ...] = ()


class NobodyAnswered(CallFailed):
    """The failure of the cell's own provider, with the fallbacks that did no better."""

    def __init__(self, failure: CallFailed, fallback_attempts: tuple[FallbackAttempt, ...]) -> None:
        super().__init__(failure.error, failure.attempts, failure.trace)
        self.fallback_attempts = fallback_attempts


async def call_with_fallbacks(
    cell: Cell,
    chain: Sequence[Provider],
    request: Request,
    services: Services,
    attempts: list[FallbackAttempt],
    *,
    timeout_ms: float | None,
) -> Answer:
    """The first answer that is worth judging, of the cell's provider and then of those in the chain.

    An answer that is empty for one of the suite's reasons, or a failure of certain classes, sends the question on.
    Where nobody does better, it is the provider's own answer or failure that counts. Those who were asked in vain are
    added to `attempts` as soon as they are. Raises `CallFailed`.
    """
    salt = cell.case.cache_salt
    own = await _asked(cell.provider, request, services, timeout_ms, salt)
    if isinstance(own, CallFailed) and own.error.error_class not in FALLBACK_CLASSES:
        raise own
    provider, found = cell.provider, own
    for following in (*chain, None):
        missed = _missed(provider, found, services)
        if missed is None and isinstance(found, Response):
            return Answer(found, provider, tuple(attempts))
        if missed is not None:
            attempts.append(missed)
        if following is not None:
            provider, found = following, await _asked(following, request, services, timeout_ms, salt)
    in_vain = tuple(attempts[1:])
    if isinstance(own, CallFailed):
        raise NobodyAnswered(own, in_vain)
    return Answer(own, cell.provider, in_vain)


async def _asked(
    provider: Provider, request: Request, services: Services, timeout_ms: float | None, case_salt: str | None
) -> Response | CallFailed:
    try:
        line = services.line(provider.id)
        return await answer(line, request, services, timeout_ms=timeout_ms, case_salt=case_salt)
    except CallFailed as failure:
        return failure


def _missed(provider: Provider, found: Response | CallFailed, services: Services) -> FallbackAttempt | None:
    """Why an answer is not the one to judge; None where it is."""
    if isinstance(found, CallFailed):
        return FallbackAttempt(provider_id=provider.id, error_class=found.error.error_class)
    evidence = Evidence(response=found, vars={}, engine=services.suite.engine, scope=Scope({}))
    reason = services.empty_reason(found, evidence)
    if reason is None or reason not in services.suite.runner.fallback_on_empty_reason:
        return None
    return FallbackAttempt(
        provider_id=provider.id,
        empty_reason=reason,
        usage=None if found.cached else found.usage,
        cost_usd=None if found.cached else found.cost_usd,
    )
