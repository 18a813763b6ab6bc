"""Regular expressions over text from outside: no pattern on any text can hang.

The language is that of Rust's `regex` crate (Unicode-aware classes, `$` only at the very end, inline flags, set
operations), and look-around and back-references besides. A pattern without these runs on the linear engine. One
with them runs on an engine that counts its steps, so that a search ends in the same way everywhere. Only where a
text is so large that no honest count bounds the time does an engine with a clock decide.
"""

from __future__ import annotations

import functools
import re

from evenhand.text.pattern_engines import (
    CLOCKED,
    COUNTING,
    ClockedEngine,
    CountingEngine,
    LinearEngine,
)
from evenhand.text.pattern_errors import PatternError, PatternLimitExceeded
from evenhand.text.pattern_syntax import Translation, translated

__all__ = ["Pattern", "PatternError", "PatternLimitExceeded", "compile_pattern", "replace"]

MAX_PATTERN_LENGTH = 10_000
"""Characters of a pattern."""

MAX_RESULT_LENGTH = 100_000_000
"""Characters that a replacement may produce."""

LARGE_TEXT = 200_000
"""Characters from which on the linear engine's worst case is looked at before a search."""

MAX_LINEAR_WORK = 2_000_000_000
"""Pattern positions times characters; the linear engine needs up to 10 ns for one."""

MAX_STEPS = 1_000_000
"""Most steps back of one search by the counting engine; its own default."""

MIN_STEPS = 1_000
"""Fewest steps back that a search is given, whatever one of them may cost."""

COUNTING_WORK = 1_000_000_000
"""Characters that a search by the counting engine may pass in all its steps, about 1 ns each."""

HONEST_STEPS = 8
"""Steps a character that a pattern without runaway repetition may need."""

PLACE_TIME_S = 0.05
"""Longest time to look for the place of a match that is known to be there."""

FEW_POSITIONS = 12
"""Ambiguous positions of a pattern up to which a deterministic automaton for it stays small."""

FLAGS = "ims"
_REFERENCE = re.compile(r"\$(?:(\$)|(\w+)|\{([^}]*)\})", re.ASCII)


class Pattern:
    """A compiled pattern. Share it freely; it holds no state of a search."""

    def __init__(self, source: str) -> None:
        self.source = source

    def search(self, text: str) -> bool:
        """Whether the pattern matches somewhere in the text. Raises `PatternLimitExceeded`."""
        raise NotImplementedError

    def place(self, text: str) -> tuple[int, int] | None:
        """Where the first match begins and ends; None also where that cannot be found out."""
        try:
            return next((match.span() for match in self._clocked.matches(text, PLACE_TIME_S)), None)
        except (PatternError, PatternLimitExceeded):
            return None

    def replace(self, text: str, replacement: str) -> str:
        """The text with every match replaced; `$1`, `$name` and `${name}` stand for groups, `$$` for a dollar.

        Raises `PatternError` for a group that the pattern does not have, and `PatternLimitExceeded`.
        """
        template = self._template(replacement)
        parts: list[str] = []
        length = at = 0
        for match in self._clocked.matches(text):
            new = [part if isinstance(part, str) else match[part] or "" for part in template]
            parts += [text[at : match.start()], *new]
            length += match.start() - at + sum(map(len, new))
            at = match.end()
            if length > MAX_RESULT_LENGTH:
                raise PatternLimitExceeded(
                    f"the replacement makes more than {MAX_RESULT_LENGTH:,} characters"
                )
        return "".join([*parts, text[at:]])

    def _search_by_clock(self, text: str) -> bool:
        try:
            return self._clocked.search(text)
        except PatternError as error:
            raise PatternLimitExceeded(
                f"a text of {len(text):,} characters is too long for this pattern: {error.message}"
            ) from None

    @functools.cached_property
    def _facts(self) -> Translation:
        return translated(self.source, COUNTING)

    @functools.cached_property
    def _clocked(self) -> ClockedEngine:
        return ClockedEngine(translated(self.source, CLOCKED))

    def _template(self, replacement: str) -> list[str | int]:
        """The replacement as literal texts and group numbers."""
        template: list[str | int] = []
        at = 0
        for match in _REFERENCE.finditer(replacement):
            template.append(replacement[at : match.start()])
            template.append("$" if match[1] else self._group(match[2] or match[3]))
            at = match.end()
        template.append(replacement[at:])
        return template

    def _group(self, name: str) -> int:
        facts = self._facts
        if name in facts.group_names:
            return facts.group_names[name]
        if name.isdecimal() and len(name) < 10 and int(name) <= facts.group_count:
            return int(name)
        hint = "; put the number in braces, as in `${1}a`" if name[:1].isdigit() else ""
        raise PatternError(f"the replacement names the group `{name}`, which the pattern does not have{hint}")


class _LinearPattern(Pattern):
    """A pattern that Rust's `regex` takes."""

    def __init__(self, source: str) -> None:
        super().__init__(source)
        self._linear = LinearEngine(source)

    def search(self, text: str) -> bool:
        if len(text) >= LARGE_TEXT and self._work(text) > MAX_LINEAR_WORK:
            return self._search_by_clock(text)
        return self._linear.search(text)

    def _work(self, text: str) -> int:
        try:
            positions = self._facts.positions
        except PatternError:
            positions = MAX_LINEAR_WORK
        return positions * len(text) * (1 if text.isascii() else 2)


class _CountedPattern(Pattern):
    """A pattern with look-around or back-references."""

    def __init__(self, source: str, translation: Translation) -> None:
        super().__init__(source)
        self._counting = CountingEngine(translation)
        self._counting.search("", MAX_STEPS)
        self._wider = LinearEngine(translation.wider_source)

    def search(self, text: str) -> bool:
        if len(text) < LARGE_TEXT and not self._wider.search(text):
            return False  # the linear engine is a hundred times faster, and most texts hold nothing to look around
        steps = self._steps(len(text))
        found = self._counting.search(text, steps)
        if found is not None:
            return found
        if steps >= HONEST_STEPS * len(text):
            raise PatternLimitExceeded(
                f"the search in {len(text):,} characters was stopped after {steps:,} steps back; "
                "avoid repetitions inside repetitions"
            )
        return self._search_by_clock(text)

    def _steps(self, length: int) -> int:
        """Steps that one search may take: one of few numbers, since each needs a validator of its own."""
        facts = self._facts
        if not facts.is_unbounded:
            return MAX_STEPS
        per_step = length * (1 if facts.wide_positions <= FEW_POSITIONS else 6 * facts.wide_positions)
        steps = MAX_STEPS
        while steps > MIN_STEPS and steps * per_step > COUNTING_WORK:
            steps //= 4
        return steps


@functools.lru_cache(maxsize=512)
def compile_pattern(source: str, flags: str = "") -> Pattern:
    """The pattern, ready to search. `flags` holds any of `i` (case), `m` (lines), `s` (`.` matches newlines).

    Raises `PatternError` with what is wrong and where.
    """
    if len(source) > MAX_PATTERN_LENGTH:
        raise PatternError(f"the pattern has {len(source):,} characters, more than {MAX_PATTERN_LENGTH:,}")
    for flag in flags:
        if flag not in FLAGS:
            raise PatternError(f"unknown flag {flag!r}; flags are `i`, `m` and `s`")
    prefix = f"(?{''.join(sorted(set(flags)))})" if flags else ""
    try:
        return _compiled(prefix + source)
    except PatternError as error:
        if error.position is not None:
            error.position = max(0, error.position - len(prefix))
        raise error.located_in(source) from None


def replace(source: str, text: str, replacement: str) -> str:
    """The text with every match of a pattern replaced, as `Pattern.replace` does."""
    return compile_pattern(source).replace(text, replacement)


def _compiled(source: str) -> Pattern:
    try:
        return _LinearPattern(source)
    except PatternError as error:
        refusal = error
    try:
        translation = translated(source, COUNTING)
    except PatternError as problem:
        # Rust's parser explains best what is wrong, unless it stumbles over what it alone does not know.
        raise (
            problem if "supported" in refusal.message or "back-ref" in problem.message else refusal
        ) from None
    if translation.plain_source == source:
        raise refusal
    LinearEngine(translation.plain_source)
    return _CountedPattern(source, translation)
