"""The kind that judges which tools the model decided to call."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, Any, Literal

from msgspec import Meta

from evenhand.errors import BrokenAssertion, ErrorClass, Problem, TemplateError
from evenhand.model.assertion import ASSERTIONS, Assertion, Example
from evenhand.model.evidence import Evidence
from evenhand.model.exchange import Json, ToolCall
from evenhand.model.outcome import Outcome, failed, failed_both_ways, passed
from evenhand.template import Engine, Val
from evenhand.template.engine import sole_expression
from evenhand.template.val import is_raw
from evenhand.text.excerpt import clipped
from evenhand.text.json_equal import json_equal, shown_path
from evenhand.text.json_reader import NotJson, compact_json, read_json
from evenhand.text.schema import Schema, SchemaError, compile_schema, mismatch

SHOWN_CALLS = 10
"""Calls that a reason lists at most."""

_ABSENT = object()


@ASSERTIONS.register
class CallsTool(Assertion, frozen=True, kw_only=True, dict=True, tag="tool-call"):
    """The model called the tool `name`; evenhand never runs one.

    With `args` or `schema`, one call of that name must satisfy both. Arguments that arrive as JSON text are decoded
    first.
    """

    name: Annotated[str, Meta(description="The tool that must have been called, exactly as it is declared.")]
    args: Annotated[
        Val | None,
        Meta(
            description="Arguments that must all be there and equal; others may stand beside them. Templates in it "
            "are rendered, and a leaf that is exactly one `{{ expression }}` keeps the type of its value."
        ),
    ] = None
    schema: Annotated[
        dict[str, Any] | bool | None,
        Meta(
            description="JSON Schema that the call's arguments must match: the draft that `$schema` names, else "
            "2020-12. Templates in it are not rendered."
        ),
    ] = None
    match: Annotated[
        Literal["shallow", "deep"],
        Meta(description="`deep`: objects inside `args` may leave out keys of the call's objects too."),
    ] = "shallow"

    needs_tool_calls = True
    examples = (
        Example(
            options={"name": "get_weather"},
            response={"tool_calls": [{"name": "get_weather", "arguments": {"city": "Oslo"}}]},
            expect="pass",
        ),
        Example(
            options={"name": "get_weather", "args": {"city": "{{ city }}"}},
            vars={"city": "Oslo"},
            response={"tool_calls": [{"name": "get_weather", "arguments": '{"city": "Oslo", "unit": "C"}'}]},
            expect="pass",
        ),
        Example(
            options={"name": "book", "args": {"who": {"age": 7}}, "match": "deep"},
            response={"tool_calls": [{"name": "book", "arguments": {"who": {"age": 7, "name": "Ada"}}}]},
            expect="pass",
        ),
        Example(
            options={"name": "get_weather", "schema": {"required": ["city"]}},
            response={"tool_calls": [{"name": "get_weather", "arguments": {"town": "Oslo"}}]},
            expect="fail",
        ),
        Example(options={"name": "get_weather"}, output="It is sunny.", expect="fail"),
        Example(options={"name": "get_weather", "args": {"city": "{{ nobody }}"}}, expect="error"),
    )

    def problems(self, engine: Engine) -> Iterator[Problem]:
        if not self.name.strip():
            yield Problem("no tool has an empty name", ("name",))
        if self.args is not None and not _may_be_object(self.args.authored):
            found = compact_json(self.args.authored)
            yield Problem(
                f"`args` must be an object of argument names and values, found {clipped(found)}", ("args",)
            )
        try:
            _ = self._compiled
        except SchemaError as error:
            yield Problem(f"not a usable JSON Schema: {error}", ("schema",))

    def warnings(self, engine: Engine) -> Iterator[Problem]:
        if self.match == "deep" and self.args is None:
            yield Problem("`match` says how `args` are compared, and there are none", ("match",), "remove it")

    def evaluate(self, evidence: Evidence) -> Outcome:
        expected = self._expected(evidence)
        calls = evidence.response.tool_calls
        named = [call for call in calls if call.name == self.name]
        is_untold = not calls and not evidence.provider_reports_tool_calls
        if is_untold and self.negate:
            raise BrokenAssertion("the provider does not report tool calls, so their absence shows nothing")
        if not named:
            return self._missed(f"was not called {_overview(calls, evidence)}", is_known=not is_untold)
        difference = None
        for call in named:
            difference = self._difference(call, expected)
            if difference is None:
                return passed(f"tool `{clipped(self.name)}` was called as expected")
        is_known = not any(self._is_unreadable(call) for call in calls)
        return self._missed(
            f"was called {len(named)} time(s), none matching: {difference}; {_listed(calls)}",
            is_known=is_known,
        )

    def _missed(self, what: str, *, is_known: bool) -> Outcome:
        """The tool was not called as expected; only where everything is known was it really not."""
        reason = f"tool `{clipped(self.name)}` {what}"
        return failed(reason) if is_known else failed_both_ways(reason)

    @cached_property
    def _compiled(self) -> Schema | None:
        return None if self.schema is None else compile_schema(self.schema)

    def _expected(self, evidence: Evidence) -> dict[str, Json] | None:
        if self.args is None:
            return None
        try:
            expected = self.args.render(evidence.engine, evidence.scope, typed=True)
        except TemplateError as error:
            message = f"`args` cannot be evaluated: {error.message}"
            raise BrokenAssertion(message, ErrorClass.RENDER_FAILED) from error
        if not isinstance(expected, dict):
            raise BrokenAssertion(f"`args` must become an object, became {clipped(compact_json(expected))}")
        return expected

    def _is_unreadable(self, call: ToolCall) -> bool:
        """Whether a call may or may not be the one that is asked for, because its arguments are no JSON."""
        is_constrained = self.args is not None or self.schema is not None
        return is_constrained and call.name == self.name and isinstance(_arguments(call), NotJson)

    def _difference(self, call: ToolCall, expected: dict[str, Json] | None) -> str | None:
        """What keeps a call from being the one that is asked for."""
        if expected is None and self.schema is None:
            return None
        arguments = _arguments(call)
        if isinstance(arguments, NotJson):
            return f"its arguments are not JSON: {arguments.message} at character {arguments.position + 1}"
        if expected is not None:
            if not isinstance(arguments, dict):
                return f"its arguments are no object: {clipped(compact_json(arguments))}"
            if difference := _missing_or_different(expected, arguments, is_deep=self.match == "deep"):
                return difference
        if self._compiled is None:
            return None
        failures, total = self._compiled.failures(arguments)
        return mismatch(failures, total) if total else None


def _may_be_object(authored: Json) -> bool:
    """Whether `args` is an object, or one expression that can become one."""
    value = authored["$raw"] if is_raw(authored) else authored
    return isinstance(value, dict) or (
        isinstance(authored, str) and sole_expression(authored.strip()) is not None
    )


def _arguments(call: ToolCall) -> Json | NotJson:
    """The arguments as a JSON value; none at all count as an empty object."""
    if isinstance(call.arguments, str):
        return read_json(call.arguments, exact=True)
    return {} if call.arguments is None else call.arguments


def _missing_or_different(expected: dict[str, Json], found: dict[str, Json], *, is_deep: bool) -> str | None:
    """The first expected argument that was not passed or has another value."""
    waiting: list[tuple[tuple[str | int, ...], Json, Json]] = [((), expected, found)]
    is_top = True
    while waiting:
        path, wanted, got = waiting.pop()
        if (is_top or is_deep) and isinstance(wanted, dict) and isinstance(got, dict):
            members = [((*path, key), value, got.get(key, _ABSENT)) for key, value in wanted.items()]
            waiting.extend(reversed(members))
        elif is_deep and isinstance(wanted, list) and isinstance(got, list) and len(wanted) == len(got):
            items = [((*path, index), *pair) for index, pair in enumerate(zip(wanted, got, strict=True))]
            waiting.extend(reversed(items))
        elif got is _ABSENT:
            return f"argument `{shown_path(path)}` was not passed"
        elif not json_equal(wanted, got):
            shown = f"{clipped(compact_json(got))}, expected {clipped(compact_json(wanted))}"
            return f"argument `{shown_path(path)}` was {shown}"
        is_top = False
    return None


def _overview(calls: tuple[ToolCall, ...], evidence: Evidence) -> str:
    if calls:
        names = ", ".join(clipped(call.name) for call in calls[:SHOWN_CALLS])
        return f"(called: {names}{_others(calls)}); {_listed(calls)}"
    if evidence.provider_reports_tool_calls:
        return "(no tools were called)"
    return "(no tools were called; this provider does not report tool calls)"


def _listed(calls: tuple[ToolCall, ...]) -> str:
    """Every call with its arguments, as they arrived."""
    shown = [f"{clipped(call.name)} {clipped(_as_arrived(call))}".rstrip() for call in calls[:SHOWN_CALLS]]
    return f"calls: {', '.join(shown)}{_others(calls)}"


def _as_arrived(call: ToolCall) -> str:
    if isinstance(call.arguments, str):
        return call.arguments
    return "" if call.arguments is None else compact_json(call.arguments)


def _others(calls: tuple[ToolCall, ...]) -> str:
    return f" and {len(calls) - SHOWN_CALLS} more" if len(calls) > SHOWN_CALLS else ""
