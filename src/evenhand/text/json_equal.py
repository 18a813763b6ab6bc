"""Equality of JSON values: by value, at full precision, at any depth.

Numbers are equal if their values are, whatever their spelling (1, 1.0, 1e0); a float stands for its shortest decimal
spelling, as a person would read it. `true` never equals 1. The order of keys does not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any, NamedTuple

from evenhand.text.excerpt import clipped, contrast, quoted
from evenhand.text.json_reader import compact_json
from evenhand.text.lookalike import likeness

SHOWN_STEPS = 12
"""Steps of a path that a message shows."""

SHOWN_CHARACTERS = 60
"""Characters of a key or value that a message shows."""

Step = str | int
Path = tuple[Step, ...]

_ABSENT = object()
_PLAIN_TYPES = frozenset({str, int, float, bool})
_NUMBER_TYPES = frozenset({int, float, Decimal})


class Difference(NamedTuple):
    """The first place, in the order of the expected value, where two JSON values differ."""

    path: Path
    expected: Any
    found: Any

    def __str__(self) -> str:
        message = _contrast(self.expected, self.found)
        return f"at {shown_path(self.path)}: {message}" if self.path else message


def json_equal(expected: Any, found: Any) -> bool:
    """Whether two JSON values are equal."""
    if not _are_alike_containers(expected, found):
        return _is_same_scalar(expected, found)
    pairs = [(expected, found)]
    while pairs:
        wanted, got = pairs.pop()
        if len(wanted) != len(got):
            return False
        for item, other in _paired(wanted, got):
            kind, other_kind = type(item), type(other)  # exact types first: they settle most of what there is
            if kind is other_kind and kind in _PLAIN_TYPES:
                is_equal = item == other
            elif kind in _NUMBER_TYPES and other_kind in _NUMBER_TYPES:
                is_equal = _exact(item) == _exact(other)
            elif _are_alike_containers(item, other):
                pairs.append((item, other))
                continue
            else:
                is_equal = _is_same_scalar(item, other)
            if not is_equal:
                return False
    return True


def first_difference(expected: Any, found: Any) -> Difference | None:
    """What keeps two JSON values from being equal; as text `at items[2].price: expected 3, found 4`."""
    if not _are_alike_containers(expected, found):
        return None if _is_same_scalar(expected, found) else Difference((), expected, found)
    open_pairs = [_members(expected, found)]
    path: list[Step] = []
    while open_pairs:
        for step, wanted, got in open_pairs[-1]:
            if wanted is got or (
                type(wanted) in _PLAIN_TYPES and type(got) is type(wanted) and wanted == got
            ):
                continue  # what most members are, settled at least cost
            if _are_alike_containers(wanted, got):
                open_pairs.append(_members(wanted, got))
                path.append(step)
                break
            if not _is_same_scalar(wanted, got):
                return Difference((*path, step), wanted, got)
        else:
            open_pairs.pop()
            if path:
                path.pop()
    return None


def shown_path(path: Path) -> str:
    """A path as people write it (`items[2].price`), shortened in its middle where it is long."""
    if len(path) <= SHOWN_STEPS:
        return _joined(path)
    half = SHOWN_STEPS // 2
    return f"{_joined(path[:half])} … {_joined(path[-half:])}"


def _are_alike_containers(a: Any, b: Any) -> bool:
    return (isinstance(a, dict) and isinstance(b, dict)) or (
        isinstance(a, (list, tuple)) and isinstance(b, (list, tuple))
    )


def _paired(expected: Any, found: Any) -> Iterable[tuple[Any, Any]]:
    """The members of two alike containers of the same size."""
    if isinstance(expected, dict):
        return [(item, found.get(key, _ABSENT)) for key, item in expected.items()]
    return zip(expected, found, strict=True)


def _members(expected: Any, found: Any) -> Iterator[tuple[Step, Any, Any]]:
    """The members of two objects or two lists side by side; `_ABSENT` where only one has it."""
    if isinstance(expected, dict):
        for key, wanted in expected.items():
            yield key, wanted, found.get(key, _ABSENT)
        if len(found) > len(expected):  # otherwise something was missing above, or both have the same keys
            for key in found:
                if key not in expected:
                    yield key, _ABSENT, found[key]
        return
    for index, (wanted, got) in enumerate(zip(expected, found, strict=False)):
        yield index, wanted, got
    shorter = min(len(expected), len(found))
    if len(expected) > shorter:
        yield shorter, expected[shorter], _ABSENT
    elif len(found) > shorter:
        yield shorter, _ABSENT, found[shorter]


def _is_same_scalar(a: Any, b: Any) -> bool:
    if type(a) is type(b):
        return bool(a == b)
    return _is_number(a) and _is_number(b) and _exact(a) == _exact(b)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)


def _exact(number: Any) -> int | Decimal:
    return Decimal(repr(number)) if isinstance(number, float) else number


def _contrast(expected: Any, found: Any) -> str:
    if isinstance(expected, str) and isinstance(found, str):
        differs_by = likeness(expected, found)
        hint = f" (they differ only by {differs_by})" if differs_by else ""
        return contrast(expected, found, length=SHOWN_CHARACTERS) + hint
    return f"expected {_shown(expected)}, found {_shown(found)}"


def _shown(value: Any) -> str:
    if value is _ABSENT:
        return "nothing"
    if isinstance(value, str):
        return quoted(value, length=SHOWN_CHARACTERS)
    if isinstance(value, dict):
        return f"an object with {len(value)} key{'s' if len(value) != 1 else ''}"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)} item{'s' if len(value) != 1 else ''}"
    return clipped(compact_json(value), length=SHOWN_CHARACTERS)


def _joined(path: Path) -> str:
    return "".join(_shown_step(step) for step in path).removeprefix(".")


def _shown_step(step: Step) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if step.replace("-", "_").isidentifier() and len(step) <= SHOWN_CHARACTERS and step.isprintable():
        return f".{step}"
    return f"[{quoted(step, length=SHOWN_CHARACTERS)}]"
