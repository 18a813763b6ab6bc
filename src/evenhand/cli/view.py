"""`evenhand view`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from evenhand.cli.locate import suite_option
from evenhand.cli.outputs import Output, check_outputs, output_options, plan_outputs, write_outputs
from evenhand.cli.terminal import Terminal, note


@click.command("view", short_help="Look at a stored run again, whole or in part.")
@click.argument("reference", metavar="[RUN]", default="latest")
@suite_option
@click.option("--failed", is_flag=True, help="Only what did not pass, every cell of it.")
@click.option(
    "--case",
    "selector",
    metavar="SEL",
    help="Only this case, in full: a test id, a glob over ids, a case key.",
)
@output_options
@click.pass_obj
def command(
    terminal: Terminal,
    reference: str,
    suite: Path,
    failed: bool,
    selector: str | None,
    formats: tuple[str, ...],
    outs: tuple[str, ...],
) -> int:
    """Look at a stored run again: the latest, or the one whose id (or its beginning) is given.

    Exits 0 whatever came out of the run.
    """
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
        return write_outputs(_in_part(outputs, selector, failed=failed), run, cases, terminal, page)


def _in_part(outputs: Sequence[Output], selector: str | None, *, failed: bool) -> list[Output]:
    """The outputs with the table replaced by what suits a part: cells in full, or every failure in turn."""
    import msgspec

    from evenhand.report import detail, table

    if selector is not None:
        render = detail.render
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
