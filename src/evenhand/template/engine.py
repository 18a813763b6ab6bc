"""The template engine behind four verbs: render, evaluate, test, check.

Data is never rendered twice: a rendered text is plain text, whatever braces it holds. No template can hang, take
unbounded memory, change its data or raise anything but `TemplateError`. An engine serves one thread.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Any

import minijinja
import msgspec

from evenhand.errors import Problem, TemplateError
from evenhand.template.check import find_problem, syntax_message
from evenhand.template.explain import (
    chain_of,
    explain_call_error,
    explain_engine_error,
    explain_filter_error,
    missing_value,
)
from evenhand.template.faults import FilterError
from evenhand.template.holes import holes_of
from evenhand.template.prepare import METHOD_NAMES, PREFIX
from evenhand.template.rewrite import Prepared
from evenhand.template.runtime import Runtime
from evenhand.template.scan import names_in
from evenhand.template.scope import Scope
from evenhand.template.source import Source
from evenhand.template.statements import parse_template
from evenhand.template.tokens import Unreadable
from evenhand.template.values import plain

__all__ = ["Engine", "Scope", "is_template", "sole_expression"]

MAX_TEMPLATES = 5_000
"""Compiled templates kept; beyond that all are dropped and compiled again as they are used."""

MANY_NAMES = 64
"""Names of a scope beyond which the engine is handed only those that a template may read.

It takes every name over for every rendering, which a long chain of vars would pay for with the square of its length.
"""

_WORD = re.compile(r"\w+", re.ASCII)

_TEXT = r"[^{]*+(?:\{(?![{%#])[^{]*+)*+"
_PLAIN = re.compile(
    rf"{_TEXT}(?:\{{\{{-?\s*[A-Za-z]\w*(?:\.[A-Za-z]\w*){{0,20}}+\s*-?\}}\}}{_TEXT})*+", re.ASCII
)
"""Templates of names alone, which need no preparation."""

_METHOD = re.compile(rf"\{{\{{-?\s*(?:{'|'.join(sorted(METHOD_NAMES))})\b", re.ASCII)


def is_template(text: str) -> bool:
    """Whether a text holds anything for the engine to do."""
    return "{" in text and ("{{" in text or "{%" in text or "{#" in text)


@lru_cache(maxsize=MAX_TEMPLATES)
def sole_expression(text: str) -> str | None:
    """The expression of a text that is exactly one `{{ expression }}`, or None."""
    if not (text.startswith("{{") and text.endswith("}}")):
        return None
    try:
        body = parse_template(text)
    except Unreadable:
        return None
    if len(body) != 1 or body[0].kind != "emit":
        return None
    node = body[0].expressions[0]
    return text[node.start : node.end]


class _Compiled:
    """A source that the engine has under a name."""

    __slots__ = ("exact", "holes", "is_expression", "name", "prepared", "render", "runtime", "text", "words")

    def __init__(
        self, text: str, is_expression: bool, name: str, runtime: Runtime, prepared: Prepared
    ) -> None:
        self.text = text
        self.is_expression = is_expression
        self.name = name
        self.runtime = runtime
        self.prepared = prepared
        self.render = runtime.environment.render_template
        self.holes = None if is_expression else holes_of(text)
        self.exact: _Compiled | None = None
        """The same with comparisons that know large integers; itself where it compares nothing. Made when needed."""
        self.words: frozenset[str] | None = None

    def readable(self, names: dict[str, Any]) -> dict[str, Any]:
        """Those of many names that the source may read: all that stand in it as words, whatever they mean there."""
        if self.words is None:
            found = _WORD.findall(self.text)
            self.words = frozenset(found).union(PREFIX + word for word in found if word in METHOD_NAMES)
        return {word: names[word] for word in self.words if word in names}


class Engine:
    """Templates of one suite. Strict: an undefined name is an error, not an empty text."""

    def __init__(self) -> None:
        self._reset()

    def render(self, source: str, scope: Scope) -> str:
        """The template's text for a scope; a text without template syntax is returned as it is.

        Raises `TemplateError`.
        """
        compiled = self._templates.get(source)
        if compiled is None:
            if not is_template(source):
                return source
            compiled = self._templates[source] = self._compile(source, is_expression=False)
        if compiled.holes is not None:
            # A third of a microsecond in place of four.
            filled = compiled.holes.filled(scope.names)
            if filled is not None:
                return filled
        return self._run(compiled, scope)

    def evaluate(self, expression: str, scope: Scope) -> Any:
        """The JSON value of an expression, with its type. Values of the scope come back as they are, not copied.

        Raises `TemplateError`, also for an undefined value.
        """
        chain = _chain(expression)
        if chain is not None and chain[0] not in scope.unusable:
            return _resolved(chain, expression, scope)
        value = plain(self._value(expression, scope))
        if value is None and not self.test(f"({expression}) is defined", scope):
            raise _undefined(expression, scope)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return _number(self.render("{{ (" + expression + ") }}", scope))
        if isinstance(value, (list, dict)) and not scope.meter.has_large_integer:
            return msgspec.json.decode(self.render("{{ (" + expression + ")|tojson }}", scope))
        return value

    def test(self, expression: str, scope: Scope) -> bool:
        """Whether an expression is true; an expression that is just an undefined value is false.

        Raises `TemplateError`.
        """
        return bool(self._value(expression, scope))

    def check_template(self, source: str) -> Problem | None:
        """What is wrong with a template whatever its data: syntax, unknown filters, tests and functions."""
        return self._find_problem(source, is_expression=False) if is_template(source) else None

    def check_expression(self, expression: str) -> Problem | None:
        """What is wrong with an expression whatever its data."""
        return self._find_problem(expression, is_expression=True)

    def names_in(self, source: str) -> frozenset[str]:
        """The names that a template takes from its scope, nested ones with their path: `a`, `env.HOME`.

        None for a template that cannot be read.
        """
        return names_in(source)

    def syntax_error(self, prepared: Prepared) -> minijinja.TemplateError | None:
        """What the engine finds wrong with the syntax of a prepared source."""
        try:
            self._plain.environment.undeclared_variables_in_str(prepared.source)
        except minijinja.TemplateError as error:
            return error
        return None

    def _find_problem(self, text: str, *, is_expression: bool) -> Problem | None:
        key = (text, is_expression)
        if key not in self._problems:
            if len(self._problems) >= MAX_TEMPLATES:
                self._problems.clear()
            self._problems[key] = find_problem(text, self, is_expression=is_expression)
        return self._problems[key]

    def _reset(self) -> None:
        self._problems: dict[tuple[str, bool], Problem | None] = {}
        self._templates: dict[str, _Compiled] = {}
        self._expressions: dict[str, _Compiled] = {}
        self._plain = Runtime(is_watched=False)
        self._watched: Runtime | None = None

    def _value(self, expression: str, scope: Scope) -> Any:
        compiled = self._expressions.get(expression)
        if compiled is None:
            compiled = self._expressions[expression] = self._compile(expression, is_expression=True)
        text = self._run(compiled, scope)
        return text == "true" if compiled.prepared.prints_boolean else compiled.runtime.kept

    def _compile(self, text: str, *, is_expression: bool) -> _Compiled:
        count = len(self._templates) + len(self._expressions)
        if count >= MAX_TEMPLATES:
            self._forget()
            count = 0
        prepared = _prepared(text, is_expression)
        runtime = self._runtime(is_watched=prepared.is_watched)
        name = f"{count}"
        try:
            runtime.environment.add_template(name, prepared.source)
        except minijinja.TemplateError as error:
            raise TemplateError(syntax_message(error), line=error.line or 0, depends_on_data=False) from None
        return _Compiled(text, is_expression, name, runtime, prepared)

    def _runtime(self, *, is_watched: bool) -> Runtime:
        if not is_watched:
            return self._plain
        if self._watched is None:
            self._watched = Runtime(is_watched=True)
        return self._watched

    def _forget(self) -> None:
        self._templates.clear()
        self._expressions.clear()
        for runtime in (self._plain, self._watched):
            if runtime is not None:
                runtime.environment.clear_templates()

    def _run(self, compiled: _Compiled, scope: Scope) -> str:
        if scope.unusable:
            _refuse_unusable(compiled, scope)
        text = self._rendered(compiled, scope)
        if scope.meter.has_large_integer:
            exact = compiled.exact or self._exact(compiled)
            if exact is not compiled:
                return self._rendered(exact, scope)
        return text

    def _rendered(self, compiled: _Compiled, scope: Scope) -> str:
        meter = compiled.runtime.meter = scope.meter
        meter.reset()
        try:
            names = scope.names if len(scope.names) <= MANY_NAMES else compiled.readable(scope.names)
            text = compiled.render(compiled.name, **names)
        except Exception as error:  # noqa: BLE001  (whatever a template provokes is the template's error)
            raise self._explained(error, compiled, scope) from None
        except BaseException as error:
            if type(error).__name__ != "PanicException":
                raise
            self._reset()
            raise TemplateError("the template makes the engine fail", depends_on_data=False) from None
        if meter.fault is not None:
            raise explain_filter_error(meter.fault, _source_of(compiled), scope.names)
        return text

    def _exact(self, compiled: _Compiled) -> _Compiled:
        """The template that is right about large integers, which the engine takes for larger than any number."""
        source = _source_of(compiled)
        compiled.exact = compiled
        if source.orders_values:
            name, prepared = f"{compiled.name}/exact", source.prepared(is_exact=True)
            compiled.runtime.environment.add_template(name, prepared.source)
            compiled.exact = _Compiled(
                compiled.text, compiled.is_expression, name, compiled.runtime, prepared
            )
        return compiled.exact

    def _explained(self, error: Exception, compiled: _Compiled, scope: Scope) -> TemplateError:
        source = _source_of(compiled)
        fault = scope.meter.fault
        if fault is not None:
            return explain_filter_error(fault, source, scope.names)
        if isinstance(error, FilterError):
            if error is scope.meter.raised:
                return explain_filter_error(error, source, scope.names)
            return self._explained_again(compiled, scope)
        if isinstance(error, minijinja.TemplateError):
            return explain_engine_error(error, source, compiled.prepared, scope.names)
        return explain_call_error(source)

    def _explained_again(self, compiled: _Compiled, scope: Scope) -> TemplateError:
        """The error that an error of an earlier rendering hides: the engine hands back the first it has kept."""
        try:
            self._run(compiled, scope)
        except TemplateError as error:
            return error
        return TemplateError("the template does not render")


def _prepared(text: str, is_expression: bool) -> Prepared:
    if not is_expression and _PLAIN.fullmatch(text) and not _METHOD.search(text):
        return Prepared(text, [(0, 0)], False)
    try:
        return Source(text, is_expression=is_expression).prepared()
    except Unreadable as error:
        line = text.count("\n", 0, error.offset) + 1
        raise TemplateError(error.message, line=line, depends_on_data=False) from None


def _source_of(compiled: _Compiled) -> Source:
    return Source(compiled.text, is_expression=compiled.is_expression)


@lru_cache(maxsize=MAX_TEMPLATES)
def _chain(expression: str) -> list[str | int] | None:
    """The steps of an expression that is just a variable with attributes, which needs no engine."""
    try:
        source = Source(expression, is_expression=True)
        source.prepared()
    except Unreadable:
        return None
    return chain_of(source.expressions[0])


def _resolved(chain: list[str | int], expression: str, scope: Scope) -> Any:
    value: Any = scope.names
    for step in chain:
        try:
            value = plain(value[step])
        except (KeyError, IndexError, TypeError):
            raise _undefined(expression, scope) from None
    return value


def _undefined(expression: str, scope: Scope) -> TemplateError:
    source = Source(expression, is_expression=True)
    missing = missing_value(source.expressions[0], source, scope.names)
    return TemplateError(missing or "the expression is undefined", line=1)


def _number(text: str) -> int | float:
    """A number as the engine prints it. On the way to Python `1.0` would become `1`, and large integers floats."""
    if text.lstrip("-").isdigit():
        return int(text)
    number = float(text)
    if not math.isfinite(number):
        raise TemplateError("the expression is no finite number")
    return number


def _refuse_unusable(compiled: _Compiled, scope: Scope) -> None:
    for read in _source_of(compiled).mentions.reads:
        why = scope.unusable.get(read.path[0])
        if why is not None:
            raise TemplateError(f"`{read.path[0]}` {why}")
