"""Python functions under test, written to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evenhand.errors import ExitCode, ProviderError
from evenhand.providers.python import Python
from support.programs import ask, write

IMPORTS = """
import asyncio, dataclasses, os, sys, threading, time
from evenhand.errors import ErrorClass, ProviderError
from evenhand.model.exchange import Response, ToolCall, Usage
"""


def provider(folder: Path, source: str, target: str = "file://app.py:answer", **options: Any) -> Python:
    """A provider whose function is in this source."""
    write(folder / "app.py", "")
    (folder / "app.py").write_text(IMPORTS + source, encoding="utf-8")
    return Python(id="app", target=target, **options)


def error_of(folder: Path, source: str, **options: Any) -> ProviderError:
    """The error that a call of such a provider ends in."""
    (error,) = ask(provider(folder, source, **options), folder)
    assert isinstance(error, ProviderError)
    assert error.exit_code is ExitCode.HARNESS
    return error


KINDS = {"plain": "def answer(request):", "async": "async def answer(request):"}
"""Heads of plain and async functions."""
