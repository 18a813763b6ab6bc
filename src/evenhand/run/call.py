"""One question to one provider, with its waits, attempts and time limit: the only way to a provider."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from typing import TYPE_CHECKING

import msgspec

from evenhand.errors import ErrorClass, ProviderError
from evenhand.io.reply import in_words
from evenhand.model.exchange import Request, Response
from evenhand.model.trace import Trace
from evenhand.run.line import Line
from evenhand.run.retry import wait_ms
from evenhand.run.services import Services

if TYPE_CHECKING:
    from evenhand.traces.collector import Watch


class CallFailed(Exception):
    """A call that brought no response after all its attempts."""

    def __init__(self, error: ProviderError, attempts: int, trace: Trace | None = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.attempts = attempts
        self.trace = trace
        """What had come of the last attempt's spans."""


async def call(line: Line, request: Request, services: Services, *, timeout_ms: float | None) -> Response:
    """The provider's response, with the latency of the attempt that succeeded and the number of attempts.

    `timeout_ms` bounds each attempt. Where the provider is traced, each attempt carries a trace of its own, and the
    response that of the attempt that answered. Raises `CallFailed` when an error is final or the attempts are used up.
    """
    retries = services.suite.runner.retries
    attempt = 0
    watch: Watch | None = None
    while True:
        attempt += 1
        try:
            if line.traces is None:
                response = await _ask(line, request, timeout_ms)
            else:
                with line.traces.watch() as watch:
                    response = await _watched(line, watch, request, timeout_ms)
        except _Refused as refused:
            raise CallFailed(refused.error, attempt - 1) from None
        except ProviderError as error:
            wait = wait_ms(retries, attempt, error, services.random_share)
            if wait is None:
                trace = None if watch is None else watch.trace()
                raise CallFailed(_final(error, attempt, services), attempt, trace) from None
            await services.clock.sleep(wait / 1_000)
            continue
        return response if attempt == 1 else msgspec.structs.replace(response, attempts=attempt)


async def _watched(line: Line, watch: Watch, request: Request, timeout_ms: float | None) -> Response:
    """One attempt with a trace of its own. The wait for late spans is nobody's turn and no part of the latency."""
    asked = msgspec.structs.replace(request, traceparent=watch.traceparent)
    response = await _ask(line, asked, timeout_ms)
    return msgspec.structs.replace(response, trace=await watch.settled())


def _final(error: ProviderError, attempt: int, services: Services) -> ProviderError:
    """The error, with the reason where it ended the attempts by asking for too long a wait."""
    retries, asked = services.suite.runner.retries, error.retry_after_ms
    if asked is None or asked <= retries.retry_after_max_ms or attempt > retries.max or not error.retriable:
        return error
    wait = f"it asks to wait {asked / 1_000:,.0f} s, longer than `runner.retries.retry_after_max_ms` allows"
    message = f"{error.message}; {wait}"
    final = ProviderError(
        message, error.error_class, retriable=True, retry_after_ms=asked, details=error.details
    )
    final.request, final.raw = error.request, error.raw
    return final


class _Refused(Exception):
    """The call was not made, since the provider refused the credentials before."""

    def __init__(self, error: ProviderError) -> None:
        super().__init__(error.message)
        self.error = error


async def _ask(line: Line, request: Request, timeout_ms: float | None) -> Response:
    """One attempt. Its clock starts when the call itself does: waiting for a turn is not the provider's latency."""
    entry = await line.enter(request)
    if line.refusal is not None:
        line.leave(entry)
        raise _Refused(line.refusal)
    started = time.perf_counter()
    try:
        response = await _within(timeout_ms, line.session.complete(request))
        if not isinstance(response, Response):
            raise TypeError(f"`complete` must return a `Response`, found {in_words(response)}")
    except ProviderError as error:
        line.failed(entry, error)
        raise
    except BaseException:
        line.leave(entry)
        raise
    latency_ms = round((time.perf_counter() - started) * 1_000, 3)
    line.answered(entry, response)
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
