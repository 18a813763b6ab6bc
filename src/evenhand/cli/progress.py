"""Live progress of a run, on the standard error of a terminal."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self, TextIO

from evenhand.cli.meter import Meter
from evenhand.model.result import CaseResult, Run
from evenhand.report.figures import duration, headline, tallies

DRAW_EVERY_S = 0.1

_CLEAR = "\r\x1b[K"
_COLORS = {"red": "\x1b[31m", "green": "\x1b[32m", "yellow": "\x1b[33m", "dim": "\x1b[2m"}


class Progress:
    """Draws one line about a run, ten times a second however fast cells finish. Use as a context manager.

    A thread of its own draws: a finished cell costs one count, and time is seen to pass while every call waits.
    """

    def __init__(
        self, stream: TextIO, *, color: bool = False, columns: Callable[[], int] | None = None
    ) -> None:
        self._stream = stream
        self._color = color
        self._columns = columns or (lambda: _columns_of(stream))
        is_utf8 = (stream.encoding or "").lower().replace("-", "") == "utf8"
        self._meter = Meter(signs="━─" if is_utf8 else "#-")
        self._counts = self._meter.counts
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._keep_drawing, name="evenhand-progress", daemon=True)

    def started(self, run: Run, total: int | None) -> None:
        """Begin to draw; `total` is the number of cells to do, as far as it is known."""
        self._meter.start(time.monotonic(), total)
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

    def _keep_drawing(self) -> None:
        while not self._stop.wait(DRAW_EVERY_S):
            # One column stays free: a full line would make some terminals scroll.
            parts = self._meter.parts(time.monotonic(), self._columns() - 1)
            if not self._write(_CLEAR + "".join(self._painted(text, color) for text, color in parts)):
                return

    def _painted(self, text: str, color: str) -> str:
        return f"{_COLORS[color]}{text}\x1b[0m" if self._color and color else text

    def _write(self, text: str) -> bool:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            return False
        return True


def end_line(run: Run) -> str:
    """What came out of a run in one line, for where no table is shown."""
    summary = run.summary
    counts = ", ".join(f"{count:,} {name}" for name, count in tallies(summary))
    took = f" in {duration(summary.wall_ms)}" if summary.wall_ms is not None else ""
    return f"{headline(run).word}: {counts}{took}; run {run.run_id}"


def _columns_of(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError, AttributeError):
        return 80
