"""What a provider says of the calls that it will still take."""

from __future__ import annotations

from typing import Literal

import msgspec


class Quota(msgspec.Struct, frozen=True, gc=False):
    """What is left of one allowance, in requests or in tokens, when an answer was sent.

    `reset_s` are the seconds until all of `limit` is there again. A window gives it back at once at its end; other
    allowances (`refills`) grow back all the time.
    """

    unit: Literal["requests", "tokens"]
    remaining: float
    reset_s: float
    limit: float | None = None
    refills: bool = False

    def wait_s(self, needed: float) -> float:
        """Seconds until so much is there, 0 where it is there now."""
        if needed <= self.remaining:
            return 0.0
        if self.refills and self.limit is not None and self.limit > self.remaining:
            missing = min(needed, self.limit) - self.remaining
            return self.reset_s * missing / (self.limit - self.remaining)
        return self.reset_s
