"""The `evenhand` command, also as `python -m evenhand`."""

from __future__ import annotations

import signal
import sys


def main() -> int:
    """Run the command line and return its exit code. The version is told before anything else is imported."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from evenhand.version import __version__

        sys.stdout.write(f"evenhand {__version__}\n")
        return 0
    from evenhand.cli.main import main as run_command_line
    from evenhand.cli.reserved import process_ends_with_the_command

    process_ends_with_the_command()
    # CI systems end a job with SIGTERM: what was started is ended and what finished is kept, as after Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    return run_command_line(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
