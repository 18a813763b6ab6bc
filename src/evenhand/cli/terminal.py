"""What the command line knows about where it prints."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping
from typing import IO, Any, Literal, NamedTuple

ColorChoice = Literal["auto", "always", "never"]

WIDEST = 120
"""Columns beyond which lines are hard to read."""

WIDTH_ELSEWHERE = 100
"""Columns where there is no terminal: logs of continuous integration."""


class Terminal(NamedTuple):
    """The wishes that hold for every command."""

    color: ColorChoice = "auto"

    def has_color(self, stream: IO[Any], environ: Mapping[str, str] = os.environ) -> bool:
        """Whether to colour what goes to a stream: what was asked for, else NO_COLOR, FORCE_COLOR, a terminal."""
        if self.color != "auto":
            return self.color == "always"
        if environ.get("NO_COLOR"):
            return False
        if environ.get("FORCE_COLOR"):
            return True
        return is_terminal(stream) and environ.get("TERM") != "dumb"


def is_terminal(stream: IO[Any]) -> bool:
    """Whether a person sees at once what is written to a stream."""
    try:
        return stream.isatty()
    except (AttributeError, ValueError):
        return False


def width() -> int:
    """Columns of the page: those of the terminal or of COLUMNS, within reason."""
    import shutil

    columns = shutil.get_terminal_size((WIDTH_ELSEWHERE, 24)).columns
    return min(columns, WIDEST)


def note(text: str) -> None:
    """Tell the person at the terminal something that is not a result."""
    from evenhand.report.visible import visible

    # Nothing is lost where nobody can be told: code under test may have closed the stream.
    with contextlib.suppress(OSError, ValueError):
        print(visible(text), file=sys.stderr, flush=True)


def give_up_stdout() -> None:
    """Let what is still to be flushed go nowhere: the standard output failed, its last flush must not."""
    from evenhand.cli.reserved import stdout

    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stdout().fileno())
    except (OSError, ValueError):
        return
