"""The trace context of a call in this process, for code that uses the API of OpenTelemetry."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def attached(traceparent: str | None) -> Iterator[None]:
    """Spans that code begins inside become children of the call. Does nothing where OpenTelemetry is not installed."""
    if traceparent is None:
        yield
        return
    try:
        from opentelemetry import context
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
    except ImportError:
        yield
        return
    token = context.attach(TraceContextTextMapPropagator().extract({"traceparent": traceparent}))
    try:
        yield
    finally:
        context.detach(token)


async def awaited(awaitable: Awaitable[Any], traceparent: str | None) -> Any:
    """What an awaitable comes to, with the context of a call attached to the task that runs it."""
    with attached(traceparent):
        return await awaitable


def carried(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A plain function of a request, with the context of the request's call attached to its thread."""

    def call(request: Any) -> Any:
        with attached(request.traceparent):
            return function(request)

    return call


def carried_on(function: Callable[[Any], Awaitable[Any]]) -> Callable[[Any], Awaitable[Any]]:
    """An async function of a request, with the context of the request's call attached to its task."""

    async def call(request: Any) -> Any:
        with attached(request.traceparent):
            return await function(request)

    return call
