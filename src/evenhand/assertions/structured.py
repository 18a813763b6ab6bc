"""Kinds that look for JSON in the output."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta

from evenhand.errors import BrokenAssertion, Problem
from evenhand.model.assertion import ASSERTIONS, Assertion, Example
from evenhand.model.evidence import Evidence
from evenhand.model.outcome import Outcome, failed, failed_both_ways, passed
from evenhand.template import Engine
from evenhand.text.excerpt import clipped, quoted
from evenhand.text.json_reader import NotJson
from evenhand.text.json_scan import BrokenSpan, JsonScan, JsonSpan, Select, selected
from evenhand.text.schema import Schema, SchemaError, SchemaFailure, compile_schema, mismatch


@ASSERTIONS.register
class IsJson(Assertion, frozen=True, kw_only=True, tag="is-json"):
    """The whole output is one JSON value (RFC 8259), scalars included. A code fence around it is not JSON."""

    examples = (
        Example(options={}, output=' {"a": [1, 2.5e3]}\n', expect="pass"),
        Example(options={}, output="42", expect="pass"),
        Example(options={}, output={"a": 1}, expect="pass"),
        Example(options={}, output="{'a': 1}", expect="fail"),
        Example(options={}, output='{"score": NaN}', expect="fail"),
        Example(options={}, output='```json\n{"a": 1}\n```', expect="fail"),
    )

    def evaluate(self, evidence: Evidence) -> Outcome:
        value = evidence.json
        if not isinstance(value, NotJson):
            return passed("output is valid JSON")
        hint = ""
        if evidence.text.lstrip().startswith("```"):
            hint = "; a code fence is not JSON, `contains-json` looks inside"
        return failed(f"output is not valid JSON: {_breach(value, evidence.text)}{hint}")


@ASSERTIONS.register
class ContainsJson(Assertion, frozen=True, kw_only=True, dict=True, tag="contains-json"):
    """A JSON object or array stands anywhere in the output and, with `schema`, matches it.

    Text that begins like JSON and breaks is prose, and the search goes on; JSON that the end of the output cuts off
    fails the assertion, negated or not. Negated with a schema it means that no JSON in the output matches.
    """

    schema: Annotated[
        dict[str, Any] | bool | None,
        Meta(
            description="JSON Schema that the value must match: the draft that `$schema` names, else 2020-12. "
            "Formats are asserted, remote references never fetched, templates not rendered."
        ),
    ] = None
    select: Annotated[
        Select,
        Meta(
            description="Which of several values counts: the first, the last, or any that matches. "
            "Values inside a value are a part of it."
        ),
    ] = "first"

    examples = (
        Example(options={}, output='As noted [see 2]: {"a": "}"} and so on', expect="pass"),
        Example(options={}, output="Use {name: value} pairs.", expect="fail"),
        Example(options={}, output='Sure: {"a": [1, 2', expect="fail"),
        Example(options={"schema": {"required": ["a"]}}, output='```json\n{"a": 1}\n```', expect="pass"),
        Example(options={"schema": {"type": "object"}}, output='See [1]. {"a": 1}', expect="fail"),
        Example(
            options={"schema": {"type": "object"}, "select": "last"},
            output='See [1]. {"a": 1}',
            expect="pass",
        ),
    )

    def problems(self, engine: Engine) -> Iterator[Problem]:
        try:
            _ = self._compiled
        except BrokenAssertion as broken:
            yield Problem(broken.message, ("schema",))

    def evaluate(self, evidence: Evidence) -> Outcome:
        search = self._search(evidence, self.select)
        outcome = self._verdict(search, evidence)
        # A group may ask for the opposite, which is that no value matches.
        is_narrow = self.select != "any" and not self.negate and _whole(evidence) is None
        if search.mismatch is None or outcome.both_ways or not is_narrow:
            return outcome
        wider = self._search(evidence, "any")
        if wider.match:
            hint = f"; that at character {wider.match.start + 1} does, which `select: any` takes"
            return failed_both_ways(outcome.reason + hint, details=outcome.details)
        return msgspec.structs.replace(outcome, both_ways=wider.truncated is not None)

    def negated(self, outcome: Outcome, evidence: Evidence) -> Outcome:
        search = self._search(evidence, "any")
        opposite = super().negated(self._verdict(search, evidence), evidence)
        if search.match:
            place = search.match.start
            where = f" at character {place + 1}: {quoted(evidence.text, around=place)}"
            return msgspec.structs.replace(opposite, reason=opposite.reason + where)
        return failed_both_ways(opposite.reason) if search.truncated else opposite

    @cached_property
    def _compiled(self) -> Schema | None:
        if self.schema is None:
            return None
        try:
            return compile_schema(self.schema)
        except SchemaError as error:
            raise BrokenAssertion(f"not a usable JSON Schema: {error}") from error

    def _search(self, evidence: Evidence, select: Select) -> _Search:
        whole = _whole(evidence)
        if whole is not None:
            return self._look_at([whole])
        scan = JsonScan(evidence.text)
        search = self._look_at(selected(scan, select))
        match = None if select == "last" and scan.truncated else search.match
        return search._replace(match=match, truncated=scan.truncated, broken=scan.longest_broken)

    def _look_at(self, spans: Iterable[JsonSpan]) -> _Search:
        """Go through values up to the first that matches."""
        mismatch: _Mismatch | None = None
        for span in spans:
            failures, total = self._compiled.failures(span.value) if self._compiled else ([], 0)
            if not total:
                return _Search(match=span)
            mismatch = mismatch or _Mismatch(failures, total)
        return _Search(mismatch=mismatch)

    def _verdict(self, search: _Search, evidence: Evidence) -> Outcome:
        if search.match:
            return passed(f"output contains JSON{' matching the schema' if self._compiled else ''}")
        if search.truncated:
            return failed_both_ways(_truncation(search.truncated, evidence.text))
        if search.mismatch:
            return search.mismatch.outcome()
        return failed(f"output contains no JSON value{_nearest_miss(search.broken, evidence.text)}")


class _Mismatch(NamedTuple):
    """What keeps a value from matching a schema."""

    failures: list[SchemaFailure]
    total: int

    def outcome(self) -> Outcome:
        errors = [
            {"path": clipped(failure.path), "message": clipped(failure.message)} for failure in self.failures
        ]
        return failed(mismatch(self.failures, self.total), details={"errors": errors, "total": self.total})


class _Search(NamedTuple):
    """What a look through an output for matching JSON found."""

    match: JsonSpan | None = None
    mismatch: _Mismatch | None = None
    """Of the first value that does not match."""
    truncated: BrokenSpan | None = None
    broken: BrokenSpan | None = None


def _whole(evidence: Evidence) -> JsonSpan | None:
    """The output itself where it is an object or array, structured or from its first character to its last.

    Then it need not be searched, and what other assertions read of it is read once.
    """
    output = evidence.response.output
    is_likely = not isinstance(output, str) or (output[:1] in ("[", "{") and output[-1:] in ("]", "}"))
    value = evidence.json if is_likely else None
    return JsonSpan(0, len(evidence.text), value) if isinstance(value, (dict, list)) else None


def _breach(breach: NotJson, text: str) -> str:
    excerpt = quoted(text, around=breach.position)
    if breach.truncated:
        return f"it is truncated, {breach.message}: {excerpt}"
    return f"{breach.message} at character {breach.position + 1}: {excerpt}"


def _truncation(broken: BrokenSpan, text: str) -> str:
    return (
        f"output contains truncated JSON: it begins at character {broken.start + 1}, and "
        f"{broken.breach.message}: {quoted(text, around=broken.start)}"
    )


def _nearest_miss(broken: BrokenSpan | None, text: str) -> str:
    """What looked most like JSON, if anything did; a lone opener is no more than punctuation."""
    if broken is None or broken.breach.position - broken.start < 2:
        return f", found {quoted(text)}"
    return f"; what begins like JSON at character {broken.start + 1} breaks: {_breach(broken.breach, text)}"
