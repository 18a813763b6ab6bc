"""`evenhand rescore`."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.cli.diff import MAX_SHOWN
from evenhand.cli.options import against_option, allow_outside_option, concurrency_option
from evenhand.cli.outputs import check_outputs, output_options, plan_outputs, write_outputs
from evenhand.cli.terminal import Terminal, note, width
from evenhand.errors import ExitCode

if TYPE_CHECKING:
    from evenhand.compare.references import Reference

_VERDICTS = ("newly_failing", "newly_passing", "added", "removed")


@click.command("rescore", short_help="Judge the stored answers of a run again, by the suite as it is now.")
@click.argument("reference", metavar="[RUN]", default="latest")
@click.option(
    "--suite",
    "path",
    default=".",
    show_default="this folder",
    type=click.Path(path_type=Path),
    help="The suite to judge by.",
)
@against_option
@concurrency_option
@click.option("--full", is_flag=True, help="Show every changed verdict.")
@output_options
@allow_outside_option
@click.pass_obj
def command(
    terminal: Terminal,
    reference: str,
    path: Path,
    against: str | None,
    concurrency: int | None,
    full: bool,
    formats: tuple[str, ...],
    outs: tuple[str, ...],
    allow_outside: tuple[Path, ...],
) -> int:
    """Judge the stored answers of a run again, by the suite as it is now: its assertions, thresholds, rubrics, prices.

    No system under test is called. What is found is stored as a new run, and the verdicts that changed are shown
    unless `--format` or `--out` ask for a report. Exits as `evenhand run` does. A case whose question changed ends as
    `cache_miss`.
    """
    from evenhand.api import RunOptions, execute_run, open_run_store
    from evenhand.cli import stored
    from evenhand.cli.progress import end_line
    from evenhand.cli.reserved import reserved_to_the_end
    from evenhand.cli.suites import loaded
    from evenhand.compare.references import Reference

    outputs = plan_outputs(formats, outs)
    check_outputs(outputs)
    suite = loaded(path, allow_outside=allow_outside)
    check_outputs(outputs, suite.path)
    with reserved_to_the_end(), contextlib.closing(open_run_store(suite.directory)) as store:
        origin = store.find(reference, suite_path=suite.path.resolve())
        options = RunOptions(rescore=origin.run_id, against=against, concurrency=concurrency)
        run = asyncio.run(execute_run(suite, options, store=store))
        code = ExitCode.OK
        if formats or outs:
            page = stored.page_of(run, store, path)
            code = write_outputs(outputs, run, stored.cases_of(run, store), terminal, page)
        else:
            before = Reference(origin.run_id, (origin,), store)
            _show(before, Reference(run.run_id, (run,), store), terminal, full)
        note(end_line(run))
    return max(code, run.exit_code or 0)


def _show(before: Reference, after: Reference, terminal: Terminal, full: bool) -> None:
    from evenhand.cli.reserved import stdout
    from evenhand.report.diff import Difference, table
    from evenhand.report.formats import Page
    from evenhand.report.gathered import gathered

    comparison, sections = gathered(before, after, _VERDICTS, None if full else MAX_SHOWN)
    page = Page(width=width(), color=terminal.has_color(stdout()))
    table(Difference(comparison, sections, whole=full), stdout(), page)
