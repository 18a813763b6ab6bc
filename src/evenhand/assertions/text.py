"""Kinds that look for a text in the output, or at its length."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from evenhand.errors import DocumentPath, Problem
from evenhand.model.assertion import ASSERTIONS, Assertion, Example
from evenhand.model.evidence import Evidence
from evenhand.model.outcome import Outcome, failed, passed
from evenhand.template import Engine
from evenhand.text.excerpt import quoted
from evenhand.text.folding import original_span
from evenhand.text.lookalike import Lookalike, described, difference_hint, find_lookalike, likeness

SHOWN_VALUES = 8
"""Listed texts that a reason names."""

_NOT_EMPTY = {"minLength": 1}


class TextSought(Assertion, frozen=True, kw_only=True):
    """A check that looks for one text."""

    value: Annotated[
        str,
        Meta(
            description="Text to look for. Taken as it stands, never a template.",
            extra_json_schema=_NOT_EMPTY,
        ),
    ]

    verb: ClassVar[str] = "contains"
    """What an output does that passes."""

    @property
    def expected_text(self) -> str | None:
        return None if self.negate else self.value

    def problems(self, engine: Engine) -> Iterator[Problem]:
        if not self.value:
            yield _empty_needle(("value",), self.verb)

    def warnings(self, engine: Engine) -> Iterator[Problem]:
        yield from _unfilled(("value",), self.value, engine)


@ASSERTIONS.register
class Contains(TextSought, frozen=True, kw_only=True, dict=True, tag="contains"):
    """The output contains the text `value`, letter case included."""

    examples = (
        Example(options={"value": "Paris"}, output="It is Paris.", expect="pass"),
        Example(options={"value": "paris"}, output="It is Paris.", expect="fail"),
        Example(options={"value": '"ok":true'}, output={"ok": True}, expect="pass"),
    )

    def evaluate(self, evidence: Evidence) -> Outcome:
        if self.value in evidence.text:
            return self._held
        if self.negate:
            return self._absent
        return failed(f"{self._absent.reason}, {_instead(self.value, evidence)}")

    # What says the same of every output is made once for all of them.

    @cached_property
    def _held(self) -> Outcome:
        return passed(f"output contains {quoted(self.value)}")

    @cached_property
    def _absent(self) -> Outcome:
        return failed(f"output does not contain {quoted(self.value)}")

    @cached_property
    def _held_negated(self) -> Outcome:
        return passed(f"negated: {self._absent.reason}")

    def negated(self, outcome: Outcome, evidence: Evidence) -> Outcome:
        if outcome is self._absent:
            return self._held_negated
        return _with_place(super().negated(outcome, evidence), evidence, _span(self.value, evidence))


@ASSERTIONS.register
class IContains(TextSought, frozen=True, kw_only=True, dict=True, tag="icontains"):
    """The output contains the text `value`, whatever the letter case (full Unicode case folding on both sides)."""

    examples = (
        Example(options={"value": "PARIS"}, output="It is Paris.", expect="pass"),
        Example(options={"value": "strasse"}, output="Lange Straße 5", expect="pass"),
        Example(options={"value": "Rome"}, output="It is Paris.", expect="fail"),
    )

    def evaluate(self, evidence: Evidence) -> Outcome:
        if self._folded in evidence.folded_text:
            return self._held
        if self.negate:
            return self._absent
        return failed(f"{self._absent.reason}, {_instead_folded((self.value,), evidence)}")

    @cached_property
    def _folded(self) -> str:
        return self.value.casefold()

    @cached_property
    def _held(self) -> Outcome:
        return passed(f"output contains {quoted(self.value)} (case-insensitive)")

    @cached_property
    def _absent(self) -> Outcome:
        return failed(f"output does not contain {quoted(self.value)} (case-insensitive)")

    @cached_property
    def _held_negated(self) -> Outcome:
        return passed(f"negated: {self._absent.reason}")

    def negated(self, outcome: Outcome, evidence: Evidence) -> Outcome:
        if outcome is self._absent:
            return self._held_negated
        return _with_place(super().negated(outcome, evidence), evidence, _folded_span(self.value, evidence))


@ASSERTIONS.register
class IContainsAny(Assertion, frozen=True, kw_only=True, tag="icontains-any"):
    """The output contains at least one of the texts `values`, whatever the letter case."""

    values: Annotated[
        tuple[str, ...],
        Meta(
            description="Texts to look for, any of which is enough. Taken as they stand, never templates.",
            extra_json_schema={"minItems": 1, "items": {"type": "string", **_NOT_EMPTY}},
        ),
    ]

    examples = (
        Example(options={"values": ["cannot", "unable to"]}, output="I am Unable to say.", expect="pass"),
        Example(options={"values": ["cannot", "unable to"]}, output="Of course.", expect="fail"),
    )

    def problems(self, engine: Engine) -> Iterator[Problem]:
        if not self.values:
            yield Problem(
                "no texts to look for, so no output can pass", ("values",), "list at least one text"
            )
        for index, value in enumerate(self.values):
            if not value:
                yield _empty_needle(("values", index), "contains")

    def warnings(self, engine: Engine) -> Iterator[Problem]:
        for index, value in enumerate(self.values):
            yield from _unfilled(("values", index), value, engine)

    def evaluate(self, evidence: Evidence) -> Outcome:
        value = self._first_hit(evidence)
        if value is not None:
            return passed(f"output contains {quoted(value)} (case-insensitive)")
        reason = f"output contains none of {_listed(self.values)} (case-insensitive)"
        return failed(reason if self.negate else f"{reason}, {_instead_folded(self.values, evidence)}")

    def negated(self, outcome: Outcome, evidence: Evidence) -> Outcome:
        span = _folded_span(self._first_hit(evidence) or "", evidence)
        return _with_place(super().negated(outcome, evidence), evidence, span)

    def _first_hit(self, evidence: Evidence) -> str | None:
        folded = evidence.folded_text
        return next((value for value in self.values if value.casefold() in folded), None)


@ASSERTIONS.register
class StartsWith(TextSought, frozen=True, kw_only=True, tag="starts-with"):
    """The output begins with the text `value`, letter case and white space included."""

    verb = "starts with"

    examples = (
        Example(options={"value": "Dear "}, output="Dear Ada,", expect="pass"),
        Example(options={"value": "Dear "}, output="  Dear Ada,", expect="fail"),
        Example(options={"value": "{"}, output={"ok": True}, expect="pass"),
    )

    def evaluate(self, evidence: Evidence) -> Outcome:
        if evidence.text.startswith(self.value):
            return passed(f"output starts with {quoted(self.value)}")
        reason = f"output does not start with {quoted(self.value)}"
        return failed(reason if self.negate else f"{reason}, {_beginning(self.value, evidence.text)}")

    def negated(self, outcome: Outcome, evidence: Evidence) -> Outcome:
        return _with_place(super().negated(outcome, evidence), evidence, (0, len(self.value)))


@ASSERTIONS.register
class Length(Assertion, frozen=True, kw_only=True, tag="length"):
    """The output has between `min` and `max` characters (Unicode code points), both included."""

    min: Annotated[
        int | None,
        Meta(description="Fewest characters allowed.", extra_json_schema={"minimum": 0}),
    ] = None
    max: Annotated[
        int | None,
        Meta(description="Most characters allowed.", extra_json_schema={"minimum": 0}),
    ] = None

    examples = (
        Example(options={"min": 1, "max": 5}, output="12345", expect="pass"),
        Example(options={"max": 4}, output="12345", expect="fail"),
        Example(options={"min": 6}, output="12345", expect="fail"),
        Example(options={"max": 0}, output="", expect="pass"),
    )

    def problems(self, engine: Engine) -> Iterator[Problem]:
        for name, bound in (("min", self.min), ("max", self.max)):
            if bound is not None and bound < 0:
                yield Problem(f"a length cannot be negative, found {bound}", (name,), "give 0 or more")
        if self.max is None and not self.min:
            yield Problem(
                "no bound that an output could break",
                () if self.min is None else ("min",),
                "give `max`, or a `min` of 1 or more",
            )
        if self.min is not None and self.max is not None and self.min > self.max:
            yield Problem(
                f"`min` {self.min} is greater than `max` {self.max}, so no output can pass",
                ("min",),
                "swap them or widen the range",
            )

    def evaluate(self, evidence: Evidence) -> Outcome:
        length = len(evidence.text)
        if self.min is not None and length < self.min:
            return failed(f"length {length} < min {self.min}")
        if self.max is not None and length > self.max:
            return failed(f"length {length} > max {self.max}")
        return passed(f"length {length} within bounds")


def _unfilled(path: DocumentPath, value: str, engine: Engine) -> Iterator[Problem]:
    """A warning where a text to look for names variables as a template does: most often one was meant."""
    if "{{" in value and engine.names_in(value):
        yield Problem(
            f"the text to look for is taken as it stands, and {quoted(value)} looks like a template",
            path,
            "to compare with a variable, use `jinja`: `name in output`",
        )


def _empty_needle(path: DocumentPath, verb: str) -> Problem:
    return Problem(
        f"the text to look for is empty, and every output {verb} that", path, "give at least one character"
    )


def _span(value: str, evidence: Evidence) -> tuple[int, int]:
    start = evidence.text.find(value)
    return start, start + len(value)


def _folded_span(value: str, evidence: Evidence) -> tuple[int, int]:
    """Where the output has a text, whatever the letter case."""
    folded = value.casefold()
    start = evidence.folded_text.find(folded)
    return original_span(evidence.text, start, start + len(folded))


def _with_place(outcome: Outcome, evidence: Evidence, span: tuple[int, int]) -> Outcome:
    """A failed negation with the place of what should not have been there."""
    if outcome.passed:
        return outcome
    start, end = span
    place = f" at character {start + 1}: {quoted(evidence.text, around=(start + end) // 2)}"
    return msgspec.structs.replace(outcome, reason=outcome.reason + place)


# What stands in place of a text that is missing is told only where its absence is a failure: under `negate` it is
# what the suite wants, case after case.


def _instead(value: str, evidence: Evidence) -> str:
    if value.casefold() in evidence.folded_text:
        found = Lookalike("letter case", *_folded_span(value, evidence))
        return described(found, evidence.text)
    return difference_hint(value, evidence.text) or f"found {quoted(evidence.text)}"


def _instead_folded(values: tuple[str, ...], evidence: Evidence) -> str:
    found = find_lookalike(evidence.folded_text, *(value.casefold() for value in values))
    if found is None:
        return f"found {quoted(evidence.text)}"
    if found.start is not None and found.end is not None:
        found = Lookalike(found.differs_by, *original_span(evidence.text, found.start, found.end))
    return described(found, evidence.text)


def _beginning(value: str, text: str) -> str:
    beginning = text[: len(value)]
    differs_by = likeness(value, beginning)
    if not differs_by and beginning.casefold() == value.casefold():
        differs_by = "letter case"
    hint = f" (they differ only by {differs_by})" if differs_by else ""
    return f"it starts with {quoted(text[: 2 * len(value) + 40])}{hint}"


def _listed(values: tuple[str, ...]) -> str:
    shown = ", ".join(quoted(value, length=40) for value in values[:SHOWN_VALUES])
    more = len(values) - SHOWN_VALUES
    return f"{shown} and {more} more" if more > 0 else shown
