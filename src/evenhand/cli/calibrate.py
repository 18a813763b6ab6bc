"""`evenhand calibrate`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from evenhand.cli.options import allow_outside_option, suite_argument
from evenhand.errors import ExitCode


@click.command("calibrate", short_help="Compare the suite's judge with labels of people.")
@click.argument("labels", type=click.Path(path_type=Path))
@suite_argument
@click.option("--rubric", metavar="TEXT", help="The rubric for labels that name none.")
@click.option(
    "--repeat",
    type=click.IntRange(min=1, max=100),
    default=3,
    show_default=True,
    metavar="N",
    help="Ask the judge N times about each answer.",
)
@click.option("-j", "--concurrency", type=click.IntRange(min=1), metavar="N", help="Questions at once.")
@click.option("--no-cache", is_flag=True, help="Ask again also where the judge's verdict is kept.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@allow_outside_option
def command(
    labels: Path,
    path: Path,
    rubric: str | None,
    repeat: int,
    concurrency: int | None,
    no_cache: bool,
    as_json: bool,
    allow_outside: tuple[Path, ...],
) -> ExitCode:
    """Compare the suite's judge with labels of people, and keep how it errs.

    LABELS is a CSV or JSONL file with `output` and `label` (pass or fail) and, where wanted, `id`, `rubric` and
    `prompt`; rows with one `id` are labels of several people. Later runs with the same judge show their pass rate
    corrected for its errors.
    """
    import os

    from evenhand.api import RunOptions
    from evenhand.cache.opening import cache_directory
    from evenhand.calibration.labels import read_labels
    from evenhand.calibration.run import calibrate
    from evenhand.cli.reserved import reserved_to_the_end, stdout
    from evenhand.cli.suites import loaded
    from evenhand.report.calibration import lines
    from evenhand.report.encode import json_line
    from evenhand.report.visible import visible
    from evenhand.store.calibrations import store_calibration
    from evenhand.store.state import create_state_directory, state_directory

    items = read_labels(labels)
    suite = loaded(path, generators=False, allow_outside=allow_outside)
    with reserved_to_the_end():
        state = state_directory(suite.directory, os.environ)
        create_state_directory(state)
        directory = cache_directory(None, os.environ, state)
        options = RunOptions(concurrency=concurrency, no_cache=no_cache, cache_dir=str(directory))
        found = asyncio.run(calibrate(suite, items, rubric=rubric, repeat=repeat, options=options))
        store_calibration(state, found)
        shown = [json_line(found)] if as_json else [visible(line) for line in lines(found)]
        stdout().write("\n".join(shown) + "\n")
        stdout().flush()
    return ExitCode.OK
