"""What is imported before the first word is printed: the only honest measure that does not depend on the machine."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {
    "rich", "jsonschema_rs", "minijinja", "msgspec", "yaml", "sqlite3", "asyncio", "logging", "aiohttp",
    "importlib.metadata", "traceback", "xml", "subprocess",
}  # fmt: skip
"""Packages that cost more than the whole start should."""


def imported(*arguments: str) -> set[str]:
    """The modules that a command line imports, packages of them included."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "evenhand", *arguments],
        capture_output=True,
        text=True,
        timeout=180,
        check=True,
    )
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.rsplit("|", 1)[1].strip() for line in lines}


def test_version_is_told_before_anything_is_imported() -> None:
    modules = imported("--version")
    assert {name for name in modules if name.startswith("evenhand")} <= {"evenhand", "evenhand.version"}
    assert not modules & (HEAVY | {"click"})


@pytest.mark.parametrize("arguments", [["--help"], ["-h"]])
def test_the_overview_imports_no_command(arguments: list[str]) -> None:
    modules = imported(*arguments)
    assert not modules & HEAVY
    assert {name for name in modules if name.startswith("evenhand.")} <= {
        "evenhand.cli",
        "evenhand.cli.main",
        "evenhand.cli.reserved",
        "evenhand.cli.terminal",
        "evenhand.errors",
        "evenhand.version",
    }


def test_help_of_a_command_imports_no_engine() -> None:
    modules = imported("run", "--help")
    assert not modules & {"rich", "jsonschema_rs", "minijinja", "yaml", "sqlite3", "aiohttp"}
