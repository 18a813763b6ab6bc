"""`evenhand export`."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.cli.options import suite_option
from evenhand.cli.terminal import note
from evenhand.errors import UsageError

if TYPE_CHECKING:
    from evenhand.model.result import Run
    from evenhand.report import Cases

SUFFIX = ".json.gz"


@click.command("export", short_help="Write a stored run into one file, to send or to keep.")
@click.argument("reference", metavar="[RUN]", default="latest")
@suite_option
@click.option(
    "--out",
    metavar="PATH",
    type=click.Path(path_type=Path),
    help="The file; by default the run's id with `.json.gz`. A name without `.gz` is not compressed.",
)
def command(reference: str, suite: Path, out: Path | None) -> None:
    """Write a stored run with all its results into one file, which `evenhand import-run` takes in elsewhere."""
    from evenhand.cli import stored

    with stored.opened(suite) as store:
        run = store.find(reference)
        path = out or Path(f"{run.run_id}{SUFFIX}")
        try:
            _write(path, run, stored.cases_of(run, store))
        except OSError as error:
            raise UsageError(f"{path}: cannot be written: {error.strerror or error}") from None
    note(f"wrote {path}")


def _write(path: Path, run: Run, cases: Cases) -> None:
    from evenhand.io.replacing import replacing
    from evenhand.report import json

    with replacing(path) as file:
        if path.suffix != ".gz":
            json.render(run, cases, file)
            return
        with (
            gzip.GzipFile(fileobj=file.buffer, mode="wb", filename="", mtime=0) as packed,
            io.TextIOWrapper(packed, encoding="utf-8", newline="\n") as text,
        ):
            json.render(run, cases, text)
