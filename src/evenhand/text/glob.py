"""Globs over names: `*` and `?` cross `/`, `[…]` is a class, `{a,b}` is a choice."""

from __future__ import annotations

import fnmatch
import functools
import re

MAX_CHOICES = 1_000
"""Plain globs that the choices of one glob may stand for; a glob of more is read without choices."""

_INNERMOST = re.compile(r"\{([^{}]*)\}")


def matches_glob(name: str, glob: str) -> bool:
    """Whether a glob matches a whole name, letter case included."""
    return any(fnmatch.fnmatchcase(name, plain) for plain in _without_choices(glob))


@functools.lru_cache(maxsize=256)
def _without_choices(glob: str) -> tuple[str, ...]:
    """The globs without `{…}` that a glob stands for. A brace without its partner is an ordinary character."""
    pending = [glob]
    plain: list[str] = []
    while pending:
        if len(pending) + len(plain) > MAX_CHOICES:
            return (glob,)
        current = pending.pop()
        choice = _INNERMOST.search(current)
        if choice is None:
            plain.append(current)
            continue
        before, after = current[: choice.start()], current[choice.end() :]
        pending += [before + option + after for option in choice[1].split(",")]
    return tuple(plain)
