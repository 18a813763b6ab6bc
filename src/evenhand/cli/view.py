"""`evenhand view`."""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.cli.options import suite_option
from evenhand.cli.outputs import Output, check_outputs, output_options, plan_outputs, write_outputs
from evenhand.cli.terminal import Terminal, is_terminal, note
from evenhand.errors import UsageError

if TYPE_CHECKING:
    from evenhand.report.detail import Past


@click.command("view", short_help="Look at stored runs in a browser, or at one in the terminal.")
@click.argument("reference", metavar="[RUN]", default="latest")
@suite_option
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    metavar="N",
    help="Where the pages are served on this machine; 0 takes any free port. Without it 8300.",
)
@click.option("--tty", is_flag=True, help="Print the run here, as `evenhand run` does.")
@click.option("--failed", is_flag=True, help="Print only what did not pass, every cell of it.")
@click.option(
    "--case",
    "selector",
    metavar="SEL",
    help="Print only this case, in full: a test id, a glob over ids, a case key.",
)
@output_options
@click.pass_obj
def command(
    terminal: Terminal,
    reference: str,
    suite: Path,
    port: int | None,
    tty: bool,
    failed: bool,
    selector: str | None,
    formats: tuple[str, ...],
    outs: tuple[str, ...],
) -> int:
    """Look at stored runs: all of them in a browser, or one in the terminal.

    In a terminal it serves pages on this machine alone until Ctrl-C, prints their address and opens them in the
    browser, if there is one with a window (BROWSER names another one, empty it means none). With `--tty`, an option
    that says what to print, or where nobody would see the address, it prints the run: the latest, or the one whose id
    (or its beginning) is given. Exits 0 whatever came out of the run.
    """
    prints = tty or failed or selector is not None or formats or outs
    if prints and port is not None:
        raise UsageError("--port serves pages; it cannot be combined with what prints a run")
    if port is not None or not (prints or not is_terminal(sys.stdout)):
        from evenhand.cli.viewer import serve_pages

        return serve_pages(suite, reference, port)
    return _printed(terminal, reference, suite, failed, selector, formats, outs)


def _printed(
    terminal: Terminal,
    reference: str,
    suite: Path,
    failed: bool,
    selector: str | None,
    formats: tuple[str, ...],
    outs: tuple[str, ...],
) -> int:
    from evenhand.cli import stored

    outputs = plan_outputs(formats, outs)
    check_outputs(outputs)
    with stored.opened(suite) as store:
        run = store.find(reference)
        page = stored.page_of(run, store, suite)
        cases = stored.cases_of(run, store)
        if selector is not None:
            cases = stored.chosen_cases(run, store, selector)
        if failed:
            cases = stored.not_passing(cases)
        if failed or selector is not None or run.exit_code is None:
            run = stored.recounted(run, cases)
        if failed and not run.summary.total:
            note(f"nothing failed or errored in run {run.run_id}")
        past = functools.partial(stored.before, run, store)
        return write_outputs(_in_part(outputs, selector, past, failed=failed), run, cases, terminal, page)


def _in_part(outputs: Sequence[Output], selector: str | None, past: Past, *, failed: bool) -> list[Output]:
    """The outputs with the table replaced by what suits a part: cells in full, or every failure in turn."""
    import msgspec

    from evenhand.report import detail, table
    from evenhand.report.formats import Render

    if selector is not None:
        render: Render = functools.partial(detail.render, past=past)
    elif failed:
        render = table.render_each
    else:
        return list(outputs)
    return [
        output._replace(report=msgspec.structs.replace(output.report, render=render))
        if output.report.follows_terminal
        else output
        for output in outputs
    ]
