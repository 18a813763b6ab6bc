"""The minijinja engine behind four verbs: render, evaluate, test, check.

Data is never rendered twice: a rendered text is plain text, whatever braces it holds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import minijinja
import msgspec

from evenhand.errors import Problem, TemplateError

MAX_TEMPLATES = 2_000
"""Compiled templates kept; beyond that a source is compiled for each use."""

FUEL = 5_000_000
"""Instructions that one rendering may take."""

_SOLE_EXPRESSION = re.compile(r"\{\{(?!.*\{\{)(.*)\}\}", re.DOTALL)


def is_template(text: str) -> bool:
    """Whether a text holds anything for the engine to do."""
    return "{{" in text or "{%" in text or "{#" in text


def sole_expression(text: str) -> str | None:
    """The expression of a text that is exactly one `{{ expression }}`, or None."""
    match = _SOLE_EXPRESSION.fullmatch(text)
    return match[1] if match else None


class Scope:
    """The names that a template sees, wrapped once so that no template can change them."""

    __slots__ = ("names",)

    def __init__(self, names: Mapping[str, Any]) -> None:
        self.names = dict(names)

    def extended(self, names: Mapping[str, Any]) -> Scope:
        """This scope with further names; they win over its own."""
        return Scope({**self.names, **names})


class Engine:
    """Templates of one suite. Strict: an undefined name is an error, not an empty text."""

    def __init__(self) -> None:
        self._environment = minijinja.Environment(
            undefined_behavior="strict", debug=False, pycompat=False, keep_trailing_newline=True
        )
        self._environment.fuel = FUEL
        self._names: dict[str, str] = {}

    def render(self, source: str, scope: Scope) -> str:
        """The template's text for a scope; a text without template syntax is returned as it is."""
        if not is_template(source):
            return source
        try:
            name = self._names.get(source) or self._keep(source)
            if name is None:
                return self._environment.render_str(source, None, **scope.names)
            return self._environment.render_template(name, **scope.names)
        except minijinja.TemplateError as error:
            raise _translated(error) from None

    def evaluate(self, expression: str, scope: Scope) -> Any:
        """The JSON value of an expression, with its type. An undefined value is an error."""
        try:
            text = self._environment.eval_expr(f"({expression})|tojson", **scope.names)
        except minijinja.TemplateError as error:
            raise _translated(error) from None
        return msgspec.json.decode(str(text))

    def test(self, expression: str, scope: Scope) -> bool:
        """Whether an expression is true; an expression that is just an undefined name is false."""
        try:
            return bool(self._environment.eval_expr(expression, **scope.names))
        except minijinja.TemplateError as error:
            raise _translated(error) from None

    def check_template(self, source: str) -> Problem | None:
        """What is wrong with a template whatever its data: syntax, unknown filters, tests and functions."""
        try:
            self._environment.undeclared_variables_in_str(source)
        except minijinja.TemplateError as error:
            return Problem(_translated(error).message)
        return None

    def check_expression(self, expression: str) -> Problem | None:
        """What is wrong with an expression whatever its data."""
        return self.check_template("{{ (" + expression + ") }}")

    def names_in(self, source: str) -> frozenset[str]:
        """The names that a template takes from its scope, nested ones with their path: `a`, `env.HOME`."""
        return frozenset(self._environment.undeclared_variables_in_str(source, nested=True))

    def _keep(self, source: str) -> str | None:
        if len(self._names) >= MAX_TEMPLATES:
            return None
        name = f"t{len(self._names)}"
        self._environment.add_template(name, source)
        self._names[source] = name
        return name


def _translated(error: minijinja.TemplateError) -> TemplateError:
    message = str(error.detail or error.kind)
    return TemplateError(
        message, line=error.line or 0, depends_on_data=error.kind not in ("SyntaxError", "UnknownFilter")
    )
