from __future__ import annotations

import subprocess
import sys

import click
import pytest

from evenhand.cli import main as entry
from evenhand.errors import ErrorClass, ExitCode, Problem, ProviderError, StoreError, SuiteError, UsageError
from evenhand.version import __version__


@pytest.mark.parametrize("name", entry.COMMANDS)
def test_overview_says_of_a_command_what_its_own_help_says(name: str) -> None:
    command = entry.cli.get_command(click.Context(entry.cli), name)
    assert command is not None
    assert command.short_help == entry.COMMANDS[name].help
    assert command.name == name


@pytest.mark.parametrize("name", entry.COMMANDS)
def test_every_command_has_help_and_every_option_of_it_too(evenhand, name: str) -> None:
    done = evenhand(name, "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"Usage: evenhand {name} ")
    command = entry.cli.get_command(click.Context(entry.cli), name)
    assert command is not None
    assert [p.name for p in command.params if isinstance(p, click.Option) and not p.help] == []


def test_overview_lists_every_command(evenhand) -> None:
    done = evenhand("--help")
    assert done.code == 0
    assert all(f"  {name} " in done.out for name in entry.COMMANDS)


def test_version_is_told_by_every_way_in(evenhand) -> None:
    assert evenhand("--version").out == f"evenhand {__version__}\n"
    done = subprocess.run(
        [sys.executable, "-m", "evenhand", "-V"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"evenhand {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rnu"], "error: no command 'rnu'; did you mean 'run'?; see `evenhand --help`\n"),
        (["qqqq"], "error: no command 'qqqq'; there are init, run, validate, list"),
        (["--colour", "auto", "run"], "error: No such option"),
        (["--color", "blue", "run"], "error: Invalid value for '--color'"),
        (["runs", "list", "extra"], "see `evenhand runs list --help`\n"),
    ],
)
def test_wrong_command_lines_exit_2_with_one_line(evenhand, arguments: list[str], message: str) -> None:
    done = evenhand(*arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("arguments", [[], ["list"]])
def test_a_group_without_command_shows_its_help_and_exits_2(evenhand, arguments: list[str]) -> None:
    done = evenhand(*arguments)
    assert done.code == 2
    assert "Commands:" in done.out + done.err


@pytest.fixture
def raising(evenhand, monkeypatch: pytest.MonkeyPatch):
    """Calls a command that raises what it is given."""

    def call(error: BaseException, *before: str):
        @click.command()
        def command() -> None:
            raise error

        monkeypatch.setattr(entry.LazyGroup, "get_command", lambda self, ctx, name: command)
        return evenhand(*before, "run")

    return call


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (UsageError("no run 'x'"), 2, "error: no run 'x'\n"),
        (StoreError("is locked"), 3, "error: is locked\n"),
        (ProviderError("gone", ErrorClass.PROVIDER_UNAVAILABLE), 3, "error: gone\n"),
        (
            SuiteError([Problem("a"), Problem("b", ("tests", 0))]),
            2,
            "a\ntests[0]: b\nerror: 2 problems found\n",
        ),
        (UsageError("two\nlines \x1b[2J"), 2, "error: two\\nlines \\x1b[2J\n"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (click.Abort(), 130, "interrupted\n"),
    ],
)
def test_expected_errors_are_told_without_traceback(
    raising, error: BaseException, code: int, text: str
) -> None:
    done = raising(error)
    assert (done.code, done.out, done.err) == (code, "", text)


@pytest.mark.parametrize(
    "error",
    [RuntimeError("boom"), OSError(2, "no such file", "x"), RecursionError("deep"), SystemExit(0)],
)
def test_unexpected_errors_keep_their_traceback_and_ask_for_a_report(raising, error: Exception) -> None:
    done = raising(error)
    assert done.code == ExitCode.HARNESS
    assert "Traceback" in done.err
    assert done.err.endswith(
        f"error: this is a fault of evenhand {__version__}; please report it with the lines above\n"
    )


def test_expected_errors_show_their_traceback_where_more_is_asked_for(raising) -> None:
    done = raising(UsageError("no run 'x'"), "-v")
    assert "Traceback" in done.err
    assert done.err.endswith("error: no run 'x'\n")


def test_a_reader_that_goes_away_is_told_as_shells_do() -> None:
    done = subprocess.run(
        f"{sys.executable} -m evenhand schema suite | true; exit ${{PIPESTATUS[0]}}",
        shell=True,
        executable="/bin/bash",
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode in (0, entry.CLOSED_PIPE)
    assert done.stderr == ""


def test_a_full_disk_is_told_in_one_line() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "evenhand", "schema", "run"],
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=180,
            check=False,
        )
    assert done.returncode == 3
    assert done.stderr == b"error: the standard output cannot be written: No space left on device\n"


@pytest.mark.parametrize("arguments", ["schema run", "--version", "run --help"])
def test_standard_output_that_is_closed_is_no_fault_of_ours(arguments: str) -> None:
    done = subprocess.run(
        f"{sys.executable} -m evenhand {arguments} >&- <&-",
        shell=True,
        executable="/bin/bash",
        stderr=subprocess.PIPE,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 3
    assert done.stderr in ("", "error: the standard output cannot be written: Bad file descriptor\n")


def test_standard_error_that_is_closed_changes_no_exit_code() -> None:
    done = subprocess.run(
        f"{sys.executable} -m evenhand validate nowhere 2>&-",
        shell=True,
        executable="/bin/bash",
        timeout=180,
        check=False,
    )
    assert done.returncode == 2


def test_names_that_the_terminal_cannot_show_are_escaped() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "evenhand", "validate", "ünknown-猫"],
        capture_output=True,
        env={"PYTHONIOENCODING": "ascii", "PYTHONPATH": ":".join(sys.path)},
        timeout=180,
        check=False,
    )
    assert done.returncode == 2
    assert b"\\xfcnknown-\\u732b" in done.stderr
