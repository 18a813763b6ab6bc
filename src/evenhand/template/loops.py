"""Loops so plain that one look before the first pass is enough to know how much they can do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from evenhand.template.scan import path_of
from evenhand.template.statements import Statement, every_statement
from evenhand.template.syntax import Node

_PLAIN_STATEMENTS = frozenset({"text", "emit", "if"})
_PLAIN_KINDS = frozenset(
    {
        "attribute", "binary", "choice", "constant", "filter", "item", "keyword", "negative", "not", "test",
        "variable",
    }
)  # fmt: skip
_PLAIN_FILTERS = frozenset(
    {
        "abs", "attr", "b64encode", "bool", "capitalize", "count", "d", "default", "e", "escape", "first", "float",
        "int", "items", "join", "json_encode", "last", "length", "lower", "max", "md5", "min", "round", "safe",
        "sha256", "slugify", "string", "sum", "title", "to_json", "tojson", "trim", "truncate", "upper",
    }
)  # fmt: skip
"""Filters whose result is hardly longer than what they are given, and that take no longer than reading it."""

_KEEPING_FILTERS = frozenset({"dictsort", "items", "list", "reverse", "sort", "unique"})
"""Filters that give no more items than they are given."""


class PlainLoop(NamedTuple):
    """What decides how much a plain loop can do."""

    iterated: Node
    """A variable with attributes that has at least as many items as there are passes."""
    outer: tuple[Node, ...]
    """The variables with attributes that each pass uses and that are the same in each."""


def plain_loop(statement: Statement) -> PlainLoop | None:
    """The facts about a loop if it is plain, or None."""
    if statement.name == "recursive":
        return None
    iterated = _iterated(statement.expressions[0])
    inner = [one for body in statement.bodies for one in every_statement(body)]
    if iterated is None or any(one.kind not in _PLAIN_STATEMENTS for one in inner):
        return None
    used = [*statement.expressions[1:], *(expression for one in inner for expression in one.expressions)]
    if not all(map(_is_plain, used)):
        return None
    own = {target.name for target in statement.targets} | {"loop"}
    return PlainLoop(iterated, tuple(_outer_chains(used, own)))


def _iterated(node: Node) -> Node | None:
    while node.kind == "slice" or (node.kind == "filter" and node.name in _KEEPING_FILTERS):
        if node.kind == "filter" and not all(_is_plain(part) for part in node.parts[1:]):
            return None
        node = node.parts[0]
    return node if path_of(node) is not None else None


def _is_plain(expression: Node) -> bool:
    return all(
        node.kind in _PLAIN_KINDS
        and (node.kind != "filter" or node.name in _PLAIN_FILTERS)
        and not (node.kind == "binary" and node.name == "*")
        for node in expression.walk()
    )


def _outer_chains(expressions: Iterable[Node], own: set[str]) -> Iterator[Node]:
    """The longest variables with attributes whose root is none of the loop's own names, each text once."""
    seen: set[tuple[str, ...]] = set()
    waiting = list(expressions)
    while waiting:
        node = waiting.pop()
        path = path_of(node)
        if path is None:
            waiting.extend(node.parts)
        elif path[0] not in own and path not in seen:
            seen.add(path)
            yield node
