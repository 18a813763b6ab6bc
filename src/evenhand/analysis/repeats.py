"""What repeats of the same questions show, folded result by result."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from evenhand.analysis.clustered import ClusteredRate
from evenhand.analysis.exact_sum import ExactSum
from evenhand.analysis.stats import pass_at_k, pass_hat_k, wilson
from evenhand.model.result import CaseResult, CaseStatus, FlakyCase, RepeatSummary

MAX_FLAKY = 20
"""Flaky cases that a summary names: those nearest to passing half the time."""

_KS = (1, 2, 3, 5, 10, 20, 50, 100)
_PASSING = (CaseStatus.PASS, CaseStatus.XPASS)
_JUDGED = (*_PASSING, CaseStatus.FAIL, CaseStatus.XFAIL)

Group = tuple[str, str | None, str]
"""Provider, prompt and test: the cells that differ by their repeat alone."""


class _Counts:
    """Of one question: answers that arrived, were judged, passed."""

    __slots__ = ("arrived", "expected", "judged", "passed")

    def __init__(self) -> None:
        self.expected = self.arrived = self.judged = self.passed = 0


class RepeatFold:
    """Counts over repeated cells in any order. A question is held only until its last repeat has arrived."""

    def __init__(self) -> None:
        self.rate = ClusteredRate()
        self._open: dict[Group, _Counts] = {}
        self._flaky: list[FlakyCase] = []
        self._flaky_count = 0
        self._at: dict[int, ExactSum] = defaultdict(ExactSum)
        self._hat: dict[int, ExactSum] = defaultdict(ExactSum)
        self._decisions: Counter[str] = Counter()
        self._calls_saved = 0

    def add(self, result: CaseResult) -> None:
        """Count one result that is a repeat."""
        cell = result.cell
        group = (cell.provider_id, cell.prompt_id, cell.test_id)
        counts = self._open.get(group)
        if counts is None:
            counts = self._open[group] = _Counts()
        counts.arrived += 1
        counts.expected = max(counts.expected, result.repeats)
        if result.status in _JUDGED and not result.unchecked:
            counts.judged += 1
            counts.passed += result.status in _PASSING
        if result.decision is not None:
            self._decisions[result.decision.verdict] += 1
            self._calls_saved += result.decision.calls_saved
        if counts.arrived == counts.expected:
            self._close(group, self._open.pop(group))

    def _close(self, group: Group, counts: _Counts) -> None:
        judged, passed = counts.judged, counts.passed
        self.rate.add(passed, judged)
        for k in {*_KS, judged}:
            if 0 < k <= judged:
                self._at[k].add(pass_at_k(judged, passed, k))
                self._hat[k].add(pass_hat_k(judged, passed, k))
        if 0 < passed < judged:
            _, low, high = wilson(passed, judged)
            provider, prompt, test = group
            case = FlakyCase(
                provider_id=provider, prompt_id=prompt, test_id=test,
                passed=passed, judged=judged, low=low, high=high,
            )  # fmt: skip
            self._flaky_count += 1
            self._keep([case])

    def _keep(self, cases: Iterable[FlakyCase]) -> None:
        self._flaky = sorted([*self._flaky, *cases], key=_least_certain_first)[:MAX_FLAKY]

    def merge(self, other: RepeatFold) -> None:
        """Count everything that the other fold counted."""
        self.rate.merge(other.rate)
        self._keep(other._flaky)
        self._flaky_count += other._flaky_count
        self._decisions += other._decisions
        self._calls_saved += other._calls_saved
        for mine, others in ((self._at, other._at), (self._hat, other._hat)):
            for k, values in others.items():
                mine[k].merge(values)
        for group, counts in other._open.items():
            own = self._open.setdefault(group, _Counts())
            own.arrived += counts.arrived
            own.judged += counts.judged
            own.passed += counts.passed
            own.expected = max(own.expected, counts.expected)
            if own.arrived == own.expected:
                self._close(group, self._open.pop(group))

    def closed(self) -> RepeatFold:
        """The same with every question counted as it stands, also those of which repeats are missing."""
        if not self._open:
            return self
        whole = RepeatFold()
        for group, counts in self._open.items():
            whole._close(group, counts)
        rest, self._open = self._open, {}
        whole.merge(self)
        self._open = rest
        return whole

    def summary(self) -> RepeatSummary | None:
        """What a run's summary says of its repeats; None where nothing was repeated. Nothing may be open."""
        if not self.rate.clusters and not self._decisions:
            return None
        return RepeatSummary(
            cases=self.rate.clusters,
            flaky=self._flaky_count,
            flaky_cases=tuple(self._flaky),
            pass_at_k={str(k): value.mean or 0.0 for k, value in sorted(self._at.items())},
            pass_hat_k={str(k): value.mean or 0.0 for k, value in sorted(self._hat.items())},
            cases_at_k={str(k): value.count for k, value in sorted(self._at.items())},
            passing=self._decisions["passing"],
            failing=self._decisions["failing"],
            undecided=self._decisions["undecided"],
            calls_saved=self._calls_saved,
        )


def _least_certain_first(case: FlakyCase) -> tuple[float, str, str, str]:
    return (abs(case.passed / case.judged - 0.5), case.test_id, case.provider_id, case.prompt_id or "")
