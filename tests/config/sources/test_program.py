"""Programs are bounded in time and size, whatever they do with their streams and children."""

from __future__ import annotations

import io
import os
import sys
import time
from pathlib import Path

import pytest

from evenhand.config.sources.program import STDERR_TAIL_BYTES, Finished, run_program

GUARD_S = 30.0
"""No run in this file may need longer, on any machine."""


def run(
    folder: Path,
    script: str,
    *,
    document: bytes = b"",
    timeout_ms: float = 20_000,
    limit_bytes: int = 10_000_000,
) -> tuple[Finished, bytes]:
    output = io.BytesIO()
    started = time.monotonic()
    finished = run_program(
        [sys.executable, "-c", script],
        directory=folder,
        environment={**os.environ, "EVENHAND_TEST": "yes"},
        document=document,
        output=output,
        timeout_ms=timeout_ms,
        output_limit_bytes=limit_bytes,
    )
    assert time.monotonic() - started < GUARD_S
    return finished, output.getvalue()


def is_running(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until_gone(pid: int) -> bool:
    deadline = time.monotonic() + GUARD_S
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not is_running(pid)


def test_document_goes_in_and_output_comes_out(tmp_path: Path) -> None:
    script = "import sys, os; print(os.getcwd(), os.environ['EVENHAND_TEST'], sys.stdin.read())"
    finished, output = run(tmp_path, script, document=b"hello")
    assert finished == Finished("", False, "")
    assert output.decode() == f"{tmp_path} yes hello\n"


def test_large_streams_in_both_directions_do_not_block(tmp_path: Path) -> None:
    script = "import sys; data = sys.stdin.buffer.read(); sys.stderr.write('e' * 300000); sys.stdout.buffer.write(data)"
    document = b"x" * 3_000_000
    finished, output = run(tmp_path, script, document=document)
    assert output == document
    assert finished.stderr_tail == "e" * STDERR_TAIL_BYTES


def test_program_that_reads_nothing_is_no_failure(tmp_path: Path) -> None:
    finished, output = run(tmp_path, "print('ok')", document=b"x" * 1_000_000)
    assert (finished.failure, output) == ("", b"ok\n")


def test_exit_code_and_last_words_are_told(tmp_path: Path) -> None:
    finished, _ = run(tmp_path, "import sys; print('oh no', file=sys.stderr); sys.exit(3)")
    assert finished == Finished("exited with code 3", False, "oh no")


def test_death_by_signal_is_told(tmp_path: Path) -> None:
    finished, _ = run(tmp_path, "import os; os.abort()")
    assert finished.failure == "was killed by SIGABRT"


def test_program_that_hangs_is_killed_with_what_it_started(tmp_path: Path) -> None:
    script = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "print(child.pid, flush=True); time.sleep(600)"
    )
    finished, output = run(tmp_path, script, timeout_ms=4_000)
    assert finished.failure == "did not finish within 4,000 ms"
    assert wait_until_gone(int(output))


def test_program_that_ignores_signals_is_killed(tmp_path: Path) -> None:
    script = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    finished, _ = run(tmp_path, script, timeout_ms=1_000)
    assert finished.failure == "did not finish within 1,000 ms"


def test_endless_output_is_stopped_at_the_limit(tmp_path: Path) -> None:
    script = "while True: print('x' * 1000)"
    finished, output = run(tmp_path, script, limit_bytes=100_000)
    assert finished.failure == "printed more than 100,000 bytes"
    assert finished.is_too_large
    assert len(output) <= 100_000


def test_child_left_behind_with_the_streams_is_not_waited_for(tmp_path: Path) -> None:
    script = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "print(child.pid)"
    )
    finished, output = run(tmp_path, script)
    assert finished.failure == ""
    assert wait_until_gone(int(output))


@pytest.mark.parametrize("words", [["/none/such"], ["./none"], ["/etc/passwd"]])
def test_program_that_cannot_be_started_raises(tmp_path: Path, words: list[str]) -> None:
    with pytest.raises(OSError, match=r"No such file|Permission denied"):
        run_program(
            words,
            directory=tmp_path,
            environment={},
            document=b"",
            output=io.BytesIO(),
            timeout_ms=1000,
            output_limit_bytes=1000,
        )
