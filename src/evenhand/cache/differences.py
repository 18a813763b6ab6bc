"""In what two questions differ, place by place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from evenhand.cache.entry import Entry
from evenhand.text.json_reader import NotJson, compact_json, read_json

MAX_DIFFERENCES = 20


class Difference(NamedTuple):
    """One place and what stands there, as JSON; None where nothing does."""

    path: str
    asked: str | None
    kept: str | None


class Nearest(NamedTuple):
    """The kept answer whose question differs least, and in what."""

    key: str
    differences: tuple[Difference, ...]
    total: int


def nearest(document: bytes, candidates: Iterable[Entry]) -> Nearest | None:
    """The candidate with the fewest differences, the earlier one of equals; None without a readable one."""
    asked = dict(leaves(document))
    best: Nearest | None = None
    for entry in candidates:
        if not entry.question:
            continue
        found = differences(asked, dict(leaves(entry.question)))
        if best is None or len(found) < best.total:
            best = Nearest(entry.head.key, tuple(found[:MAX_DIFFERENCES]), len(found))
            if best.total == 1:
                break
    return best


def differences(asked: dict[str, str], kept: dict[str, str]) -> list[Difference]:
    """The places at which two questions differ, in their order."""
    places = [*asked, *(place for place in kept if place not in asked)]
    return [
        Difference(place, asked.get(place), kept.get(place))
        for place in places
        if asked.get(place) != kept.get(place)
    ]


def leaves(document: bytes) -> Iterator[tuple[str, str]]:
    """Every single value in a question, as JSON, with its place: `request.body.messages[0].content`."""
    value = read_json(document.decode("utf-8", "replace"))
    if isinstance(value, NotJson):
        return
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        place, item = waiting.pop()
        if isinstance(item, dict) and item:
            inner = [(f"{place}.{key}" if place else str(key), item[key]) for key in item]
        elif isinstance(item, list) and item:
            inner = [(f"{place}[{index}]", part) for index, part in enumerate(item)]
        else:
            yield place, compact_json(item)
            continue
        waiting.extend(reversed(inner))
