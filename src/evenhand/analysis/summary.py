"""The summary of a run, folded result by result: nothing here holds the results themselves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from evenhand.analysis.clustered import ClusteredRate
from evenhand.analysis.exact_sum import ExactSum
from evenhand.analysis.histogram import LogHistogram
from evenhand.analysis.named_means import NamedMeans
from evenhand.analysis.repeats import RepeatFold
from evenhand.analysis.stats import Interval, wilson
from evenhand.model.exchange import Usage
from evenhand.model.named_scores import shares
from evenhand.model.outcome import Status
from evenhand.model.result import AssertResult, CaseResult, CaseStatus, FallbackAttempt, Summary

UNKNOWN_ERROR = "unknown"
"""Key in `error_counts` of errored cases that carry no class."""

# Looked up once: reading a member from its enumeration costs more than the counting.
_RIGHT = frozenset({CaseStatus.PASS, CaseStatus.XPASS})
_JUDGED = frozenset({*_RIGHT, CaseStatus.FAIL, CaseStatus.XFAIL})
_ERRORED = CaseStatus.ERROR
_PASS, _FAIL, _SKIPPED = Status.PASS, Status.FAIL, Status.SKIPPED


class SummaryFold:
    """Counts and sums over results in any order. Folds of parts merge into the fold of the whole.

    Memory is bounded by the number of different names (metrics, error classes, empty reasons), not of results.
    """

    def __init__(self) -> None:
        self._statuses: dict[str, int] = defaultdict(int)
        self._counts: dict[str, int] = defaultdict(int)
        self._empty: dict[str, int] = defaultdict(int)
        self._errors: dict[str, int] = defaultdict(int)
        self._scores = ExactSum()
        self._costs = ExactSum()
        self._grader_costs = ExactSum()
        self._saved = ExactSum()
        self._named = NamedMeans()
        self._latencies_ms = LogHistogram()
        self._repeats: RepeatFold | None = None

    def add(self, result: CaseResult) -> None:
        """Count one result."""
        status = result.status
        self._statuses[status] += 1
        if result.repeats != 1:
            if self._repeats is None:
                self._repeats = RepeatFold()
            self._repeats.add(result)
        if result.unchecked:
            self._counts["unchecked"] += 1
        elif status in _JUDGED:
            self._add_judged(result)
        if status is _ERRORED:
            self._errors[str(result.error_class or UNKNOWN_ERROR)] += 1
        if result.asserts:
            self._add_asserts(result.cell.provider_id, result.asserts)
        if result.empty_reason:
            self._empty[result.empty_reason] += 1
        self._add_call(result)

    def _add_judged(self, result: CaseResult) -> None:
        counts = self._counts
        counts["judged"] += 1
        if result.status in _RIGHT:
            counts["right"] += 1
        if result.score is not None:
            self._scores.add(result.score)
        if result.answered_by_provider_id is not None:
            counts["fallback_cases"] += 1

    def _add_asserts(self, provider_id: str, asserts: Iterable[AssertResult]) -> None:
        judged = skipped = unenforced = 0
        for item in asserts:
            status = item.status
            if status is _PASS or status is _FAIL:
                if not item.unenforced:
                    judged += 1
                if item.metric is not None or item.named_scores or item.parts:
                    self._named.add(provider_id, shares(item))
            elif status is _SKIPPED:
                skipped += 1
            if item.parts:
                inside = _inside(item.parts)
                unenforced += inside.unenforced or item.unenforced
                if status is not _SKIPPED:
                    skipped += inside.skipped
            elif item.unenforced:
                unenforced += 1
            if item.cost_usd is not None:
                (self._saved if item.cached else self._grader_costs).add(item.cost_usd)
        counts = self._counts
        counts["judged_assertions"] += judged
        if skipped:
            counts["skipped_assertions"] += skipped
        if unenforced:
            counts["unenforced_budgets"] += unenforced

    def _add_call(self, result: CaseResult) -> None:
        counts = self._counts
        if result.usage is not None:
            self._add_usage(result.usage)
        if result.cost_usd is not None:
            (self._saved if result.cached else self._costs).add(result.cost_usd)
        for attempt in result.fallback_attempts:
            self._add_attempt(attempt)
        if result.latency_ms is not None:
            self._latencies_ms.add(result.latency_ms)
        if result.cached:
            counts["cache_hits"] += 1
        elif result.cache_key is not None:
            counts["cache_misses"] += 1
        elif result.attempts > 1:
            counts["retried_cases"] += 1

    def _add_usage(self, usage: Usage) -> None:
        counts = self._counts
        counts["prompt_tokens"] += usage.input_tokens + usage.cache_read_tokens
        counts["completion_tokens"] += usage.output_tokens
        if usage.cache_read_tokens:
            counts["cache_read_tokens"] += usage.cache_read_tokens
        if usage.cache_write_tokens:
            counts["cache_write_tokens"] += usage.cache_write_tokens

    def _add_attempt(self, attempt: FallbackAttempt) -> None:
        """Count what an answer cost that was not used: it is on the bill all the same."""
        if attempt.cost_usd is not None:
            self._costs.add(attempt.cost_usd)
        if attempt.usage is not None:
            self._add_usage(attempt.usage)

    def merge(self, other: SummaryFold) -> None:
        """Count everything that the other fold counted."""
        for mine, others in (
            (self._statuses, other._statuses),
            (self._counts, other._counts),
            (self._empty, other._empty),
            (self._errors, other._errors),
        ):
            for name, count in others.items():
                mine[name] += count
        self._named.merge(other._named)
        self._scores.merge(other._scores)
        self._costs.merge(other._costs)
        self._grader_costs.merge(other._grader_costs)
        self._saved.merge(other._saved)
        self._latencies_ms.merge(other._latencies_ms)
        if other._repeats is not None:
            self._repeats = self._repeats or RepeatFold()
            self._repeats.merge(other._repeats)

    def summary(self, *, wall_ms: float | None = None) -> Summary:
        """The summary so far. `wall_ms` is the run's own duration, which no result knows."""
        statuses, counts = self._statuses, self._counts
        judged = counts.get("judged", 0)
        repeats = self._repeats.closed() if self._repeats is not None else None
        rate = _rate(counts, repeats) if judged else (None, None, None)
        plain = {name: count for name, count in counts.items() if name != "right"}
        return Summary(
            total=sum(statuses.values()),
            passed=statuses.get(CaseStatus.PASS, 0),
            failed=statuses.get(CaseStatus.FAIL, 0),
            errored=statuses.get(CaseStatus.ERROR, 0),
            skipped=statuses.get(CaseStatus.SKIP, 0),
            xfailed=statuses.get(CaseStatus.XFAIL, 0),
            xpassed=statuses.get(CaseStatus.XPASS, 0),
            pass_rate=rate[0],
            pass_rate_low=rate[1],
            pass_rate_high=rate[2],
            mean_score=self._scores.mean,
            cost_usd=_dollars(self._costs),
            grader_cost_usd=_dollars(self._grader_costs),
            cache_savings_usd=_dollars(self._saved),
            empty_counts=dict(sorted(self._empty.items())),
            error_counts=dict(sorted(self._errors.items())),
            named_scores=self._named.scores(),
            named_counts=self._named.counts(),
            named_scores_by_provider=self._named.scores_by_provider(),
            named_scores_left_out=self._named.left_out,
            latency_ms_p50=self._latencies_ms.quantile(0.5),
            latency_ms_p95=self._latencies_ms.quantile(0.95),
            wall_ms=wall_ms,
            repeats=repeats.summary() if repeats is not None else None,
            **plain,
        )


def _rate(counts: Mapping[str, int], repeats: RepeatFold | None) -> Interval:
    """The pass rate over judged cells; its interval counts repeats of one question as one case."""
    if repeats is None:
        return wilson(counts.get("right", 0), counts["judged"])
    whole = ClusteredRate()
    whole.merge(repeats.rate)
    whole.add_singles(counts.get("right", 0) - whole.passed, counts["judged"] - whole.cells)
    return whole.interval()


def _dollars(costs: ExactSum) -> float | None:
    """A sum of US dollars to the micro-dollar; None where no cost was reported or the sum is no finite float."""
    if not costs.count:
        return None
    try:
        return round(costs.total * 1_000_000) / 1_000_000
    except OverflowError:
        return None


class _Inside(NamedTuple):
    """What groups hold besides verdicts."""

    unenforced: int
    skipped: int


def _inside(parts: Iterable[Any]) -> _Inside:
    """The members of a group at any depth that were skipped, or that are budgets nobody could enforce.

    A skipped group counts once. Members are structs, or mappings when read from a store.
    """
    unenforced = skipped = 0
    waiting = list(parts)
    while waiting:
        part = waiting.pop()
        stored = isinstance(part, dict)
        inner = part.get("parts") if stored else getattr(part, "parts", None)
        if (part.get("status") if stored else getattr(part, "status", None)) == _SKIPPED:
            skipped += 1
        elif inner:
            waiting.extend(inner)
        elif part.get("unenforced") if stored else getattr(part, "unenforced", False):
            unenforced += 1
    return _Inside(unenforced, skipped)
