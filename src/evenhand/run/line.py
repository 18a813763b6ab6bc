"""The way to one provider: its session and what holds calls to it back."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

from evenhand.errors import ErrorClass, ProviderError
from evenhand.io.clock import Clock
from evenhand.model.exchange import Request, Response
from evenhand.model.provider import Keyer, Provider, RateLimit, Session
from evenhand.model.quota import Quota
from evenhand.model.result import LimitHistory
from evenhand.run.limiter import RateLimiter
from evenhand.run.tokens import estimated_tokens
from evenhand.run.window import Window

if TYPE_CHECKING:
    from evenhand.traces.collector import Collector

log = logging.getLogger("evenhand")

LONGEST_HOLD_S = 120.0
"""Seconds that headers can hold calls back; a longer wait is left to the failure that follows, which is seen."""


class Entry(NamedTuple):
    """What a line must know of the moment in which a call entered: cuts of the limit until then, tokens counted."""

    cuts: int
    tokens: float = 0.0


class Line:
    """An open provider with its places in flight, its rates, and the memory that it refused our credentials.

    A call enters before it is made and leaves after it with what came of it.
    """

    def __init__(
        self,
        provider: Provider,
        *,
        concurrency: int,
        rate: RateLimit | None,
        adapts: bool,
        clock: Clock,
        traces: Collector | None = None,
        began: float | None = None,
    ) -> None:
        """`began` is the moment on the clock when the run did, from which changes of the limit are dated."""
        self.name = provider.name
        self.provider = provider
        self.keyer: Keyer | None = None
        """Makes the questions under which answers are kept; None where they are not."""
        self.session: Session
        """Set by whoever opens the provider; sessions tell the line what is left of quotas."""
        self.traces = traces
        """What collects the spans of calls; None where they are not traced."""
        at_once = provider.calls_at_once
        ceiling = concurrency if at_once is None else min(at_once, concurrency)
        self.window = Window(ceiling, clock, adapts=adapts, began=began)
        own, whole = provider.rate_limit or RateLimit(), rate or RateLimit()
        rps, tpm = own.rps or whole.rps, own.tpm or whole.tpm
        self._calls = RateLimiter(rps, clock) if rps else None
        self._tokens = TokenMeter(tpm, clock) if tpm else None
        self._adapts = adapts
        self._mean_tokens = 0.0
        self.refusal: ProviderError | None = None
        """Why no further call is made; None while calls may be."""

    async def enter(self, request: Request) -> Entry:
        """Wait until a call may be made."""
        window = self.window
        if not window.enter_at_once():
            await window.enter()
        tokens = 0.0
        if self._calls is not None or self._tokens is not None:
            try:
                tokens = await self._pace(request)
            except BaseException:
                window.leave()
                raise
        return Entry(window.cut_count, tokens)

    async def _pace(self, request: Request) -> float:
        """Wait for the rates; returns the tokens that are counted for the call."""
        tokens = 0.0 if self._tokens is None else await self._tokens.acquire(request)
        if self._calls is not None:
            await self._calls.acquire()
        return tokens

    def leave(self, entry: Entry) -> None:
        """Take in that a call ended in a way that says nothing about the provider."""
        self.window.leave()
        if self._tokens is not None:
            self._tokens.give_back(entry.tokens)

    def answered(self, entry: Entry, response: Response) -> None:
        """Take in an answer."""
        window = self.window
        if window.limit < window.ceiling:
            window.grow()
        window.leave()
        if response.usage is not None:
            tokens = response.usage.total
            self._mean_tokens += (tokens - self._mean_tokens) / 16
            if self._tokens is not None:
                self._tokens.settle(entry.tokens, tokens)

    def failed(self, entry: Entry, error: ProviderError) -> None:
        """Take in a failed call.

        Refused credentials stay refused: nobody else is made to wait for that answer. Where the provider is
        overloaded, fewer calls are sent to it, and none for as long as it asks.
        """
        if error.is_overload:
            self.window.cut(entry.cuts, error.error_class)
            if self._adapts and error.retry_after_ms is not None:
                self._hold(error.retry_after_ms / 1_000)
        self.leave(entry)
        if error.error_class is not ErrorClass.PROVIDER_AUTH or self.refusal is not None:
            return
        log.warning("%s refused the credentials and is not asked again: %s", self.name, error.message)
        self.refusal = ProviderError(
            f"not asked, since {self.name!r} refused the credentials before: {error.message}",
            ErrorClass.PROVIDER_AUTH,
        )

    def take_note(self, quota: Quota) -> None:
        """Hold calls back where those in flight use up what is left of a quota."""
        if not self._adapts:
            return
        each = 1.0 if quota.unit == "requests" else self._mean_tokens
        # The call whose answer this is has been counted by the other side; those beside it may not have been.
        self._hold(quota.wait_s(each * self.window.in_flight))

    def _hold(self, seconds: float) -> None:
        if 0 < seconds <= LONGEST_HOLD_S:
            self.window.hold(seconds)

    def history(self) -> LimitHistory | None:
        """How the limit on calls in flight changed; None where it never had to."""
        window = self.window
        if not window.refused:
            return None
        return LimitHistory(
            provider_id=self.provider.id,
            configured=window.ceiling,
            lowest=window.lowest,
            final=int(window.limit),
            refused_calls=window.refused,
            cut_count=window.cut_count,
            cuts=tuple(window.cuts),
        )


class TokenMeter:
    """Spreads tokens over time: what a call may cost is counted before it, and put right by what it did cost."""

    def __init__(self, tokens_per_minute: float, clock: Clock) -> None:
        self._limiter = RateLimiter(tokens_per_minute / 60, clock)
        self._mean_answer = 0.0
        self._answers = 0

    async def acquire(self, request: Request) -> float:
        """Wait until the call may start; returns the tokens that are counted for it."""
        tokens = estimated_tokens(request) + self._mean_answer
        await self._limiter.acquire(tokens)
        return tokens

    def settle(self, counted: float, tokens: int) -> None:
        """Take in what a call cost for which so many tokens were counted."""
        self._limiter.correct(tokens - counted)
        self._answers += 1
        self._mean_answer = max(0.0, self._mean_answer + (tokens - counted) / self._answers)

    def give_back(self, counted: float) -> None:
        """Take in that a call brought no answer: what was counted for it is free again."""
        self._limiter.correct(-counted)
