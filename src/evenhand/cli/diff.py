"""`evenhand diff`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from evenhand.cli.options import suite_option
from evenhand.cli.terminal import Terminal, width
from evenhand.errors import ExitCode

Show = Literal["regressions", "changed", "all", "none"]

MAX_SHOWN = 50
"""Cells that a section shows without `--full`."""

_SECTIONS: dict[str, tuple[str, ...]] = {
    "none": (),
    "regressions": ("newly_failing",),
    "changed": ("newly_failing", "newly_passing", "output_changed", "added", "removed"),
    "all": (
        "newly_failing", "newly_passing", "still_failing", "output_changed", "added", "removed", "unchanged",
    ),
}  # fmt: skip


@click.command("diff", short_help="Compare two runs: what got worse, what was mended, what changed.")
@click.argument("base")
@click.argument("head", default="latest")
@suite_option
@click.option(
    "--format",
    "format_name",
    type=click.Choice(["table", "md", "json"]),
    default="table",
    show_default=True,
    help="Form of the report.",
)
@click.option("--out", metavar="PATH", type=click.Path(path_type=Path), help="Write it to a file.")
@click.option(
    "--diffs",
    "show",
    type=click.Choice(list(_SECTIONS)),
    default="changed",
    show_default=True,
    help="Which cells to show one by one.",
)
@click.option("--config-diff", is_flag=True, help="Show also which settings of the suite differ.")
@click.option("--full", is_flag=True, help="Show every cell, and outputs whole.")
@click.pass_obj
def command(
    terminal: Terminal,
    base: str,
    head: str,
    suite: Path,
    format_name: str,
    out: Path | None,
    show: Show,
    config_diff: bool,
    full: bool,
) -> ExitCode:
    """Compare two runs: what got worse, what was mended, what changed.

    BASE and HEAD are run ids or their beginnings, `latest`, `branch:NAME` (the newest result of each case on that
    branch) or files that `--format json` wrote. Exits 1 if a case that passed in BASE does not pass in HEAD.
    """
    from evenhand.analysis.suite_diff import setting_changes
    from evenhand.cli import stored
    from evenhand.cli.reserved import stdout
    from evenhand.compare.references import SuiteIdentity, resolve
    from evenhand.io.replacing import replacing
    from evenhand.report.diff import FORMATS, Difference
    from evenhand.report.formats import Page
    from evenhand.report.gathered import gathered

    with stored.opened(suite) as store:
        after = resolve(head, store)
        identity = SuiteIdentity.of_run(after.newest)
        without = after.newest.run_id if len(after.runs) == 1 else None
        before = resolve(base, store, suite=identity, without=without)
        comparison, sections = gathered(before, after, _SECTIONS[show], MAX_SHOWN if not full else None)
        suites = (before.newest.config_snapshot, after.newest.config_snapshot)
        settings = list(setting_changes(*suites)) if config_diff else None
        difference = Difference(comparison, sections, settings, whole=full)
        render = FORMATS[format_name]
        if out is None:
            page = Page(width=width(), color=terminal.has_color(stdout()))
            render(difference, stdout(), page)
        else:
            with replacing(out) as file:
                render(difference, file, Page())
    return ExitCode.FAILED if comparison.newly_failing else ExitCode.OK
