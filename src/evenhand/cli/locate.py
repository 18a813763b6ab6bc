"""Where the runs of a suite are, from what a person typed."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from evenhand.model.result import Run

Function = TypeVar("Function", bound=Callable[..., object])


def suite_argument(function: Function) -> Function:
    """The argument PATH: a suite file, or a folder with one."""
    return click.argument("path", default=".", type=click.Path(path_type=Path))(function)


def suite_option(function: Function) -> Function:
    """The option `--suite` of commands that look at stored runs."""
    return click.option(
        "--suite",
        "suite",
        default=".",
        show_default="this folder",
        type=click.Path(path_type=Path),
        help="A suite, or a folder in or under the project whose runs are meant.",
    )(function)


def cache_dir_option(function: Function) -> Function:
    """The option `--cache-dir` of commands that use or show kept answers."""
    return click.option(
        "--cache-dir",
        metavar="DIR",
        envvar="EVENHAND_CACHE_DIR",
        show_envvar=True,
        help="Folder of the kept answers; by default one in the state folder.",
    )(function)


def suite_directory(path: Path) -> Path:
    """The folder that a suite's path stands for; the path itself need not exist."""
    return path if path.is_dir() else path.parent


def view_command(run: Run, suite_path: Path, environ: Mapping[str, str] = os.environ) -> str:
    """The command that shows a run again from the folder in which we are."""
    from evenhand.store.state import state_directory

    command = f"evenhand view {run.run_id}"
    directory = suite_directory(suite_path)
    if state_directory(directory, environ) == state_directory(Path(), environ):
        return command
    return f"{command} --suite {shlex.quote(str(suite_path))}"


def shown_path(path: Path) -> str:
    """A path as a person knows it: from this folder, or from home."""
    if path.is_relative_to(Path.cwd()):
        return str(path.relative_to(Path.cwd()))
    home = Path(os.path.expanduser("~"))  # noqa: PTH111  (`Path.home` raises where there is none)
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def allow_outside_option(function: Function) -> Function:
    """The option `--allow-outside` of commands that load a suite."""
    return click.option(
        "--allow-outside",
        metavar="DIR",
        multiple=True,
        type=click.Path(path_type=Path),
        help="A folder outside the project that the suite may read from. Repeatable.",
    )(function)


def sandbox_options(function: Function) -> Function:
    """The options of commands that can load a suite from a stranger."""
    for option in (
        click.option(
            "--allow-host",
            "allow_hosts",
            metavar="HOST",
            multiple=True,
            help="With --sandbox: call this host too, as name or name:port. Repeatable.",
        ),
        click.option(
            "--allow-env",
            "allow_env",
            metavar="NAME",
            multiple=True,
            help="With --sandbox: let the suite see and send this environment variable. Repeatable.",
        ),
        click.option(
            "--allow-scripts",
            is_flag=True,
            help="With --sandbox: run scripts in files under Node's permissions.",
        ),
        click.option(
            "--sandbox",
            is_flag=True,
            help="The suite is from a stranger: no programs, no Python, no other hosts.",
        ),
    ):
        function = option(function)
    return function
