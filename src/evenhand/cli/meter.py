"""How far a run has come, as one line. Draws nothing and knows no clock."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from evenhand.model.result import CaseStatus
from evenhand.report.figures import counted

RATE_WINDOW_S = 10.0
"""Seconds over which the rate is taken, so that it follows a run that slows down."""

BAR_COLUMNS = 20

_SAMPLE_EVERY_S = 0.05


class Part(NamedTuple):
    """A piece of the line, with the colour that stands for it where there are colours."""

    text: str
    color: str = ""


class _Sample(NamedTuple):
    at_s: float
    done: int


class Meter:
    """Counts of finished cells and what can be said from them. Times are seconds of one steady clock."""

    def __init__(self, *, signs: str = "━─") -> None:
        """`signs` draw the full and the empty part of the bar."""
        self.counts: dict[CaseStatus, int] = dict.fromkeys(CaseStatus, 0)
        self._signs = signs
        self._total: int | None = None
        self._began_s = 0.0
        self._samples: deque[_Sample] = deque()

    def start(self, now_s: float, total: int | None) -> None:
        """Begin to measure; `total` is the number of cells to do, as far as it is known."""
        self._total = total
        self._began_s = now_s
        self._samples.append(_Sample(now_s, sum(self.counts.values())))

    def parts(self, now_s: float, columns: int) -> list[Part]:
        """The line in at most `columns` columns, the least important left out where there is no room."""
        done = sum(self.counts.values())
        rate = self._rate(_Sample(now_s, done))
        bar = Part(self._bar(done), "green")
        parts = [Part(self._share(done)), bar, *self._tallies(), *self._times(now_s, done, rate)]
        while len(parts) > 1 and sum(len(part.text) for part in parts) > columns:
            # The bar says least for its room; after it goes what stands last.
            parts.pop(1 if parts[1] is bar else -1)
        return [part._replace(text=part.text[:columns]) for part in parts]

    def _share(self, done: int) -> str:
        if self._total is None:
            return counted(done, "cell")
        percent = 100 * done // self._total if self._total else 100
        return f"{percent:3d}%  {done:,}/{self._total:,}"

    def _bar(self, done: int) -> str:
        if not self._total:
            return ""
        full = min(done * BAR_COLUMNS // self._total, BAR_COLUMNS)
        return f"  {self._signs[0] * full}{self._signs[1] * (BAR_COLUMNS - full)}"

    def _tallies(self) -> list[Part]:
        counts = self.counts
        passed = counts[CaseStatus.PASS] + counts[CaseStatus.XFAIL]
        failed = counts[CaseStatus.FAIL] + counts[CaseStatus.XPASS]
        return [
            Part(f"  {passed:,} passed", "green" if passed else "dim"),
            Part(f"  {failed:,} failed", "red" if failed else "dim"),
            Part(f"  {counts[CaseStatus.ERROR]:,} errored", "yellow" if counts[CaseStatus.ERROR] else "dim"),
            Part(f"  {counts[CaseStatus.SKIP]:,} skipped", "dim"),
        ]

    def _times(self, now_s: float, done: int, rate: float) -> list[Part]:
        texts = [f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s", clock_time(now_s - self._began_s)]
        if self._total is not None and rate > 0:
            texts.append(f"{clock_time((self._total - done) / rate)} left")
        return [Part(f"  {text}", "dim") for text in texts]

    def _rate(self, now: _Sample) -> float:
        """Cells per second over the last few seconds."""
        samples = self._samples
        if not samples or now.at_s - samples[-1].at_s >= _SAMPLE_EVERY_S:
            samples.append(now)
        while len(samples) > 1 and now.at_s - samples[0].at_s > RATE_WINDOW_S:
            samples.popleft()
        span_s = now.at_s - samples[0].at_s
        return (now.done - samples[0].done) / span_s if span_s > 0 else 0.0


def clock_time(seconds: float) -> str:
    """A length of time as a clock shows it: `0:05`, `12:30`, `1:02:03`."""
    minutes, rest = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
