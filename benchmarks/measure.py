"""Runs a command and measures it from outside."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple


class Measured(NamedTuple):
    """One execution: seconds of wall time and of processor time, peak memory in MB, exit code."""

    seconds: float
    cpu_seconds: float
    peak_mb: float
    exit_code: int


def measure(arguments: list[str], *, cwd: Path) -> Measured:
    """Run `python -m evenhand` with these arguments."""
    return measure_command([sys.executable, "-m", "evenhand", *arguments], cwd=cwd)


def measure_command(command: list[str], *, cwd: Path) -> Measured:
    """Run a command; its output goes to a scratch file, which is shown on a crash."""
    with tempfile.TemporaryFile() as output:
        started = time.perf_counter()
        child = subprocess.Popen(
            command,
            cwd=cwd,
            env=_environment(cwd),
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - started
        code = os.waitstatus_to_exitcode(status)
        child.returncode = code
        if code not in (0, 1):
            output.seek(0)
            raise SystemExit(
                f"{command} exited with {code}:\n{output.read().decode(errors='replace')[-4_000:]}"
            )
    return Measured(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1_024, code)


def _environment(cwd: Path) -> dict[str, str]:
    """This environment, with the state of runs in the folder.

    Bytecode may be written: an installed package has it, and compiling the sources takes as long as all the rest of
    a start.
    """
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**inherited, "EVENHAND_HOME": str(cwd / ".evenhand")}


def best_of(times: int, arguments: list[str], *, cwd: Path) -> Measured:
    """The fastest of several executions."""
    return min((measure(arguments, cwd=cwd) for _ in range(times)), key=lambda found: found.seconds)
