"""`evenhand validate`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evenhand.cli.options import allow_outside_option, sandbox_options, suite_argument


@click.command("validate", short_help="Find everything that is wrong with a suite; runs nothing.")
@suite_argument
@click.option("--strict", is_flag=True, help="Treat warnings as errors.")
@click.option(
    "--generators", is_flag=True, help="Run the programs that write cases, and check what they write."
)
@sandbox_options
@allow_outside_option
def command(
    path: Path, strict: bool, generators: bool, allow_outside: tuple[Path, ...], **limits: Any
) -> None:
    """Find everything that is wrong with a suite, all at once and each with its place.

    Reads every test file; calls no provider and needs no credentials. Exits 2 if anything is wrong.
    """
    from evenhand.cli.suites import Limits, loaded
    from evenhand.cli.terminal import note
    from evenhand.report.figures import counted

    suite = loaded(
        path,
        strict=strict,
        generators=generators,
        allow_outside=allow_outside,
        max_warnings=None,
        limits=Limits(**limits),
    )
    parts = [
        counted(len(suite.cases), "case"),
        counted(len(suite.providers), "provider"),
        counted(len(suite.prompts), "prompt"),
    ]
    if suite.generators_left:
        parts.append(f"{counted(suite.generators_left, 'generator')} not run (`--generators` runs them)")
    elif not len(suite.cases):
        note(f"warning: {suite.path}: there are no cases, so nothing would be asked; add `tests`")
    if suite.warnings:
        parts.append(counted(len(suite.warnings), "warning"))
    print(f"{suite.path}: valid, {', '.join(parts)}")
