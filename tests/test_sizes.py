"""A module and a function stay small enough to be read at once."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import evenhand

SOURCE = Path(evenhand.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))

MODULE_LINES = 500
FUNCTION_LINES = 50

LONG_FUNCTIONS: dict[str, str] = {}
"""Functions that are longer, as `module:function`, each with its reason."""


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_module_can_be_read_at_once(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MODULE_LINES


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_functions_can_be_read_at_once(path: Path) -> None:
    name = path.relative_to(SOURCE).as_posix()
    long = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LINES and f"{name}:{node.name}" not in LONG_FUNCTIONS:
                long.append(f"{name}:{node.name} has {lines} lines")
    assert not long
