"""The trace context of a call in this process, for code that uses the API of OpenTelemetry."""

from __future__ import annotations

import importlib.util
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any


def attached(traceparent: str | None) -> AbstractContextManager[None]:
    """Spans that code begins inside become children of the call. Does nothing where OpenTelemetry is not installed."""
    if traceparent is None or not _is_installed():
        return nullcontext()
    return _attached(traceparent)


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


@contextmanager
def _attached(traceparent: str) -> Iterator[None]:
    from opentelemetry import context
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    token = context.attach(TraceContextTextMapPropagator().extract({"traceparent": traceparent}))
    try:
        yield
    finally:
        context.detach(token)


def _is_installed() -> bool:
    return importlib.util.find_spec("opentelemetry") is not None
