"""Asks through the kept answers: what was answered before is not asked again, and what is asked now is asked once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import structs

from evenhand.cache.answers import AnswerCache, CacheUnavailable
from evenhand.cache.question import Question, question_of
from evenhand.errors import ClassifiedError, ErrorClass, ProviderError
from evenhand.model.caching import REPRODUCIBLE
from evenhand.model.emptiness import reason_of_stop
from evenhand.model.exchange import Request, Response
from evenhand.run.call import CallFailed, call
from evenhand.run.line import Line
from evenhand.run.services import Services

Usable = Callable[[Response], object]
"""Raises `ClassifiedError` or another exception where an answer is none that may be used again."""

NEVER_KEPT = "content_filter"
"""The reason for an empty answer that is never kept: another attempt may pass the filter."""

MISS = "no kept answer; run once without `--cache-only`, or without the change that made it another question"


async def answer(
    line: Line,
    request: Request,
    services: Services,
    *,
    timeout_ms: float | None,
    fresh: bool = False,
    repeat: int | None = None,
    case_salt: str | None = None,
    usable: Usable | None = None,
    seat: int = 0,
) -> Response:
    """The provider's answer to a question: a kept one, or else that of a call. `fresh` wants a call.

    A kept answer says so (`cached`) and has today's price. Raises `CallFailed`.
    """
    cache, provider = services.cache, line.provider
    if cache is None:
        return await call(line, request, services, timeout_ms=timeout_ms)
    asked = None
    if line.keyer is not None and not fresh:
        try:
            asked = line.keyer(request)
        except ClassifiedError:
            asked = None  # the call itself says what is wrong
    if asked is None:
        if cache.only and not provider.needs_no_call:
            raise CallFailed(not_kept(provider.name, fresh=fresh), 0)
        return await call(line, request, services, timeout_ms=timeout_ms)
    question = question_of(
        asked if not seat else {"seat": seat, "question": asked},
        repeat=request.repeat if repeat is None else repeat,
        provider_salt=provider.cache_salt,
        case_salt=case_salt,
        provider=provider.id,
        test=request.test.id,
    )
    response = await remembered(
        question,
        services,
        cache,
        lambda: call(line, request, services, timeout_ms=timeout_ms),
        usable=_traced if line.traces is not None and usable is None else usable,
    )
    if response.trace is not None and not services.suite.tracing.enabled:
        response = structs.replace(
            response, trace=None
        )  # kept by another run; this one says it does not trace
    return provider.priced(response) if response.cached else response


def _traced(response: Response) -> None:
    """Takes answers that were traced: one from before the suite asked for spans has none to judge."""
    if response.trace is None:
        raise ProviderError("the call was not traced", ErrorClass.CACHE_MISS)


def not_kept(name: str, *, fresh: bool = False) -> ProviderError:
    """The failure where only kept answers may be used and none can be."""
    why = (
        f"an answer of {name!r} has to be a fresh one here" if fresh else f"answers of {name!r} are not kept"
    )
    return ProviderError(f"not asked under `--cache-only`: {why}", ErrorClass.CACHE_MISS)


async def remembered(
    question: Question,
    services: Services,
    cache: AnswerCache,
    ask: Callable[[], Awaitable[Response]],
    *,
    usable: Usable | None = None,
) -> Response:
    """A kept answer, or that of `ask`, which is then kept. Equal questions of a run that meet are asked once.

    Those who wait for an answer get the one that asked for it, or its failure, which stands after all its attempts.
    Where the one who asks is cancelled, another takes over. Raises `CallFailed`, and what `ask` raises.
    """
    while True:
        try:
            found = cache.find(question)
        except CacheUnavailable as error:
            raise CallFailed(ProviderError(str(error), ErrorClass.CACHE_UNAVAILABLE), 0) from None
        if found is not None and _is_usable(found, usable):
            return structs.replace(found, cached=True, cache_key=question.key)
        flight = cache.flights.get(question.digest)
        if flight is None:
            return await _lead(question, services, cache, ask, usable, replaces=found is not None)
        await asyncio.wait([flight])
        if not flight.cancelled():
            return structs.replace(_landed(flight), cached=True, cache_key=question.key)


def _landed(flight: asyncio.Future[Response]) -> Response:
    error = flight.exception()
    if error is None:
        return flight.result()
    if isinstance(error, CallFailed):
        raise CallFailed(error.error, error.attempts, error.trace)
    raise error.with_traceback(None)


async def _lead(
    question: Question,
    services: Services,
    cache: AnswerCache,
    ask: Callable[[], Awaitable[Response]],
    usable: Usable | None,
    *,
    replaces: bool,
) -> Response:
    flight = asyncio.get_running_loop().create_future()
    cache.flights[question.digest] = flight
    try:
        response = await _asked(question, services, cache, ask, usable, replaces=replaces)
    except asyncio.CancelledError:
        flight.cancel()
        raise
    except BaseException as error:
        flight.set_exception(error)
        flight.exception()  # whether or not anybody waits for it
        raise
    else:
        flight.set_result(response)
        return response
    finally:
        del cache.flights[question.digest]


async def _asked(
    question: Question,
    services: Services,
    cache: AnswerCache,
    ask: Callable[[], Awaitable[Response]],
    usable: Usable | None,
    *,
    replaces: bool,
) -> Response:
    found = await cache.find_shared(question)
    if found is not None and _is_usable(found, usable):
        return structs.replace(found, cached=True, cache_key=question.key)
    if cache.only:
        raise CallFailed(ProviderError(MISS, ErrorClass.CACHE_MISS), 0)
    response = await ask()
    is_verdict = usable is not None and usable is not _traced
    if _may_be_kept(response, services, is_verdict=is_verdict) and _is_usable(response, usable):
        cache.keep(question, response, replaces=replaces)
    return structs.replace(response, cache_key=question.key)


def _is_usable(response: Response, usable: Usable | None) -> bool:
    if usable is None:
        return True
    try:
        usable(response)
    except Exception:  # noqa: BLE001  (whatever is wrong with it: it is asked for again, and told then)
        return False
    return True


def _may_be_kept(response: Response, services: Services, *, is_verdict: bool) -> bool:
    reason = services.reason_for_emptiness(response)
    if NEVER_KEPT in (reason, reason_of_stop(response.stop_reason)):
        return False
    if reason is None or is_verdict:
        return True
    policy: Any = services.suite.cache.store_empty_outputs
    return policy == "always" or (policy == "reproducible" and reason in REPRODUCIBLE)
