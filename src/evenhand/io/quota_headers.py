"""What the headers of an answer say of the calls that a server will still take.

Three dialects: `x-ratelimit-remaining-requests` and `-tokens` with durations (OpenAI's, spoken by many compatible
servers; https://platform.openai.com/docs/guides/rate-limits), `anthropic-ratelimit-…-remaining` with moments
(https://docs.anthropic.com/en/api/rate-limits), and `RateLimit` in one header or three
(https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/). Pure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Literal

from evenhand.model.quota import Quota

Unit = Literal["requests", "tokens"]

_OPENAI: tuple[tuple[Unit, str, str, str], ...] = (
    (
        "requests",
        "x-ratelimit-remaining-requests",
        "x-ratelimit-limit-requests",
        "x-ratelimit-reset-requests",
    ),
    ("tokens", "x-ratelimit-remaining-tokens", "x-ratelimit-limit-tokens", "x-ratelimit-reset-tokens"),
)
_ANTHROPIC: tuple[tuple[Unit, str], ...] = (
    ("requests", "anthropic-ratelimit-requests"),
    ("tokens", "anthropic-ratelimit-tokens"),
    ("tokens", "anthropic-ratelimit-input-tokens"),
    ("tokens", "anthropic-ratelimit-output-tokens"),
)
_PLAIN = ("ratelimit", "x-ratelimit")
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|[dhms])")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
_PARAMETER = re.compile(r"\b(r|t|remaining|reset|limit)\s*=\s*(\d+(?:\.\d+)?)")
_EPOCH = 1_000_000_000
"""Seconds above which a number is a moment, not a duration."""


def quotas_in(headers: Mapping[str, str], now: float) -> Iterator[Quota]:
    """Every allowance that headers tell whole: their names in lower case, `now` in seconds since 1970."""
    if "ratelimit" not in "\n".join(headers):  # every answer passes here, most without any
        return
    for unit, remaining, limit, reset in _OPENAI:
        if (left := headers.get(remaining)) is not None:
            reset_s = _duration_s(headers.get(reset))
            yield from _quota(
                unit, header_number(left), reset_s, header_number(headers.get(limit)), refills=True
            )
    for unit, prefix in _ANTHROPIC:
        if (left := headers.get(f"{prefix}-remaining")) is not None:
            reset_s = _moment_s(headers.get(f"{prefix}-reset"), now)
            limit_number = header_number(headers.get(f"{prefix}-limit"))
            yield from _quota(unit, header_number(left), reset_s, limit_number, refills=True)
    for prefix in _PLAIN:
        if (left := headers.get(f"{prefix}-remaining")) is not None:
            reset_s = _reset_s(headers.get(f"{prefix}-reset"), now)
            yield from _quota(
                "requests", header_number(left), reset_s, header_number(headers.get(f"{prefix}-limit"))
            )
    if (policies := headers.get("ratelimit")) is not None:
        for policy in policies.split(","):
            found = {name[0] if len(name) == 1 else name: float(n) for name, n in _PARAMETER.findall(policy)}
            yield from _quota(
                "requests", found.get("r", found.get("remaining")), found.get("t", found.get("reset"))
            )


def _quota(
    unit: Unit,
    remaining: float | None,
    reset_s: float | None,
    limit: float | None = None,
    *,
    refills: bool = False,
) -> Iterator[Quota]:
    if remaining is not None and reset_s is not None:
        yield Quota(unit, remaining, max(0.0, reset_s), limit, refills)


def header_number(text: str | None) -> float | None:
    """The number in a header, 0 or more; None for a header that is missing or says something else."""
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value < math.inf else None


@lru_cache(maxsize=256)  # servers say the same few over and over
def _duration_s(text: str | None) -> float | None:
    """Seconds of `6m0s`, `12ms`, `1.5s` or a plain number."""
    plain = header_number(text)
    if plain is not None or text is None:
        return plain
    parts = _DURATION.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text.strip():
        return None
    return math.fsum(float(number) * _SECONDS[unit] for number, unit in parts)


def _moment_s(text: str | None, now: float) -> float | None:
    try:
        return datetime.fromisoformat(text or "").timestamp() - now
    except (ValueError, OverflowError):
        return None


def _reset_s(text: str | None, now: float) -> float | None:
    number = _duration_s(text)
    return number - now if number is not None and number > _EPOCH else number
