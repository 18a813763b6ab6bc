"""The kind that searches the output for a regular expression."""

from __future__ import annotations

import string
from collections.abc import Iterator
from functools import cached_property
from typing import Annotated

import msgspec
from msgspec import Meta

from evenhand.errors import BrokenAssertion, Problem
from evenhand.model.assertion import ASSERTIONS, Assertion, Example
from evenhand.model.evidence import Evidence
from evenhand.model.outcome import Outcome, failed, passed
from evenhand.template import Engine
from evenhand.text.excerpt import clipped, quoted
from evenhand.text.pattern import FLAGS, Pattern, PatternError, PatternLimitExceeded, compile_pattern

_PROBES = ("", *string.printable, "é", "\ue000")
"""Texts that a pattern which tells anything apart does not match all."""


@ASSERTIONS.register
class Regex(Assertion, frozen=True, kw_only=True, dict=True, tag="regex"):
    """The regular expression `value` matches somewhere in the output.

    The language is that of Rust's `regex` crate: classes are Unicode-aware, `$` is only the very end, `.` is no
    newline, flags such as `(?i)` may stand inside. Look-around and back-references work too, under a limit of
    steps; a search that hits it is an error.
    """

    value: Annotated[str, Meta(description="The pattern, searched anywhere in the output. Not a template.")]
    flags: Annotated[
        str,
        Meta(
            description="Any of `i` (ignore case), `m` (`^` and `$` match at line ends) and "
            "`s` (`.` matches newlines)."
        ),
    ] = ""

    examples = (
        Example(options={"value": r"\b\d{3}-\d{4}\b"}, output="Call 555-0100.", expect="pass"),
        Example(options={"value": r"\b\d{3}-\d{4}\b"}, output="Call 5550100.", expect="fail"),
        Example(options={"value": "paris$", "flags": "i"}, output="It is Paris", expect="pass"),
        Example(options={"value": "Paris$"}, output="It is Paris\n", expect="fail"),
        Example(options={"value": r"(?<!\d)7(?!\d)"}, output="47", expect="fail"),
    )

    def problems(self, engine: Engine) -> Iterator[Problem]:
        if not self.value:
            yield Problem(
                "an empty pattern matches every output", ("value",), "write what the output must contain"
            )
            return
        try:
            _ = self._pattern
        except PatternError as error:
            is_about_flags = any(flag not in FLAGS for flag in self.flags)
            yield Problem(f"not a usable pattern: {error}", ("flags" if is_about_flags else "value",))

    def warnings(self, engine: Engine) -> Iterator[Problem]:
        try:
            matches_all = all(map(self._pattern.search, _PROBES))
        except (PatternError, PatternLimitExceeded):
            return
        if matches_all:
            yield Problem(
                f"the pattern {self._shown} matches every text, the empty one too",
                ("value",),
                "anchor it or use `+`",
            )

    def evaluate(self, evidence: Evidence) -> Outcome:
        try:
            found = self._pattern.search(evidence.text)
        except PatternError as error:
            raise BrokenAssertion(f"not a usable pattern: {error}") from error
        if found:
            return self._held
        return failed(f"output does not match {self._shown}: {quoted(evidence.text)}")

    def negated(self, outcome: Outcome, evidence: Evidence) -> Outcome:
        opposite = super().negated(outcome, evidence)
        place = self._pattern.place(evidence.text) if outcome.passed else None
        if place is None:
            return opposite
        where = f" at character {place[0] + 1}: {quoted(evidence.text, around=place[0])}"
        return msgspec.structs.replace(opposite, reason=opposite.reason + where)

    @cached_property
    def _pattern(self) -> Pattern:
        return compile_pattern(self.value, self.flags)

    @cached_property
    def _held(self) -> Outcome:
        return passed(f"output matches {self._shown}")

    @cached_property
    def _shown(self) -> str:
        return f"/{clipped(self.value)}/{self.flags}"
