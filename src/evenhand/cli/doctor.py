"""`evenhand doctor`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import click

from evenhand.cli.locate import suite_directory
from evenhand.cli.options import suite_option
from evenhand.cli.terminal import Terminal
from evenhand.errors import ExitCode

NODE_NEEDED = 20
"""Oldest Node.js that runs `file://` scripts."""

VENDOR_KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
KEY_SUFFIXES = ("_API_KEY", "_API_TOKEN")

NEEDED = (
    *("aiohttp", "blake3", "click", "jsonschema-rs", "markdown-it-py", "minijinja"),
    *("msgspec", "pydantic-core", "pyyaml", "quickjs-ng", "regex", "rich"),
)
"""Libraries without which nothing works, for a package whose metadata is not installed."""

_NODE_TIMEOUT_S = 5


class Check(NamedTuple):
    """One thing that was looked at. `remedy` is the command or step that mends it, empty where nothing is missing."""

    topic: str
    found: str
    remedy: str = ""
    broken: bool = False
    """Whether evenhand cannot work without it."""


@click.command("doctor", short_help="Check what evenhand needs on this machine.")
@suite_option
@click.pass_obj
def command(terminal: Terminal, suite: Path) -> int:
    """Check what evenhand needs on this machine: versions, Node.js, keys (their names only), the state folder.

    Says what is missing with the command that mends it. Exits 0 unless something is broken that every run needs.
    """
    checks = [*versions(), *extras(declared()), node(), *keys(), *state(suite_directory(suite))]
    color = terminal.has_color(sys.stdout)
    width = max(len(check.topic) for check in checks)
    for check in checks:
        _print(check, width, color)
    return ExitCode.HARNESS if any(check.broken for check in checks) else ExitCode.OK


def versions() -> Iterator[Check]:
    """evenhand, Python and the libraries that it stands on."""
    import platform
    import sqlite3

    from evenhand.version import __version__

    yield Check("evenhand", __version__)
    yield Check("Python", f"{platform.python_version()} at {sys.executable}, {platform.platform(terse=True)}")
    yield Check("SQLite", sqlite3.sqlite_version)
    for name, extra in requirements(declared()):
        if not extra:
            yield _library(name)


def declared() -> list[str]:
    """What the package's own metadata requires; where it runs from its source, what it cannot do without."""
    from importlib import metadata

    try:
        return metadata.requires("evenhand") or []
    except metadata.PackageNotFoundError:
        return list(NEEDED)


def requirements(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The name of each required library, and the extra that it belongs to or nothing."""
    import re

    for line in lines:
        name = re.match(r"[A-Za-z0-9._-]+", line)
        extra = re.search(r"extra\s*==\s*['\"]([^'\"]+)['\"]", line)
        if name:
            yield name[0], extra[1] if extra else ""


def _library(name: str) -> Check:
    from importlib import metadata

    try:
        return Check(name, metadata.version(name))
    except metadata.PackageNotFoundError:
        return Check(name, "missing", f"{sys.executable} -m pip install {name}", broken=True)


def extras(lines: Iterable[str]) -> Iterator[Check]:
    """The optional parts that the package offers, and whether they are installed."""
    by_extra: dict[str, list[str]] = {}
    for name, extra in requirements(lines):
        if extra:
            by_extra.setdefault(extra, []).append(name)
    for extra, names in sorted(by_extra.items()):
        missing = [name for name in names if _library(name).broken]
        if missing:
            remedy = f"{sys.executable} -m pip install 'evenhand[{extra}]'"
            yield Check(f"extra {extra}", f"not installed ({', '.join(missing)})", remedy)
        else:
            yield Check(f"extra {extra}", "installed")


def node() -> Check:
    """The Node.js on the path, which runs script files."""
    import shutil
    import subprocess

    program = shutil.which("node")
    remedy = f"install Node.js {NODE_NEEDED} or newer from your system's packages, if your suites use scripts"
    if program is None:
        return Check("Node.js", "not found on PATH", remedy)
    try:
        done = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=_NODE_TIMEOUT_S, check=False
        )
        version = done.stdout.strip().removeprefix("v")
        is_recent = int(version.split(".")[0]) >= NODE_NEEDED
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return Check("Node.js", f"{program} does not tell its version: {error}", remedy)
    return Check("Node.js", f"{version} at {program}", "" if is_recent else remedy)


def keys() -> Iterator[Check]:
    """Which variables that hold keys are set. Values are never looked at further than that."""
    import os

    others = sorted(name for name in os.environ if name.endswith(KEY_SUFFIXES) and name not in VENDOR_KEYS)
    for name in (*VENDOR_KEYS, *others):
        yield Check(name, "set" if os.environ.get(name) else "not set")


def state(directory: Path) -> Iterator[Check]:
    """The state folder of a suite: where it is, whether it can be written, what is in it."""
    import os

    from evenhand.store.state import state_directory

    folder = state_directory(directory, os.environ)
    problem = _not_writable(folder)
    remedy = "make it writable, or name another folder in EVENHAND_HOME" if problem else ""
    found = problem or ("writable" if folder.is_dir() else "will be made by the first run")
    yield Check("state folder", f"{folder}: {found}", remedy, broken=bool(problem))
    if not problem and folder.is_dir():
        yield _store(directory)


def _not_writable(folder: Path) -> str:
    import secrets

    existing = folder
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    if not existing.is_dir():
        return f"{existing} is not a folder"
    probe = existing / f".evenhand-{secrets.token_hex(8)}.tmp"
    try:
        probe.touch()
        probe.unlink()
    except OSError as error:
        return f"{existing} is not writable ({error.strerror or error})"
    return ""


def _store(directory: Path) -> Check:
    from evenhand.api import open_run_store
    from evenhand.errors import EvenhandError
    from evenhand.report.figures import counted

    try:
        with open_run_store(directory) as store:
            count = sum(1 for _ in store.runs())
            return Check("runs", f"{counted(count, 'run')} in {store.path}")
    except EvenhandError as error:
        return Check("runs", str(error), "move the file away; a new one is made by the next run", broken=True)


def _print(check: Check, width: int, color: bool) -> None:
    from evenhand.report.visible import visible

    sign, style = ("!", "red") if check.broken else ("-", "yellow") if check.remedy else ("+", "green")
    print(click.style(sign, fg=style) if color else sign, check.topic.ljust(width), "", visible(check.found))
    if check.remedy:
        print(" " * (width + 3), visible(f"to mend it: {check.remedy}"))
