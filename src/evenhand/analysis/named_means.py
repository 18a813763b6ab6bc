"""Weighted means by name, over a run and for each provider, in a memory that no script can fill with names."""

from __future__ import annotations

from collections.abc import Iterable

from evenhand.analysis.exact_sum import ExactSum
from evenhand.model.named_scores import Share

MAX_NAMES = 1_000
"""Different names that a run keeps; scores under further ones are only counted."""

MAX_NAME_LENGTH = 200


class _Mean:
    """A weighted mean. Exact, so that the order of adding changes no digit."""

    __slots__ = ("products", "weights")

    def __init__(self) -> None:
        self.products = ExactSum()
        self.weights = ExactSum()

    def merge(self, other: _Mean) -> None:
        self.products.merge(other.products)
        self.weights.merge(other.weights)

    @property
    def count(self) -> int:
        return self.products.count

    @property
    def value(self) -> float | None:
        """0 where nothing weighs; None where the mean is no finite number."""
        if self.weights.total <= 0:
            return 0.0
        try:
            return float(self.products.total / self.weights.total)
        except OverflowError:
            return None


class NamedMeans:
    """The means of named scores, folded share by share."""

    def __init__(self) -> None:
        self._by_provider: dict[str, dict[str, _Mean]] = {}
        self._names: set[str] = set()
        self.left_out = 0
        """Scores that were not taken in: too many names, or names too long."""

    def add(self, provider_id: str, shares: Iterable[Share]) -> None:
        """Take in what one assertion of a provider's cell adds."""
        for name, score, weight in shares:
            if not self._has_room(name):
                self.left_out += 1
                continue
            product = score * weight
            if product - product != 0:
                continue
            mean = self._mean(provider_id, name)
            mean.products.add(product)
            mean.weights.add(weight)

    def merge(self, other: NamedMeans) -> None:
        """Take in everything that the other holds."""
        self.left_out += other.left_out
        for provider_id, means in other._by_provider.items():
            for name, mean in means.items():
                if self._has_room(name):
                    self._mean(provider_id, name).merge(mean)
                else:
                    self.left_out += mean.count

    def scores(self) -> dict[str, float]:
        """The mean by name."""
        return _values(self._whole())

    def counts(self) -> dict[str, int]:
        """How many assertions each mean is over."""
        whole = self._whole()
        return {name: whole[name].count for name in _values(whole)}

    def scores_by_provider(self) -> dict[str, dict[str, float]]:
        """The mean by provider and name."""
        return {provider_id: _values(means) for provider_id, means in sorted(self._by_provider.items())}

    def _whole(self) -> dict[str, _Mean]:
        whole: dict[str, _Mean] = {}
        for means in self._by_provider.values():
            for name, mean in means.items():
                whole.setdefault(name, _Mean()).merge(mean)
        return whole

    def _has_room(self, name: str) -> bool:
        if name in self._names:
            return True
        if len(self._names) >= MAX_NAMES or len(name) > MAX_NAME_LENGTH:
            return False
        self._names.add(name)
        return True

    def _mean(self, provider_id: str, name: str) -> _Mean:
        means = self._by_provider.setdefault(provider_id, {})
        mean = means.get(name)
        if mean is None:
            mean = means[name] = _Mean()
        return mean


def _values(means: dict[str, _Mean]) -> dict[str, float]:
    found = {name: mean.value for name, mean in sorted(means.items())}
    return {name: value for name, value in found.items() if value is not None}
