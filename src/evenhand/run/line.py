"""The way to one provider: its session and what holds calls to it back."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from evenhand.errors import ErrorClass, ProviderError
from evenhand.model.provider import Provider, Session
from evenhand.run.limiter import RateLimiter

if TYPE_CHECKING:
    from evenhand.traces.collector import Collector

log = logging.getLogger("evenhand")


class Line:
    """An open provider with its turns, its rate limit, and the memory that it refused our credentials."""

    def __init__(
        self,
        provider: Provider,
        session: Session,
        limiter: RateLimiter | None,
        traces: Collector | None = None,
    ) -> None:
        self.name = provider.name
        self.traces = traces
        """What collects the spans of calls; None where they are not traced."""
        self.session = session
        self.limiter = limiter
        at_once = provider.calls_at_once
        self.turn = None if at_once is None else asyncio.Semaphore(at_once)
        self.refusal: ProviderError | None = None
        """Why no further call is made; None while calls may be."""

    def note(self, error: ProviderError) -> None:
        """Take in a failed call. Refused credentials stay refused: nobody else is made to wait for that answer."""
        if error.error_class is not ErrorClass.PROVIDER_AUTH or self.refusal is not None:
            return
        log.warning("%s refused the credentials and is not asked again: %s", self.name, error.message)
        self.refusal = ProviderError(
            f"not asked, since {self.name!r} refused the credentials before: {error.message}",
            ErrorClass.PROVIDER_AUTH,
        )
