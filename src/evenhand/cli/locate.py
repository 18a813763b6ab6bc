"""Where the runs of a suite are, from what a person typed."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenhand.model.result import Run


def suite_directory(path: Path) -> Path:
    """The folder that a suite's path stands for; the path itself need not exist."""
    return path if path.is_dir() else path.parent


def view_command(run: Run, suite_path: Path, environ: Mapping[str, str] = os.environ) -> str:
    """The command that shows a run again from the folder in which we are."""
    from evenhand.store.state import state_directory

    command = f"evenhand view {run.run_id}"
    directory = suite_directory(suite_path)
    if state_directory(directory, environ) == state_directory(Path(), environ):
        return command
    return f"{command} --suite {shlex.quote(str(suite_path))}"


def shown_path(path: Path) -> str:
    """A path as a person knows it: from this folder, or from home."""
    if path.is_relative_to(Path.cwd()):
        return str(path.relative_to(Path.cwd()))
    home = Path(os.path.expanduser("~"))  # noqa: PTH111  (`Path.home` raises where there is none)
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
