"""A JSON value as a tree to unfold, bounded in depth and size."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import msgspec

from evenhand.report.encode import json_line

MAX_DEPTH = 12
MAX_NODES = 2_000
MAX_LEAF = 2_000
"""Characters of one value; below the depth and beyond the number of nodes, the rest stands as text."""


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """A member of an object or list; `text` is its value, or what it holds in a word."""

    name: str
    text: str
    children: tuple[Node, ...] = ()


def json_tree(value: Any) -> tuple[Node, ...]:
    """The members of an object or list; empty for any other value."""
    return _children(value, MAX_DEPTH, itertools.count()) if isinstance(value, (dict, list, tuple)) else ()


def _children(value: Any, depth: int, numbers: Iterator[int]) -> tuple[Node, ...]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    found: list[Node] = []
    for name, item in pairs:
        if next(numbers) >= MAX_NODES:
            found.append(Node(name="…", text=f"{len(value) - len(found):,} more"))
            break
        found.append(_node(str(name), item, depth, numbers))
    return tuple(found)


def _node(name: str, value: Any, depth: int, numbers: Iterator[int]) -> Node:
    if isinstance(value, (dict, list, tuple)) and value and depth > 0:
        word = f"{{{len(value)}}}" if isinstance(value, dict) else f"[{len(value)}]"
        return Node(name=name, text=word, children=_children(value, depth - 1, numbers))
    return Node(name=name, text=json_line(value)[:MAX_LEAF])
