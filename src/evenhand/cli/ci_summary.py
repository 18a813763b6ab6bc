"""`evenhand ci-summary`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from evenhand.cli.options import suite_option
from evenhand.cli.terminal import note


@click.command("ci-summary", short_help="Add a stored run to the summary and outputs of a CI job.")
@click.argument("reference", metavar="[RUN]", default="latest")
@suite_option
def command(reference: str, suite: Path) -> int:
    """Add a stored run to the summary and the step outputs of a job of GitHub Actions.

    Elsewhere it prints the same Markdown. It exits 0 whatever came out of the run: what blocks a change is the exit
    code of `evenhand run`.
    """
    from evenhand.cli import stored
    from evenhand.cli.reserved import stdout
    from evenhand.report import github, md

    with stored.opened(suite) as store:
        run = store.find(reference)
        cases, page = stored.cases_of(run, store), stored.page_of(run, store, suite)
        if run.exit_code is None:
            run = stored.recounted(run, cases)
        if github.add_to_job(run, cases, page, os.environ):
            note(f"run {run.run_id} is in the job's summary and outputs")
        else:
            md.render(run, cases, stdout(), page)
    return 0
