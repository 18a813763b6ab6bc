"""Loading a suite for a command, with its warnings told."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Sequence
from pathlib import Path

from evenhand.cli.locate import suite_directory
from evenhand.cli.terminal import note
from evenhand.config.load import load_suite
from evenhand.errors import SuiteError
from evenhand.model.suite import Suite
from evenhand.report.figures import counted

MAX_WARNINGS = 20
"""Warnings that a command tells whose business they are not."""

log = logging.getLogger("evenhand")


def loaded(
    path: Path,
    *,
    strict: bool = False,
    generators: bool = True,
    allow_outside: Sequence[Path] = (),
    max_warnings: int | None = MAX_WARNINGS,
    keeps_generated: bool = False,
) -> Suite:
    """The suite at a path, its first warnings printed; with `strict` a warning is an error. Raises `SuiteError`.

    With `keeps_generated`, the cases that programs make stay in the state folder, where stored results name them.
    """
    began = time.perf_counter()
    suite = load_suite(
        path,
        generators=generators,
        allow_outside=allow_outside,
        spool_folder=(lambda: _folder_for_generated(path)) if keeps_generated else None,
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


def _folder_for_generated(path: Path) -> Path:
    from evenhand.store.state import generated_cases_folder, state_directory

    return generated_cases_folder(state_directory(suite_directory(path), os.environ))
