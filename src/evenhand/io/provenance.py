"""Where and when a run was made."""

from __future__ import annotations

import os
import secrets
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path

from evenhand.model.result import Git

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_GIT_TIMEOUT_S = 5


def new_run_id() -> str:
    """A ULID (https://github.com/ulid/spec): 26 characters, sorted by time, 80 random bits."""
    value = (time.time_ns() // 1_000_000 << 80) | secrets.randbits(80)
    return "".join(_CROCKFORD[(value >> shift) & 31] for shift in range(125, -5, -5))


def utc_now() -> str:
    """The time as RFC 3339 in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def git_state(directory: Path) -> Git | None:
    """The commit that a folder is at; None outside a repository or without git."""
    found = _git(directory, "rev-parse", "HEAD", "--abbrev-ref", "HEAD")
    if found is None:
        return None
    commit, _, branch = found.strip().partition("\n")
    changed = _git(directory, "status", "--porcelain", "--untracked-files=no")
    return Git(
        commit=commit, branch=None if branch == "HEAD" else branch, dirty=bool(changed and changed.strip())
    )


def _git(directory: Path, *arguments: str) -> str | None:
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
    try:
        done = subprocess.run(
            ["git", "-C", str(directory), *arguments],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_GIT_TIMEOUT_S,
            env=environment,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
