"""How much work a JSON Schema can make of a value: an upper bound, found before the work is done.

Keywords such as `anyOf` hold several schemas against one value, and references let a schema of a few lines do so
2^30 times. The validator cannot be stopped, so its work is counted ahead: how many schemas one place of a value at
a depth may meet, times the number of places at that depth. A property meets the schema of its own name alone, so of
several names the dearest counts, not their sum.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

CEILING = 1e12
"""Counts beyond this are all the same to whoever asks."""

_BACK = 3
"""Times that a schema with `unevaluated…` looks at its parts, as measured (2.7 a level)."""

_LISTS = ("allOf", "anyOf", "oneOf")
_SINGLE = ("not", "if", "then", "else")
_MAPS = ("dependentSchemas", "dependencies")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


class _Node(NamedTuple):
    """A schema, as the numbers of those that it passes a value, or what is inside of it, on to."""

    same: list[tuple[int, int]]
    """Held against the same value, with the number of times."""
    named: list[int]
    """One of these at most is held against a property."""
    members: list[int]
    """All of these may be held against a property."""
    placed: list[int]
    """One of these at most is held against an item."""
    items: list[int]
    """All of these may be held against an item."""


class SchemaCost:
    """The bound for one schema. `document` is plain JSON."""

    def __init__(self, document: Any) -> None:
        self._nodes: list[_Node] = []
        self._order: list[int] = []
        self._read(document)
        self._by_depth: list[list[float]] = []

    def meetings(self, depth: int) -> float:
        """How many schemas, at most, one place at this depth meets; the whole value is at depth 0."""
        while len(self._by_depth) <= depth:
            self._by_depth.append(self._next_depth())
        return self._by_depth[depth][0]

    def visits(self, value: Any) -> float:
        """How many times, at most, a schema is held against a place of this value."""
        total = 0.0
        level = [value]
        depth = 0
        while level:
            total += len(level) * self.meetings(depth)
            depth += 1
            level = [inner for outer in level for inner in _inside(outer)]
        return total

    def _next_depth(self) -> list[float]:
        """For each schema, how many meetings it leads to one level further down than the last list tells."""
        above = self._by_depth[-1] if self._by_depth else None
        found = [0.0] * len(self._nodes)
        for number in self._order:
            node = self._nodes[number]
            if above is None:
                count = 1.0
            else:
                as_object = max((above[n] for n in node.named), default=0.0) + sum(
                    above[n] for n in node.members
                )
                as_array = max((above[n] for n in node.placed), default=0.0) + sum(
                    above[n] for n in node.items
                )
                count = max(as_object, as_array)
            count += sum(times * found[n] for n, times in node.same)
            found[number] = min(count, CEILING)
        return found

    def _read(self, document: Any) -> None:
        """Number the schemas that the document's own leads to, each behind those that it holds against one value.

        A reference that leads back to where it comes from is left out of that order: the library follows it once.
        """
        targets = _Targets(document)
        numbers: dict[int, int] = {}
        schemas: list[dict[str, Any]] = []

        def number_of(schema: Any) -> Iterator[int]:
            if isinstance(schema, dict):
                if id(schema) not in numbers:
                    numbers[id(schema)] = len(schemas)
                    schemas.append(schema)
                yield numbers[id(schema)]

        list(number_of(document if isinstance(document, dict) else {}))
        while len(self._nodes) < len(schemas):
            self._nodes.append(_node(schemas[len(self._nodes)], targets, number_of))
        self._order = _behind_their_parts([[n for n, _ in node.same] for node in self._nodes])


def _node(schema: dict[str, Any], targets: _Targets, number_of: Any) -> _Node:
    def numbers(schemas: Iterator[Any] | list[Any]) -> list[int]:
        return [number for each in schemas for number in number_of(each)]

    same = numbers(_held_against_the_same(schema, targets))
    times = _BACK if {"unevaluatedItems", "unevaluatedProperties"} & schema.keys() else 1
    items = schema.get("items")
    in_places = [*_values(schema.get("prefixItems")), *(items if isinstance(items, list) else [])]
    return _Node(
        same=[(number, times) for number in same],
        named=numbers(_values(schema.get("properties"))),
        members=numbers(
            [
                *_values(schema.get("patternProperties")),
                *map(schema.get, ("additionalProperties", "unevaluatedProperties", "propertyNames")),
            ]
        ),
        placed=numbers(in_places),
        items=numbers([items, *map(schema.get, ("additionalItems", "contains", "unevaluatedItems"))]),
    )


def _held_against_the_same(schema: dict[str, Any], targets: _Targets) -> Iterator[Any]:
    for keyword in _LISTS:
        yield from _values(schema.get(keyword))
    for keyword in _SINGLE:
        yield schema.get(keyword)
    for keyword in _MAPS:
        yield from _values(schema.get(keyword))
    for keyword in _REFERENCES:
        yield from targets.of(schema.get(keyword))


class _Targets:
    """What the references in a document may lead to."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self._named: dict[str, list[Any]] = {}
        waiting = [document]
        while waiting:
            value = waiting.pop()
            if isinstance(value, dict):
                for keyword in ("$id", "id", "$anchor", "$dynamicAnchor"):
                    name = value.get(keyword)
                    if isinstance(name, str):
                        self._named.setdefault(name.lstrip("#"), []).append(value)
                waiting.extend(value.values())
            elif isinstance(value, list):
                waiting.extend(value)

    def of(self, reference: Any) -> list[Any]:
        """The schemas that a reference may mean; all with a name where it cannot be told."""
        if not isinstance(reference, str):
            return []
        if reference == "#":
            return [self._document]
        if reference.startswith("#/"):
            found = _at_pointer(self._document, reference[2:])
            if found is not None:
                return [found]
        name = reference.lstrip("#")
        if name in self._named:
            return self._named[name]
        return [schema for schemas in self._named.values() for schema in schemas]


def _at_pointer(document: Any, pointer: str) -> Any:
    """The value at a JSON Pointer (RFC 6901) written as a URI fragment; None where there is none."""
    from urllib.parse import unquote

    value = document
    for part in pointer.split("/"):
        step = unquote(part).replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def _behind_their_parts(parts: list[list[int]]) -> list[int]:
    """All numbers, each behind its parts; a part that leads back to its whole is passed over."""
    order: list[int] = []
    seen = [False] * len(parts)
    for start in range(len(parts)):
        if seen[start]:
            continue
        seen[start] = True
        open_ones = [(start, iter(parts[start]))]
        while open_ones:
            number, rest = open_ones[-1]
            following = next((n for n in rest if not seen[n]), None)
            if following is None:
                order.append(number)
                open_ones.pop()
            else:
                seen[following] = True
                open_ones.append((following, iter(parts[following])))
    return order


def _values(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _inside(value: Any) -> list[Any]:
    return _values(list(value) if isinstance(value, tuple) else value)
