"""Imports run downward only: a module sees its own room and the ones below it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import evenhand

SOURCE = Path(evenhand.__file__).parent

LAYERS: tuple[frozenset[str], ...] = tuple(
    frozenset(layer.split())
    for layer in (
        "version errors",
        "registry",
        "text",
        "template",
        "model",
        "io analysis",
        "scripts traces cache",
        "run assertions providers",
        "config",
        "store",
        "compare",
        "report",
        "session explaining",
        "calibration",
        "api",
        "__init__",
        "web",
        "cli",
        "__main__",
    )
)
"""From the ground up. Rooms on one floor do not know each other."""

FLOOR = {room: floor for floor, rooms in enumerate(LAYERS) for room in rooms}

UPWARD = {
    (
        "model/assertion.py",
        "assertions",
    ): "the registry imports the built-in kinds the first time one is looked up",
    (
        "model/provider.py",
        "providers",
    ): "the registry imports the built-in types the first time one is looked up",
}
"""The only imports that run upward, each with its reason."""

MODULES = sorted(SOURCE.rglob("*.py"))


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module] if node.module != "evenhand" else [f"evenhand.{a.name}" for a in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "evenhand":
                yield (parts[1] if len(parts) > 1 else "__init__"), node.lineno


def test_every_room_has_a_floor() -> None:
    assert {room_of(path) for path in MODULES} <= set(FLOOR)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_module_imports_only_downward(path: Path) -> None:
    own = room_of(path)
    name = path.relative_to(SOURCE).as_posix()
    upward = [
        f"{name}:{line} imports {room}"
        for room, line in imported_rooms(path)
        if room in FLOOR and room != own and FLOOR[room] >= FLOOR[own] and (name, room) not in UPWARD
    ]
    assert not upward
