"""Loading a suite for a command, with its warnings told."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from evenhand.cli.reserved import reserved_stdout
from evenhand.cli.terminal import note
from evenhand.config.load import load_suite
from evenhand.config.locate_suite import locate_suite
from evenhand.errors import SuiteError, UsageError
from evenhand.model.suite import Suite
from evenhand.report.figures import counted
from evenhand.store.state import generated_directory, state_directory

MAX_WARNINGS = 20
"""Warnings that a command tells whose business they are not."""

log = logging.getLogger("evenhand")


class Limits(NamedTuple):
    """What a suite from a stranger may reach, as a person allowed it."""

    sandbox: bool = False
    allow_scripts: bool = False
    allow_env: tuple[str, ...] = ()
    allow_hosts: tuple[str, ...] = ()

    def check(self) -> None:
        """Raise `UsageError` where something is allowed that nothing forbids."""
        if not self.sandbox and any(self[1:]):
            raise UsageError(
                "--allow-scripts, --allow-env and --allow-host belong to --sandbox; give that too"
            )


UNLIMITED = Limits()


def loaded(
    path: Path,
    *,
    strict: bool = False,
    generators: bool = True,
    allow_outside: Sequence[Path] = (),
    max_warnings: int | None = MAX_WARNINGS,
    limits: Limits = UNLIMITED,
) -> Suite:
    """The suite at a path, its first warnings printed; with `strict` a warning is an error. Raises `SuiteError`."""
    limits.check()
    began = time.perf_counter()
    with reserved_stdout():  # A generator is code under test too.
        suite = load_suite(
            path,
            generators=generators,
            allow_outside=allow_outside,
            confined=limits.sandbox,
            visible_variables=limits.allow_env if limits.sandbox else None,
            allow_scripts=limits.allow_scripts,
            allow_hosts=limits.allow_hosts,
            spool_folder=lambda: generated_directory(state_directory(locate_suite(path).parent, os.environ)),
        )
    log.info("loaded %s in %.0f ms", suite.path, (time.perf_counter() - began) * 1_000)
    if strict and suite.warnings:
        raise SuiteError(list(suite.warnings))
    for warning in suite.warnings[:max_warnings]:
        note(f"warning: {warning}")
    left = len(suite.warnings[max_warnings:]) if max_warnings is not None else 0
    if left:
        note(f"and {counted(left, 'more warning')}: `evenhand validate {path}`")
    return suite
