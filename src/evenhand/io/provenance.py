"""Where and when a run was made."""

from __future__ import annotations

import os
import secrets
import subprocess
import time
from collections.abc import Mapping
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
    if branch == "HEAD":
        branch = branch_of_ci(os.environ)
    return Git(commit=commit, branch=branch or None, dirty=bool(changed and changed.strip()))


_BRANCH_VARIABLES = (
    "GITHUB_HEAD_REF",
    "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME",
    "CI_COMMIT_BRANCH",
    "SYSTEM_PULLREQUEST_SOURCEBRANCH",
    "BUILD_SOURCEBRANCH",
    "BITBUCKET_BRANCH",
    "BUILDKITE_BRANCH",
    "CIRCLE_BRANCH",
    "CHANGE_BRANCH",
    "GIT_BRANCH",
)
"""Where CI systems (GitHub, GitLab, Azure, Bitbucket, Buildkite, CircleCI, Jenkins) name the branch that is built."""


def branch_of_ci(environ: Mapping[str, str]) -> str:
    """The branch that a CI system builds, empty where it says none: most check out a commit without a branch."""
    named = next((environ[name] for name in _BRANCH_VARIABLES if environ.get(name)), "")
    if not named and environ.get("GITHUB_REF_TYPE") == "branch":
        named = environ.get("GITHUB_REF_NAME", "")
    return "" if named.startswith("refs/tags/") else named.removeprefix("refs/heads/").removeprefix("origin/")


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
