"""The repository that a folder belongs to."""

from __future__ import annotations

import os
from pathlib import Path


def find_repository(directory: Path) -> Path | None:
    """The root of the repository that a folder belongs to, or None."""
    folder = directory.resolve()
    return next((path for path in (folder, *folder.parents) if os.path.lexists(path / ".git")), None)
