"""Several keys to one API: calls are spread over them, and a key that is no good is left out while others go on."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from evenhand.errors import ErrorClass, ProviderError

log = logging.getLogger("evenhand")

REST_S = 1.0
"""Seconds that a key rests where the other side turned it away and did not say for how long."""
_SPENT = ("insufficient_quota", "quota exceeded", "exceeded your current quota", "credit balance", "billing")
"""Words of vendors for a key whose money or allowance is used up: no wait helps."""

T = TypeVar("T")


class KeyRing(Generic[T]):
    """What calls with each key need, handed out in turn.

    A key that is refused, or whose allowance is used up, is handed out no more. One that was turned away for too
    many calls rests for as long as the other side asks.
    """

    def __init__(self, keys: Sequence[tuple[str, T]], *, now: Callable[[], float] = time.monotonic) -> None:
        """`keys` are what messages call each key, never the key itself, and what calls with it need."""
        self._names = [name for name, _ in keys]
        self._values = [value for _, value in keys]
        self._now = now
        self._rests_until = [0.0] * len(keys)
        self._dropped: list[ProviderError | None] = [None] * len(keys)
        self._next = 0

    def __len__(self) -> int:
        return len(self._values)

    def take(self) -> tuple[int, T]:
        """The place and value of the key that is next. Raises `ProviderError` where none can be used now."""
        moment = self._now()
        count = len(self._values)
        for step in range(count):
            place = (self._next + step) % count
            if self._dropped[place] is None and self._rests_until[place] <= moment:
                self._next = (place + 1) % count
                return place, self._values[place]
        raise self._none_left(moment)

    def set_aside(self, place: int, error: ProviderError) -> bool:
        """Whether a failure says something about the key: it is then left out, and another one may do."""
        spent = any(word in error.message.lower() for word in _SPENT)
        if error.error_class is ErrorClass.PROVIDER_AUTH or (
            error.error_class is ErrorClass.PROVIDER_RATE_LIMIT and spent
        ):
            if self._dropped[place] is None:
                log.warning("the key in %s is not used again: %s", self._names[place], error.message)
            self._dropped[place] = error
            return True
        if error.error_class is not ErrorClass.PROVIDER_RATE_LIMIT:
            return False
        wait_s = REST_S if error.retry_after_ms is None else error.retry_after_ms / 1_000
        self._rests_until[place] = max(self._rests_until[place], self._now() + wait_s)
        return True

    def _none_left(self, moment: float) -> ProviderError:
        waits = [
            until - moment
            for until, dropped in zip(self._rests_until, self._dropped, strict=True)
            if dropped is None
        ]
        if waits:
            message = f"all {len(waits)} keys that are left were turned away for too many calls"
            return ProviderError(
                message,
                ErrorClass.PROVIDER_RATE_LIMIT,
                retriable=True,
                retry_after_ms=round(max(0.0, min(waits)) * 1_000, 3),
            )
        errors = [error for error in self._dropped if error is not None]
        refused = [error for error in errors if error.error_class is ErrorClass.PROVIDER_AUTH]
        last = (refused or errors)[-1]
        # Whatever took the last one away: without a key no further call can be made.
        return ProviderError(
            f"none of {len(errors)} keys can be used any more: {last.message}", ErrorClass.PROVIDER_AUTH
        )
