"""Signals for processes that tests start."""

from __future__ import annotations

import signal


def heed_interrupts() -> None:
    """Let a child hear Ctrl-C, which tests that run in the background ignore and would hand down so."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
