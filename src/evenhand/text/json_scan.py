"""JSON objects and arrays inside prose, found in time proportional to the text.

Openers (`{`, `[`) are tried from left to right. A candidate that is JSON up to its end is a value, and the search
goes on after it. One that breaks on a syntax error is prose, and the next opener is tried, wherever it stands. One
that is JSON up to the end of the text was cut off: the search ends there.

Why this is linear. A walk from an opener (`json_syntax.walk_container`) also settles the fate of every opener that
it passes outside strings: a closed one is a value, one that is open when the walk breaks would break at the same
place. So a new walk starts only at an opener that every walk still alive there takes for a part of a string. Two
walks that pass the same character with one inside and the other outside a string stay opposite: a quote swaps them,
and a backslash ends the outer one. Hence at most two walks pass any character, one for each state.

The standard library's parser goes first, a few times at most, because nearly every text with JSON in it is settled
by that.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Any, Literal, NamedTuple

from evenhand.text.json_reader import NotJson, read_json, value_at
from evenhand.text.json_syntax import walk_container

Select = Literal["first", "last", "any"]
"""Which of several values counts."""

QUICK_FAILURES = 4
"""Candidates that the standard library may refuse before the walks take over."""

# An opener that what follows does not rule out at once: cheap, and settles most brackets in prose.
_CANDIDATE = re.compile(r'\[(?=[ \t\n\r]*(?:["\[{\]0-9tfn-]|\Z))|\{(?=[ \t\n\r]*(?:["}]|\Z))')


class JsonSpan(NamedTuple):
    """An object or array in a text: `text[start:end]` is `value`."""

    start: int
    end: int
    value: Any


class BrokenSpan(NamedTuple):
    """Text that looked like JSON from `start` on, and where and why it is none."""

    start: int
    breach: NotJson


class JsonScan:
    """One search through a text: iterate for its JSON values, then look at what was found besides.

    Values do not overlap: what lies inside a value is part of it.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self.truncated: BrokenSpan | None = None
        """The candidate that the end of the text cut off; known once the iteration has ended."""
        self.longest_broken: BrokenSpan | None = None
        """Of the candidates that broke before the end, the one that was JSON for longest."""
        self.walked_characters = 0
        """Characters that walks passed, each as often as it was passed: the work of the search."""

    def __iter__(self) -> Iterator[JsonSpan]:
        text = self._text
        settled: dict[int, int] = {}
        quick_failures = 0
        position = 0 if "{" in text or "[" in text else len(text)
        while candidate := _CANDIDATE.search(text, position):
            start = candidate.start()
            position = start + 1
            if start in settled:
                end = settled[start]
            else:
                quick = value_at(text, start) if quick_failures < QUICK_FAILURES else None
                if quick:
                    position = quick[1]
                    yield JsonSpan(start, position, quick[0])
                    continue
                quick_failures += 1
                end = self._walk(start, settled)
                if self.truncated:
                    return
            if end:
                position = end
                yield JsonSpan(start, end, read_json(text[start:end]))

    def _walk(self, start: int, settled: dict[int, int]) -> int:
        """The end of the value at `start`, 0 if none is there; `settled` learns the same of all openers passed."""
        walk = walk_container(self._text, start)
        self.walked_characters += walk.end - start
        if walk.breach is None:
            return walk.end
        broken = BrokenSpan(start, walk.breach)
        if walk.breach.truncated:
            self.truncated = broken
            return 0
        longest = self.longest_broken
        if longest is None or walk.end - start > longest.breach.position - longest.start:
            self.longest_broken = broken
        settled.update(walk.closed)
        settled.update(dict.fromkeys(walk.opened, 0))
        return 0


def selected(scan: JsonScan, select: Select) -> Iterator[JsonSpan]:
    """The values of a search that count: the first, the last, or every one."""
    if select == "first":
        return islice(scan, 1)
    if select == "last":
        return iter(deque(scan, maxlen=1))
    return iter(scan)
