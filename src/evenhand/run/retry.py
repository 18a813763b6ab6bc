"""How long to wait before a failed call is tried again."""

from __future__ import annotations

from collections.abc import Callable

from evenhand.errors import ProviderError
from evenhand.model.suite import Retries


def backoff_ms(retries: Retries, attempt: int) -> float:
    """The longest wait after failed attempt `attempt` (1-based): doubled each time, at most `max_ms`."""
    return float(min(retries.initial_ms * 2 ** min(attempt - 1, 1_000), retries.max_ms))


def wait_ms(
    retries: Retries, attempt: int, error: ProviderError, random: Callable[[], float]
) -> float | None:
    """The wait before the next attempt in milliseconds, or None where there is to be none.

    A wait that the server asked for is kept to the letter, and ends the attempts if it is above the cap. Else
    full jitter: a random share of the backoff, so that many callers do not come back at once
    (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).
    """
    if not error.retriable or attempt > retries.max:
        return None
    if error.retry_after_ms is not None:
        return error.retry_after_ms if error.retry_after_ms <= retries.retry_after_max_ms else None
    longest = backoff_ms(retries, attempt)
    return longest * random() if retries.jitter else longest
