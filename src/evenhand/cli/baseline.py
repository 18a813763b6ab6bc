"""`evenhand baseline`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.cli.options import suite_argument

if TYPE_CHECKING:
    from evenhand.compare.references import SuiteIdentity


@click.group("baseline", short_help="Name the run that a suite is compared with.")
def command() -> None:
    """Name the run that a suite is compared with by `--against baseline` and `evenhand diff baseline`."""


@command.command("show")
@suite_argument
def show(path: Path) -> int:
    """Show the suite's baseline. Exits 1 where none is named."""
    from evenhand.cli.terminal import note
    from evenhand.compare.pins import pinned
    from evenhand.errors import ExitCode

    state, suite = _of(path)
    reference = pinned(state, suite.path)
    if reference is None:
        note("no baseline is named; name one with `evenhand baseline set RUN`")
        return ExitCode.FAILED
    print(reference)
    return ExitCode.OK


@command.command("set")
@click.argument("reference", metavar="RUN")
@suite_argument
def set_(reference: str, path: Path) -> None:
    """Name the baseline: a run, `branch:NAME` or a file."""
    from evenhand.api import open_run_store
    from evenhand.compare.pins import pin
    from evenhand.compare.references import BRANCH, resolve
    from evenhand.errors import UsageError

    state, suite = _of(path)
    if reference == "baseline":
        raise UsageError("the baseline cannot be itself; name a run")
    with open_run_store(Path(suite.path).parent) as store:
        found = resolve(reference, store, suite=suite)
    # A run stays what it is by its id; `latest` would be another one tomorrow.
    is_run = len(found.runs) == 1 and not reference.startswith(BRANCH) and found.store is store
    named = found.label if is_run else reference
    if found.store is not store:
        named = str(Path(reference).resolve())
    pin(state, suite.path, named)
    print(named)


@command.command("clear")
@suite_argument
def clear(path: Path) -> None:
    """Forget the baseline."""
    from evenhand.compare.pins import pin

    state, suite = _of(path)
    pin(state, suite.path, None)


def _of(path: Path) -> tuple[Path, SuiteIdentity]:
    """The state folder and the identity of the suite at a path."""
    import os

    from evenhand.compare.references import SuiteIdentity
    from evenhand.config.locate_suite import locate_suite
    from evenhand.store.state import create_state_directory, state_directory

    file = locate_suite(path)
    state = state_directory(file.parent, os.environ)
    create_state_directory(state)
    return state, SuiteIdentity(str(file.resolve()))
