"""How long to wait before another attempt."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import ErrorClass, ProviderError
from evenhand.model.suite import Retries
from evenhand.run.retry import backoff_ms, wait_ms
from support.vectors import row_id, topic


def busy(retry_after_ms: float | None = None, *, retriable: bool = True) -> ProviderError:
    return ProviderError(
        "busy", ErrorClass.PROVIDER_RATE_LIMIT, retriable=retriable, retry_after_ms=retry_after_ms
    )


@pytest.mark.parametrize("row", topic("retry"), ids=row_id)
def test_wait_follows_the_table(row: dict[str, Any]) -> None:
    given_ = row["suite_fragment"]
    retries = Retries(max=100, initial_ms=given_["initial_ms"], max_ms=given_["max_ms"], jitter=False)
    error = busy(given_.get("retry_after_ms"))
    assert wait_ms(retries, given_["attempt"], error, lambda: 0.5) == row["expected"]["delay_ms"]


def test_final_errors_are_not_retried() -> None:
    assert wait_ms(Retries(), 1, busy(retriable=False), lambda: 1.0) is None


def test_zero_retries_means_one_attempt() -> None:
    assert wait_ms(Retries(max=0), 1, busy(), lambda: 1.0) is None


def test_attempts_end_when_they_are_used_up() -> None:
    assert wait_ms(Retries(max=2), 2, busy(), lambda: 1.0) is not None
    assert wait_ms(Retries(max=2), 3, busy(), lambda: 1.0) is None


def test_wait_that_the_server_asks_for_is_kept_to_the_letter() -> None:
    assert wait_ms(Retries(), 1, busy(1_234.0), lambda: 0.0) == 1_234.0


def test_wait_above_the_cap_ends_the_attempts() -> None:
    assert wait_ms(Retries(retry_after_max_ms=1_000), 1, busy(86_400_000), lambda: 0.0) is None


@given(st.integers(1, 10_000), st.floats(0, 1))
def test_jitter_never_waits_longer_than_the_backoff(attempt: int, share: float) -> None:
    retries = Retries(max=100)
    wait = wait_ms(retries, min(attempt, 100), busy(), lambda: share)
    assert wait is not None
    assert 0 <= wait <= backoff_ms(retries, min(attempt, 100)) <= retries.max_ms
