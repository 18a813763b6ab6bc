"""The `evenhand` command, also as `python -m evenhand`."""

from __future__ import annotations

import os
import signal
import sys


def main() -> int:
    """Run the command line and return its exit code. The version is told before anything else is imported."""
    open_closed_streams()
    if sys.argv[1:] in (["--version"], ["-V"]):
        from evenhand.version import __version__

        try:
            os.write(1, f"evenhand {__version__}\n".encode())
        except OSError:
            return 3
        return 0
    from evenhand.cli.main import main as run_command_line
    from evenhand.cli.reserved import process_ends_with_the_command

    process_ends_with_the_command()
    # CI systems end a job with SIGTERM: what was started is ended and what finished is kept, as after Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    return run_command_line(sys.argv[1:])


def open_closed_streams() -> None:
    """Give the three standard numbers a meaning where whoever started this closed them.

    Else the next file that is opened gets such a number, and what is printed goes into it. Writing to a standard output
    that was closed fails, so that no report is lost in silence.
    """
    for number, mode in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)  # The lowest number that is free: this one.
    if sys.stdin is None:
        sys.stdin = os.fdopen(0, closefd=False)
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)


if __name__ == "__main__":
    sys.exit(main())
