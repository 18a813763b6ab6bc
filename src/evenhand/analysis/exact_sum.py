"""Sums of floats in which no order of adding changes a digit."""

from __future__ import annotations

from fractions import Fraction

_FRACTION_BITS = 80
_SCALE = 2.0**_FRACTION_BITS


class ExactSum:
    """The sum and count of finite numbers, kept as one whole number in units of 2**-80.

    Scaling by a power of two loses nothing, so the sum is exact for numbers of 1e-8 and more; of smaller ones only
    what lies below 1e-24 is cut off. What is not finite is no measurement and is left out.
    """

    __slots__ = ("_scaled", "count")

    def __init__(self) -> None:
        self.count = 0
        self._scaled = 0

    def add(self, value: float) -> None:
        """Add one number."""
        try:
            self._scaled += int(value * _SCALE)
        except (ValueError, OverflowError):
            if value - value != 0:
                return
            self._scaled += int(value) << _FRACTION_BITS
        self.count += 1

    def merge(self, other: ExactSum) -> None:
        """Add everything that the other sum holds."""
        self._scaled += other._scaled
        self.count += other.count

    @property
    def total(self) -> Fraction:
        """The sum."""
        return Fraction(self._scaled, 1 << _FRACTION_BITS)

    @property
    def mean(self) -> float | None:
        """The mean, correctly rounded; None without numbers."""
        return float(self.total / self.count) if self.count else None
