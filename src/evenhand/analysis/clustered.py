"""The pass rate of a run whose cases were asked several times: answers to one question are no independent evidence."""

from __future__ import annotations

from evenhand.analysis.stats import Interval, wilson_of_share


class ClusteredRate:
    """The share of judged cells that passed, with an interval that counts cases and not cells.

    Holds five sums, whatever the number of cases. The variance of the share is that of a ratio over clusters (W.
    Cochran, "Sampling Techniques", 3rd ed., section 3.12); the interval is Wilson's at the effective sample size (N.
    Dean and M. Pagano, J. Surv. Stat. Methodol. 3, 2015). It is at least as wide as the plain one. With one cell a
    case it is the plain one.
    """

    __slots__ = ("_cells", "_cells_squared", "_clusters", "_passed", "_passed_by_cells", "_passed_squared")

    def __init__(self) -> None:
        self._clusters = 0
        self._passed = 0
        self._cells = 0
        self._passed_squared = 0
        self._cells_squared = 0
        self._passed_by_cells = 0

    def add(self, passed: int, cells: int) -> None:
        """Count one case of which so many cells were judged and so many of these passed."""
        if cells <= 0:
            return
        self._clusters += 1
        self._passed += passed
        self._cells += cells
        self._passed_squared += passed * passed
        self._cells_squared += cells * cells
        self._passed_by_cells += passed * cells

    def add_singles(self, passed: int, cases: int) -> None:
        """Count so many cases of one judged cell each, of which so many passed."""
        self._clusters += cases
        self._cells += cases
        self._cells_squared += cases
        self._passed += passed
        self._passed_squared += passed
        self._passed_by_cells += passed

    def merge(self, other: ClusteredRate) -> None:
        """Count everything that the other one counted."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    @property
    def clusters(self) -> int:
        """How many cases were counted."""
        return self._clusters

    @property
    def passed(self) -> int:
        """How many cells passed."""
        return self._passed

    @property
    def cells(self) -> int:
        """How many cells were counted."""
        return self._cells

    def interval(self) -> Interval:
        """The share and its 95 % bounds; all zero without any case."""
        if not self._cells:
            return Interval(0.0, 0.0, 0.0)
        return wilson_of_share(self._passed / self._cells, self.effective_size)

    @property
    def effective_size(self) -> float:
        """How many independent cells would tell as much: from 1 to the number of cells."""
        cells, clusters = self._cells, self._clusters
        if cells == clusters or not cells:
            return float(cells)
        rate = self._passed / cells
        if clusters < 2 or rate in (0.0, 1.0):
            return float(clusters)
        spread = self._passed_squared - 2 * rate * self._passed_by_cells + rate * rate * self._cells_squared
        variance = max(0.0, spread) * clusters / ((clusters - 1) * cells * cells)
        if variance <= 0:
            return float(cells)
        return min(float(cells), max(1.0, rate * (1 - rate) / variance))
