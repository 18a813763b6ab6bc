"""`evenhand import-run`."""

from __future__ import annotations

from pathlib import Path

import click

from evenhand.cli.locate import suite_directory
from evenhand.cli.options import suite_option
from evenhand.cli.terminal import note
from evenhand.errors import UsageError


@click.command("import-run", short_help="Take a run from a file into the store.")
@click.argument("file", type=click.Path(path_type=Path))
@suite_option
@click.option("--replace", is_flag=True, help="Take the place of a stored run with the same id.")
def command(file: Path, suite: Path, replace: bool) -> None:
    """Take a run from a file into the store: one of `evenhand export`, or a document of `--format json`."""
    from evenhand.api import open_run_store
    from evenhand.compare.run_file import read_run_file

    run, held = read_run_file(file)
    with held, open_run_store(suite_directory(suite)) as store:
        if any(other.run_id == run.run_id for other in store.runs()):
            if not replace:
                raise UsageError(f"run {run.run_id} is stored already; take its place with `--replace`")
            store.delete(run.run_id)
        writer = store.begin(run)
        for case in held.results(run.run_id):
            writer.add(case)
        writer.finish(run)
    note(f"run {run.run_id} is in the store: evenhand view {run.run_id}")
