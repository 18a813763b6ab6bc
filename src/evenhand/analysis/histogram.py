"""Quantiles of positive measurements in bounded memory."""

from __future__ import annotations

import math
from collections.abc import Mapping

RELATIVE_ERROR = 0.01
"""A quantile is off by at most this share of the true value."""

_GAMMA = (1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR)
_PER_LOG = 1 / math.log(_GAMMA)
_FIRST_BUCKET = math.floor(math.log(1e-3) * _PER_LOG)
_LAST_BUCKET = math.ceil(math.log(1e9) * _PER_LOG)


class LogHistogram:
    """Counts per bucket, each bucket about 2 % wider than the one before: at most some 1,400 for 1e-3 to 1e9.

    Adding is order-independent and two histograms merge without loss. The method is DDSketch's: C. Masson et al.,
    "DDSketch: a fast and fully-mergeable quantile sketch with relative-error guarantees", VLDB 12 (2019).
    """

    __slots__ = ("_buckets", "_largest", "_smallest", "count")

    def __init__(self) -> None:
        self.count = 0
        self._buckets: dict[int, int] = {}
        self._smallest = math.inf
        self._largest = -math.inf

    def add(self, value: float) -> None:
        """Count one measurement. Values outside the range count as its ends; what is not finite is no measurement."""
        try:
            bucket = math.ceil(math.log(value) * _PER_LOG)
        except (ValueError, OverflowError):
            if value - value != 0:
                return
            bucket = _FIRST_BUCKET
        if not _FIRST_BUCKET <= bucket <= _LAST_BUCKET:
            bucket = _FIRST_BUCKET if bucket < 0 else _LAST_BUCKET
        buckets = self._buckets
        buckets[bucket] = buckets.get(bucket, 0) + 1
        self.count += 1
        if value < self._smallest:
            self._smallest = value
        if value > self._largest:
            self._largest = value

    def merge(self, other: LogHistogram) -> None:
        """Count everything that the other one counted."""
        for bucket, count in other._buckets.items():
            self._buckets[bucket] = self._buckets.get(bucket, 0) + count
        self.count += other.count
        self._smallest = min(self._smallest, other._smallest)
        self._largest = max(self._largest, other._largest)

    def quantile(self, share: float) -> float | None:
        """The value that `share` of the measurements do not exceed (nearest rank); None without measurements."""
        if not self.count:
            return None
        bucket = _bucket_of_rank(self._buckets, max(1, math.ceil(share * self.count)))
        estimate = 2 * _GAMMA**bucket / (_GAMMA + 1)
        return min(max(estimate, self._smallest), self._largest)


def _bucket_of_rank(buckets: Mapping[int, int], rank: int) -> int:
    seen = 0
    last = 0
    for bucket in sorted(buckets):
        seen += buckets[bucket]
        last = bucket
        if seen >= rank:
            break
    return last
