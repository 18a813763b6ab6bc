"""Live progress of a run, on the standard error of a terminal."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import NamedTuple, Self, TextIO

from evenhand.model.result import CaseResult, CaseStatus, Run
from evenhand.report.figures import counted, duration, headline, tallies

DRAW_EVERY_S = 0.1
RATE_WINDOW_S = 10.0
BAR_COLUMNS = 20

_CLEAR = "\r\x1b[K"
_RED, _GREEN, _YELLOW, _DIM, _PLAIN = "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[2m", "\x1b[0m"


class Sample(NamedTuple):
    """How far the run was at a time of the monotonic clock, in seconds."""

    at_s: float
    done: int


class Progress:
    """Draws one line about a run, ten times a second however fast cells finish. Use as a context manager.

    A thread of its own draws, so a finished cell costs one count, and time is seen to pass while every call waits.
    """

    def __init__(
        self,
        stream: TextIO,
        *,
        color: bool = False,
        clock: Callable[[], float] = time.monotonic,
        columns: Callable[[], int] | None = None,
    ) -> None:
        self._stream = stream
        self._color = color
        self._clock = clock
        self._columns = columns or (lambda: _columns_of(stream))
        self._signs = "━─" if (stream.encoding or "").lower().replace("-", "") == "utf8" else "#-"
        self._counts: dict[CaseStatus, int] = dict.fromkeys(CaseStatus, 0)
        self._total: int | None = None
        self._samples: deque[Sample] = deque()
        self._began_s = clock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._keep_drawing, name="evenhand-progress", daemon=True)

    def started(self, run: Run, total: int | None) -> None:
        """Begin to draw; `total` is the number of cells to do, as far as it is known."""
        self._total = total
        self._began_s = self._clock()
        self._samples.append(Sample(self._began_s, 0))
        self._thread.start()

    def finished_cell(self, result: CaseResult) -> None:
        """Count one cell."""
        self._counts[result.status] += 1

    def ended(self, run: Run) -> None:
        """Take the line away."""
        self.close()

    def close(self) -> None:
        """Stop drawing and leave the line empty. Called again it does nothing."""
        if self._stop.is_set():
            return
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()
            self._write(_CLEAR)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def line(self, columns: int) -> str:
        """The line as it is now, at most `columns` wide and without colours."""
        return "".join(text for text, _ in self._parts(columns))

    def _keep_drawing(self) -> None:
        while not self._stop.wait(DRAW_EVERY_S):
            parts = self._parts(self._columns() - 1)
            painted = (f"{style}{text}{_PLAIN}" if self._color and style else text for text, style in parts)
            if not self._write(_CLEAR + "".join(painted)):
                return

    def _write(self, text: str) -> bool:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            return False
        return True

    def _parts(self, columns: int) -> list[tuple[str, str]]:
        """Texts with their styles, the least important left out where there is no room for them."""
        now_s = self._clock()
        done = sum(self._counts.values())
        rate = self._rate(Sample(now_s, done))
        parts = [(self._share(done), ""), (self._bar(done), _GREEN), *self._tallies()]
        extras = [
            f"  {rate:,.0f}/s" if rate >= 10 else f"  {rate:.1f}/s",
            f"  {_clock_time(now_s - self._began_s)}",
        ]
        if self._total is not None and rate > 0:
            extras.append(f"  {_clock_time((self._total - done) / rate)} left")
        parts += [(text, _DIM) for text in extras]
        while len(parts) > 1 and sum(len(text) for text, _ in parts) > columns:
            # The bar says least for its room; after it goes what stands last.
            parts.pop(1 if parts[1][0] == self._bar(done) else -1)
        return [(text[:columns], style) for text, style in parts]

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

    def _tallies(self) -> list[tuple[str, str]]:
        counts = self._counts
        passed = counts[CaseStatus.PASS] + counts[CaseStatus.XFAIL]
        failed = counts[CaseStatus.FAIL] + counts[CaseStatus.XPASS]
        return [
            (f"  {passed:,} passed", _GREEN if passed else _DIM),
            (f"  {failed:,} failed", _RED if failed else _DIM),
            (f"  {counts[CaseStatus.ERROR]:,} errored", _YELLOW if counts[CaseStatus.ERROR] else _DIM),
            (f"  {counts[CaseStatus.SKIP]:,} skipped", _DIM),
        ]

    def _rate(self, now: Sample) -> float:
        """Cells per second over the last few seconds."""
        samples = self._samples
        if not samples or now.at_s - samples[-1].at_s >= DRAW_EVERY_S / 2:
            samples.append(now)
        while len(samples) > 1 and now.at_s - samples[0].at_s > RATE_WINDOW_S:
            samples.popleft()
        span_s = now.at_s - samples[0].at_s
        return (now.done - samples[0].done) / span_s if span_s > 0 else 0.0


def end_line(run: Run) -> str:
    """What came out of a run in one line, for where no table is shown."""
    summary = run.summary
    counts = ", ".join(f"{count:,} {name}" for name, count in tallies(summary))
    took = f" in {duration(summary.wall_ms)}" if summary.wall_ms is not None else ""
    return f"{headline(run).word}: {counts}{took}; run {run.run_id}"


def _clock_time(seconds: float) -> str:
    minutes, rest = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def _columns_of(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError, AttributeError):
        return 80
