"""One question to one provider, with its waits, attempts and time limit: the only way to a provider."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable

import msgspec

from evenhand.errors import ErrorClass, ProviderError
from evenhand.model.exchange import Request, Response
from evenhand.run.retry import wait_ms
from evenhand.run.services import Services


class CallFailed(Exception):
    """A call that brought no response after all its attempts."""

    def __init__(self, error: ProviderError, attempts: int) -> None:
        super().__init__(error.message)
        self.error = error
        self.attempts = attempts


async def call(provider_id: str, request: Request, services: Services) -> Response:
    """The provider's response, with the latency of the attempt that succeeded and the number of attempts.

    Raises `CallFailed` when an error is final or the attempts are used up.
    """
    retries = services.suite.runner.retries
    turn = services.turns.get(provider_id)
    attempt = 0
    while True:
        attempt += 1
        try:
            if turn is None:
                response = await _ask(provider_id, request, services)
            else:
                async with turn:
                    response = await _ask(provider_id, request, services)
        except ProviderError as error:
            wait = wait_ms(retries, attempt, error, services.random_share)
            if wait is None:
                raise CallFailed(error, attempt) from None
            await services.clock.sleep(wait / 1_000)
            continue
        return response if attempt == 1 else msgspec.structs.replace(response, attempts=attempt)


async def _ask(provider_id: str, request: Request, services: Services) -> Response:
    """One attempt. Its clock starts when the call itself does: waiting for a turn is not the provider's latency."""
    limiter = services.limiters.get(provider_id)
    if limiter is not None:
        await limiter.acquire()
    started = time.perf_counter()
    response = await _within(
        services.suite.runner.timeout_ms, services.session(provider_id).complete(request)
    )
    latency_ms = round((time.perf_counter() - started) * 1_000, 3)
    return msgspec.structs.replace(response, latency_ms=latency_ms)


async def _within(timeout_ms: float | None, answer: Awaitable[Response]) -> Response:
    if timeout_ms is None:
        return await answer
    limit = asyncio.timeout(timeout_ms / 1_000)
    try:
        async with limit:
            return await answer
    except TimeoutError:
        if not limit.expired():
            raise  # The session's own, which says nothing about this limit.
        raise ProviderError(
            f"no answer within {timeout_ms:g} ms", ErrorClass.PROVIDER_TIMEOUT, retriable=True
        ) from None
