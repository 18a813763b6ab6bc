"""The engines behind patterns: one that is linear, one that counts its steps, one that watches the clock.

The linear engine is Rust's `regex` itself, as `pydantic-core` ships it. It knows no look-around and no
back-references and does not say where it matched. The counting engine is Rust's `fancy-regex`, as `jsonschema-rs`
ships it. The clocked engine is the package `regex`; it is asked for the places of matches, and where a text is so
large that a count that would stop a runaway search would stop an honest one too.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from time import monotonic
from typing import Any

from evenhand.text.pattern_class import PERL_CLASSES
from evenhand.text.pattern_errors import PatternError, PatternLimitExceeded
from evenhand.text.pattern_syntax import Dialect, Translation

TIME_LIMIT_S = 2.0
"""Longest time for one search or replacement by the clocked engine."""

_WORD = PERL_CLASSES["w"].text
COUNTING = Dialect(word_boundary=r"\b", no_word_boundary=r"\B", end_of_text=r"\z", folds_turkic_i=False)
CLOCKED = Dialect(
    word_boundary=f"(?:(?<={_WORD})(?!{_WORD})|(?<!{_WORD})(?={_WORD}))",
    no_word_boundary=f"(?:(?<={_WORD})(?={_WORD})|(?<!{_WORD})(?!{_WORD}))",
    end_of_text=r"\Z",
    folds_turkic_i=True,
)
_LINE_NUMBER = re.compile(r" *(\d+): ")
_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


class LinearEngine:
    """A pattern without look-around and back-references; time grows with pattern size times text size."""

    def __init__(self, source: str) -> None:
        from pydantic_core import SchemaError, SchemaValidator, core_schema

        schema = core_schema.str_schema(pattern=source, regex_engine="rust-regex", strict=True)
        try:
            self._validator = SchemaValidator(schema)
        except SchemaError as error:
            raise _explained(str(error), source) from None

    def search(self, text: str) -> bool:
        if self._validator.isinstance_python(text):
            return True
        if text.isascii():
            return False
        # The validator takes a text with an unpaired surrogate for no text at all.
        clean = without_surrogates(text)
        return clean is not text and self._validator.isinstance_python(clean)


class CountingEngine:
    """A pattern with look-around or back-references; a search takes at most a number of steps back."""

    def __init__(self, translation: Translation) -> None:
        self._pattern = translation.pattern
        self._validators: dict[int, Any] = {}

    def search(self, text: str, max_steps: int) -> bool | None:
        """Whether the pattern matches somewhere; None where the steps did not suffice."""
        validator = self._validators.get(max_steps) or self._compile(max_steps)
        error = next(validator.iter_errors(without_surrogates(text)), None)
        if error is None:
            return True
        return None if "executing regex" in error.message else False

    def _compile(self, max_steps: int) -> Any:
        import jsonschema_rs

        options = jsonschema_rs.FancyRegexOptions(backtrack_limit=max_steps)
        try:
            # The mask keeps the text, which may be large, out of the error's message.
            validator = jsonschema_rs.Draft202012Validator(
                {"pattern": self._pattern}, offline=True, mask="text", pattern_options=options
            )
        except ValueError:
            raise PatternError("look-around or back-reference of a kind that is not supported") from None
        self._validators[max_steps] = validator
        return validator


class ClockedEngine:
    """Any pattern, with the places of its matches; a search takes at most `TIME_LIMIT_S`."""

    def __init__(self, translation: Translation) -> None:
        import regex

        try:
            self._compiled = regex.compile(translation.pattern, regex.V0)
        except (regex.error, RecursionError) as error:
            raise PatternError(f"not supported where the place of a match is needed: {error}") from None

    def search(self, text: str) -> bool:
        try:
            return self._compiled.search(text, timeout=TIME_LIMIT_S) is not None
        except TimeoutError:
            raise _out_of_time(text) from None

    def matches(self, text: str, time_limit_s: float = TIME_LIMIT_S) -> Iterator[Any]:
        """The matches one after another, as Rust's `regex` finds them.

        An empty match right behind another match does not count; the search goes on one character further.
        """
        deadline = monotonic() + time_limit_s
        at, last_end = 0, -1
        while at <= len(text):
            match = self._next(text, at, deadline)
            if match and match.start() == match.end() == last_end:
                match = self._next(text, at + 1, deadline)
            if match is None:
                return
            yield match
            at = last_end = match.end()

    def _next(self, text: str, at: int, deadline: float) -> Any:
        remaining = deadline - monotonic()
        if remaining <= 0:
            raise _out_of_time(text)
        try:
            return self._compiled.search(text, at, timeout=remaining) if at <= len(text) else None
        except TimeoutError:
            raise _out_of_time(text) from None


def without_surrogates(text: str) -> str:
    """The text itself, or where it holds unpaired surrogates, with U+FFFD for each: no pattern can name one."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.translate(_SURROGATES)
    return text


def _out_of_time(text: str) -> PatternLimitExceeded:
    return PatternLimitExceeded(
        f"the search in {len(text):,} characters was stopped after {TIME_LIMIT_S:g} seconds"
    )


def _explained(message: str, source: str) -> PatternError:
    """What the parser said, in one line, with the position that its marks point at."""
    if "exceeds size limit" in message:
        return PatternError("it compiles to more than 10 MB; use smaller counted repetitions")
    lines = message.splitlines()
    return PatternError(lines[-1].removeprefix("error: ").strip(), _marked_position(lines, source))


def _marked_position(lines: list[str], source: str) -> int | None:
    """The position under the first `^` below a line of the pattern; lines of a longer pattern are numbered."""
    for above, marks in itertools.pairwise(lines):
        if marks.strip(" ^") or "^" not in marks:
            continue
        number = _LINE_NUMBER.match(above)
        line, margin = (int(number[1]), number.end()) if number else (1, 4)
        before = source.split("\n")[: line - 1]
        return sum(len(each) + 1 for each in before) + marks.index("^") - margin
    return None
