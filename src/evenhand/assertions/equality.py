"""The kind that compares the output with an expected value, as text or as JSON."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from evenhand.errors import BrokenAssertion, ErrorClass, TemplateError
from evenhand.model.assertion import ASSERTIONS, Assertion, Example
from evenhand.model.evidence import Evidence
from evenhand.model.exchange import Json
from evenhand.model.outcome import Outcome, failed, passed
from evenhand.template import Val
from evenhand.text.excerpt import QUOTE_LENGTH, clipped, contrast, quoted
from evenhand.text.json_equal import first_difference, json_equal
from evenhand.text.json_reader import NotJson, compact_json, read_json
from evenhand.text.lookalike import likeness


@ASSERTIONS.register
class Equals(Assertion, frozen=True, kw_only=True, tag="equals"):
    """The output equals `value`: a text character by character, any other value as JSON.

    As JSON, numbers are compared by value at full precision (1 equals 1.0), `true` never equals 1, and the order of
    keys does not count. Templates in `value` are rendered for each case; in an object or list, a leaf that is
    exactly one `{{ expression }}` keeps the type of its value.
    """

    value: Annotated[
        Val,
        Meta(description="What the output must be: text, or any JSON value. Templates in it are rendered."),
    ]

    examples = (
        Example(
            options={"value": "Hello {{ name }}"}, vars={"name": "Ada"}, output="Hello Ada", expect="pass"
        ),
        Example(options={"value": "4"}, output="4.0", expect="fail"),
        Example(options={"value": 4}, output=" 4.0\n", expect="pass"),
        Example(options={"value": {"a": 1, "b": True}}, output='{"b": true, "a": 1}', expect="pass"),
        Example(options={"value": {"a": 1}}, output='{"a": true}', expect="fail"),
        Example(options={"value": {"n": "{{ n }}"}}, vars={"n": 3}, output={"n": 3}, expect="pass"),
        Example(options={"value": {"$raw": "{{ name }}"}}, output="{{ name }}", expect="pass"),
        Example(options={"value": "{{ nobody }}"}, output="{{ nobody }}", expect="error"),
    )

    @property
    def expected_text(self) -> str | None:
        return None if self.negate else self.value.text

    def evaluate(self, evidence: Evidence) -> Outcome:
        expected = self._expected(evidence)
        is_text = isinstance(expected, str)
        shown = quoted(expected) if is_text else clipped(compact_json(expected))
        if evidence.text == expected if is_text else json_equal(expected, evidence.exact_json):
            return passed(f"output equals expected {shown}")
        reason = f"output does not equal expected {shown}"
        if self.negate:  # what the suite wants, case after case: nothing to explain
            return failed(reason)
        explain = _unequal_texts if is_text else _unequal_values
        return failed(f"{reason}: {explain(expected, evidence)}")

    def _expected(self, evidence: Evidence) -> Json:
        is_text = isinstance(self.value.authored, str)
        try:
            return self.value.render(evidence.engine, evidence.scope, typed=not is_text)
        except TemplateError as error:
            raise BrokenAssertion(
                f"`value` does not render: {error.message}", ErrorClass.RENDER_FAILED
            ) from error


def _unequal_texts(expected: str, evidence: Evidence) -> str:
    differs_by = likeness(expected, evidence.text)
    hint = f"; they differ only by {differs_by}" if differs_by else ""
    value = read_json(expected, exact=True)
    if not isinstance(value, (NotJson, str)) and json_equal(value, evidence.exact_json):
        hint += "; both are equal as JSON: to compare them so, write the expected one as a value, not as text"
    is_short = max(len(expected), len(evidence.text)) <= QUOTE_LENGTH
    return (f"found {quoted(evidence.text)}" if is_short else contrast(expected, evidence.text)) + hint


def _unequal_values(expected: Json, evidence: Evidence) -> str:
    found = evidence.exact_json
    if isinstance(found, NotJson):
        place = quoted(evidence.text, around=found.position)
        return f"it is not JSON, {found.message} at character {found.position + 1} of {place}"
    return str(first_difference(expected, found))
