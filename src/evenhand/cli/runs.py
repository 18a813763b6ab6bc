"""`evenhand runs`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.cli.options import suite_option

if TYPE_CHECKING:
    from evenhand.model.result import Run

_DAYS = {"h": 1 / 24, "d": 1.0, "w": 7.0}
_PERIOD = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)([hdw])")


def _days(ctx: click.Context, param: click.Parameter, value: str) -> float:
    """A length of time such as `90d`, as days."""
    found = _PERIOD.fullmatch(value)
    if found is None:
        raise click.BadParameter(
            f"{value!r} is not a period; write hours, days or weeks as in 12h, 90d, 4w", ctx, param
        )
    return float(found[1]) * _DAYS[found[2]]


@click.group("runs", short_help="List, delete and prune stored runs.", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List, delete and prune stored runs. Alone it lists them."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_runs)


@command.command("list")
@suite_option
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    default=20,
    show_default=True,
    help="The newest N runs.",
)
@click.option("--all", "all_runs", is_flag=True, help="All runs.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print a JSON array of run documents without their cases."
)
def list_runs(suite: Path, limit: int, all_runs: bool, as_json: bool) -> None:
    """List stored runs, the newest first."""
    from evenhand.cli import stored
    from evenhand.cli.columns import print_columns, print_json_array
    from evenhand.cli.terminal import note

    with stored.opened(suite) as store:
        runs = store.runs(limit=None if all_runs else limit)
        if as_json:
            print_json_array(runs)
        elif not print_columns(
            ("run", "started", "suite", "outcome", "cells", "passed", "failed", "errored"), map(_row, runs)
        ):
            note(
                "there are no runs of this project yet; start one with `evenhand run`, or say whose are meant with "
                "`--suite PATH`"
            )


@command.command("delete")
@click.argument("references", metavar="RUN...", nargs=-1, required=True)
@suite_option
def delete(references: tuple[str, ...], suite: Path) -> None:
    """Delete runs with all their results, by their ids or the beginnings of these."""
    from evenhand.cli import stored

    with stored.opened(suite) as store:
        # Every run is found before the first is gone.
        for run in {run.run_id: run for run in map(store.find, references)}.values():
            store.delete(run.run_id)
            print(f"deleted {run.run_id} of {run.started_at}")


@command.command("prune")
@click.option(
    "--keep",
    callback=_days,
    required=True,
    metavar="PERIOD",
    help="Keep runs of this period, as in 90d, 4w or 12h.",
)
@suite_option
def prune(keep: float, suite: Path) -> None:
    """Delete every run that was begun before a period."""
    from evenhand.cli import stored
    from evenhand.report.figures import counted

    with stored.opened(suite) as store:
        print(f"deleted {counted(store.prune(keep_days=keep), 'run')}")


def _row(run: Run) -> tuple[str, ...]:
    from evenhand.report.figures import headline

    summary = run.summary
    counts = (
        summary.total,
        summary.passed + summary.xfailed,
        summary.failed + summary.xpassed,
        summary.errored,
    )
    return (
        run.run_id,
        run.started_at[:16].replace("T", " "),
        run.suite or run.project or run.suite_path,
        headline(run).word.lower(),
        *(f"{count:,}" for count in counts),
    )
