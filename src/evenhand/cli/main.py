"""The entry of the command line: which commands there are, and what every error becomes."""

from __future__ import annotations

import errno
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, cast

import click

from evenhand.cli.reserved import stdout
from evenhand.cli.terminal import Terminal, give_up_stdout, note
from evenhand.errors import EvenhandError, ExitCode, SuiteError
from evenhand.version import __version__

CLOSED_PIPE = 128 + 13
"""Exit code where the reader of our output went away, as shells report SIGPIPE."""

_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EBADF)


class Entry(NamedTuple):
    """Where a command is found when it is called, and what the overview says of it."""

    module: str
    help: str


COMMANDS: dict[str, Entry] = {
    "init": Entry("evenhand.cli.init", "Write a small suite that runs at once, to start from."),
    "run": Entry("evenhand.cli.run", "Run a suite and report what held and what did not."),
    "validate": Entry("evenhand.cli.validate", "Find everything that is wrong with a suite; runs nothing."),
    "list": Entry("evenhand.cli.list", "Show what a suite resolves to, and the assertions there are."),
    "view": Entry("evenhand.cli.view", "Look at stored runs in a browser, or at one in the terminal."),
    "rescore": Entry(
        "evenhand.cli.rescore", "Judge the stored answers of a run again, by the suite as it is now."
    ),
    "calibrate": Entry("evenhand.cli.calibrate", "Compare the suite's judge with labels of people."),
    "diff": Entry("evenhand.cli.diff", "Compare two runs: what got worse, what was mended, what changed."),
    "baseline": Entry("evenhand.cli.baseline", "Name the run that a suite is compared with."),
    "runs": Entry("evenhand.cli.runs", "List, delete and prune stored runs."),
    "export": Entry("evenhand.cli.export", "Write a stored run into one file, to send or to keep."),
    "import-run": Entry("evenhand.cli.import_run", "Take a run from a file into the store."),
    "ci-summary": Entry(
        "evenhand.cli.ci_summary", "Add a stored run to the summary and outputs of a CI job."
    ),
    "cache": Entry("evenhand.cli.cache", "Look at kept answers, explain them, and throw them away."),
    "schema": Entry("evenhand.cli.schema", "Print the JSON Schema of a suite or of a run document."),
    "doctor": Entry("evenhand.cli.doctor", "Check what evenhand needs on this machine."),
}
"""Every command in the order of the overview. Each module has the command as `command`."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called: the overview must come at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        return cast(click.Command, importlib.import_module(entry.module).command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            from evenhand.registry import nearest

            close = nearest(name, COMMANDS)
            hint = f"did you mean {close!r}?" if close else f"there are {', '.join(COMMANDS)}"
            raise click.UsageError(f"no command {name!r}; {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in COMMANDS.items()])


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 all that was checked held, 1 something did not, 2 the suite or the command is wrong, "
    "3 the machinery broke, 130 interrupted.",
)
@click.option("-v", "--verbose", is_flag=True, help="Say more on the standard error.")
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Whether to colour what is printed.",
)
@click.version_option(__version__, "-V", "--version", message="evenhand %(version)s")
@click.pass_context
def cli(ctx: click.Context, verbose: bool, color: str) -> None:
    """Test systems built on language models.

    A suite names providers, prompts, cases and assertions; evenhand runs every combination and says in one exit code
    whether the system got worse, the suite is wrong, or the machinery broke.
    """
    ctx.obj = Terminal("always" if color == "always" else "never" if color == "never" else "auto")
    if verbose:
        _log()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code of the process. Prints every error; raises none."""
    _tame_streams()
    if not _has_current_folder():
        return ExitCode.SUITE
    verbose = False
    try:
        with cli.make_context("evenhand", list(sys.argv[1:] if arguments is None else arguments)) as context:
            verbose = bool(context.params.get("verbose"))
            code = cli.invoke(context)
        stdout().flush()
        return code if isinstance(code, int) else ExitCode.OK
    except click.exceptions.Exit as end:
        return end.exit_code
    except (KeyboardInterrupt, click.Abort):
        note("interrupted")
        return ExitCode.INTERRUPTED
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return ExitCode.SUITE
    except click.ClickException as error:
        where = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "evenhand"
        note(f"error: {error.format_message().rstrip('.')}; see `{where} --help`")
        return ExitCode.SUITE
    except EvenhandError as error:
        if verbose:
            _print_traceback()
        _explain(error)
        return error.exit_code
    except BrokenPipeError:
        give_up_stdout()
        return CLOSED_PIPE
    except OSError as error:
        if error.errno not in _UNWRITABLE:
            return _report_fault()
        give_up_stdout()
        note(f"error: the standard output cannot be written: {error.strerror}")
        return ExitCode.HARNESS
    except BaseException:  # noqa: BLE001  (a `SystemExit` of code under test too: only a verdict may end with 0)
        return _report_fault()


def _has_current_folder() -> bool:
    """Whether there is a folder that relative paths start from; it may have been removed under a shell."""
    try:
        Path.cwd()
    except OSError as error:
        note(f"error: the current folder cannot be used: {error.strerror}; change into one that exists")
        return False
    return True


def _explain(error: EvenhandError) -> None:
    if not isinstance(error, SuiteError):
        note(f"error: {error}")
        return
    for problem in error.problems:
        note(str(problem))
    count = len(error.problems)
    note(f"error: {count:,} {'problem' if count == 1 else 'problems'} found")


def _report_fault() -> int:
    """Show an exception that nobody expected, with its traceback."""
    _print_traceback()
    note(f"error: this is a fault of evenhand {__version__}; please report it with the lines above")
    return ExitCode.HARNESS


def _print_traceback() -> None:
    import traceback

    traceback.print_exc()


def _tame_streams() -> None:
    """Whatever a suite or a model is called, printing its name never fails."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _log() -> None:
    import logging

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    logger = logging.getLogger("evenhand")
    logger.handlers = [handler]
    logger.setLevel(logging.INFO)
