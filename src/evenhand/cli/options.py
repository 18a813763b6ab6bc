"""Options and arguments that several commands have."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

Function = TypeVar("Function", bound=Callable[..., object])

AT_LEAST_ONE = click.IntRange(min=1)


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


def against_option(function: Function) -> Function:
    """The option `--against` of commands that end in a comparison."""
    return click.option(
        "--against",
        metavar="REF",
        help="Compare with a run's id, `latest`, `baseline`, `branch:NAME`, a run file, or `none`.",
    )(function)


def concurrency_option(function: Function) -> Function:
    """The option `--concurrency` of commands that run a suite."""
    return click.option(
        "-j", "--concurrency", type=AT_LEAST_ONE, metavar="N", help="Cells in flight at once."
    )(function)


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
