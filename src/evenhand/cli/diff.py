"""`evenhand diff`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from evenhand.cli.locate import suite_option
from evenhand.cli.terminal import Terminal, width
from evenhand.errors import ExitCode

if TYPE_CHECKING:
    from evenhand.analysis.compare import CaseDiff
    from evenhand.compare.references import Reference
    from evenhand.model.comparison import Comparison
    from evenhand.report.changed_case import ChangedCase
    from evenhand.report.diff import Section

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
    full: bool,
) -> ExitCode:
    """Compare two runs: what got worse, what was mended, what changed.

    BASE and HEAD are run ids or their beginnings, `latest`, `branch:NAME` (the newest result of each case on that
    branch) or files that `--format json` wrote. Exits 1 if a case that passed in BASE does not pass in HEAD.
    """
    from evenhand.cli import stored
    from evenhand.cli.reserved import stdout
    from evenhand.compare.references import SuiteIdentity, resolve
    from evenhand.io.replacing import replacing
    from evenhand.report.diff import FORMATS
    from evenhand.report.formats import Page

    with stored.opened(suite) as store:
        after = resolve(head, store)
        identity = SuiteIdentity.of_run(after.newest)
        without = after.newest.run_id if len(after.runs) == 1 else None
        before = resolve(base, store, suite=identity, without=without)
        comparison, sections = gathered(before, after, _SECTIONS[show], MAX_SHOWN if not full else None)
        render = FORMATS[format_name]
        if out is None:
            page = Page(width=width(), color=terminal.has_color(stdout()))
            render(comparison, sections, stdout(), page, whole=full)
        else:
            with replacing(out) as file:
                render(comparison, sections, file, Page(), whole=full)
    return ExitCode.FAILED if comparison.newly_failing else ExitCode.OK


def gathered(
    before: Reference, after: Reference, names: tuple[str, ...], limit: int | None
) -> tuple[Comparison, list[Section]]:
    """The counts, and the sections with the changes to show: their texts are read when they are shown."""
    from evenhand.analysis.compare import CompareFold
    from evenhand.compare.changes import changes
    from evenhand.report.diff import Section

    fold = CompareFold()
    kept: dict[str, list[CaseDiff]] = {name: [] for name in names}
    totals = dict.fromkeys(names, 0)
    for change in changes(before, after):
        fold.add(*change)
        for name in _sections_of(change.diff):
            if name in kept:
                totals[name] += 1
                if limit is None or totals[name] <= limit:
                    kept[name].append(change.diff)
    comparison = fold.comparison(base=before.label, base_runs=before.run_ids, head=after.label)
    sections = [
        Section(name, _Shown(before, after, kept[name]), totals[name], totals[name] - len(kept[name]))
        for name in names
        if totals[name]
    ]
    return comparison, sections


def _sections_of(diff: CaseDiff) -> Iterator[str]:
    if diff.output_changed and diff.delta in ("unchanged", "still_failing"):
        yield "output_changed"
        if diff.delta == "unchanged":
            return
    yield diff.delta.value


class _Shown:
    """The changes of a section with their results, read one at a time."""

    def __init__(self, before: Reference, after: Reference, diffs: list[CaseDiff]) -> None:
        self._before = before
        self._after = after
        self._diffs = diffs

    def __iter__(self) -> Iterator[ChangedCase]:
        from evenhand.compare.changes import both_results
        from evenhand.report.changed_case import ChangedCase

        base, head = self._before.documents(), self._after.documents()
        for diff in self._diffs:
            yield ChangedCase(diff, *both_results(base, head, diff.case_key))
