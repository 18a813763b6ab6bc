from __future__ import annotations

import io
import threading

from evenhand.cli.progress import Progress, end_line
from evenhand.model.result import Run
from support.results import SAMPLE_RUN, cell_result

RUN = Run(run_id="01J")
HANG_S = 180


class Screen(io.StringIO):
    """A terminal that tells when something was drawn."""

    encoding = "utf-8"

    def __init__(self) -> None:
        super().__init__()
        self.drawn = threading.Semaphore(0)

    def flush(self) -> None:
        self.drawn.release()


class Broken(Screen):
    def write(self, text: str) -> int:
        self.drawn.release()
        raise OSError("gone")


def test_the_line_is_drawn_while_no_cell_finishes_and_taken_away_at_the_end() -> None:
    screen = Screen()
    with Progress(screen, columns=lambda: 80) as drawing:
        drawing.started(RUN, 10)
        assert screen.drawn.acquire(timeout=HANG_S)
        assert screen.drawn.acquire(timeout=HANG_S)
        drawing.ended(RUN)
    text = screen.getvalue()
    assert text.startswith("\r\x1b[K  0%  0/10")
    assert text.endswith("\r\x1b[K")
    assert "evenhand-progress" not in [thread.name for thread in threading.enumerate()]


def test_finished_cells_are_counted() -> None:
    screen = Screen()
    with Progress(screen, columns=lambda: 120) as drawing:
        for _ in range(100_000):
            drawing.finished_cell(cell_result("t", "pass"))
        drawing.started(RUN, 1_000_000)
        assert screen.drawn.acquire(timeout=HANG_S)
    assert " 10%  100,000/1,000,000" in screen.getvalue()


def test_colours_are_drawn_where_the_terminal_has_them() -> None:
    screen = Screen()
    with Progress(screen, color=True, columns=lambda: 80) as drawing:
        drawing.finished_cell(cell_result("t", "fail"))
        drawing.started(RUN, None)
        assert screen.drawn.acquire(timeout=HANG_S)
    assert "\x1b[31m  1 failed\x1b[0m" in screen.getvalue()


def test_a_terminal_without_utf8_gets_plain_signs() -> None:
    screen = Screen()
    screen.encoding = "latin-1"
    with Progress(screen, columns=lambda: 120) as drawing:
        drawing.started(RUN, 10)
        assert screen.drawn.acquire(timeout=HANG_S)
    assert screen.getvalue().isascii()


def test_a_terminal_that_goes_away_ends_the_drawing_and_nothing_else() -> None:
    screen = Broken()
    with Progress(screen, columns=lambda: 80) as drawing:
        drawing.started(RUN, 10)
        assert screen.drawn.acquire(timeout=HANG_S)
        drawing.finished_cell(cell_result("t", "pass"))
    drawing.close()


def test_progress_that_never_started_leaves_no_trace() -> None:
    screen = Screen()
    with Progress(screen):
        pass
    assert screen.getvalue() == ""


def test_end_line_says_what_came_out_and_which_run_it_was() -> None:
    assert end_line(SAMPLE_RUN) == (
        "ERROR: 6 passed, 4 failed, 8 errored, 1 skipped, 1 failed as expected, 1 passed unexpectedly in 12.4 s; "
        "run 01JDZK4T5V8M2Q7R9XW3YB6CNE"
    )
