"""What is wrong with a template or an expression whatever its data, found without rendering it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import minijinja

from evenhand.errors import Problem, TemplateError
from evenhand.template.scan import unknown_names
from evenhand.template.scope import Scope
from evenhand.template.source import Source
from evenhand.template.syntax import Node
from evenhand.template.tokens import Unreadable

if TYPE_CHECKING:
    from evenhand.template.engine import Engine

_PATTERN_FILTERS = frozenset({"regex_match", "regex_replace"})


def find_problem(text: str, engine: Engine, *, is_expression: bool) -> Problem | None:
    """The first thing that is wrong, or None."""
    if is_expression and not text.strip():
        return Problem("the expression is empty")
    try:
        source = Source(text, is_expression=is_expression)
        prepared = source.prepared()
    except Unreadable as error:
        return _placed(text, error.offset, Problem(error.message))
    refusal = engine.syntax_error(prepared)
    if refusal is not None:
        return _on_line(text, refusal.line or 0, Problem(syntax_message(refusal)))
    found = [*unknown_names(source.mentions), *_bad_patterns(source, engine)]
    if not found:
        return None
    offset, problem = min(found, key=lambda pair: pair[0])
    return _placed(text, offset, problem)


def syntax_message(error: minijinja.TemplateError) -> str:
    """What the engine finds wrong with a source, in one line."""
    if error.kind == "BadEscape":
        return "a text holds a bad escape"
    return str(error.detail or "it cannot be read")


def _bad_patterns(source: Source, engine: Engine) -> Iterator[tuple[int, Problem]]:
    """Regular expressions written in the source itself that are none."""
    for root in source.expressions:
        for node in root.walk():
            if node.kind == "filter" and node.name in _PATTERN_FILTERS and len(node.parts) > 1:
                problem = _pattern_problem(node.parts[1], source, engine)
                if problem is not None:
                    yield node.parts[1].start, problem


def _pattern_problem(node: Node, source: Source, engine: Engine) -> Problem | None:
    from evenhand.text.pattern import PatternError, compile_pattern

    if node.kind != "constant":
        return None
    try:
        pattern = engine.evaluate(source.text[node.start : node.end], Scope({}))
        if isinstance(pattern, str):
            compile_pattern(pattern)
    except PatternError as error:
        return Problem(f"the pattern is no regular expression: {error}")
    except TemplateError:
        return None
    return None


def _placed(text: str, offset: int, problem: Problem) -> Problem:
    return _on_line(text, text.count("\n", 0, offset) + 1, problem)


def _on_line(text: str, line: int, problem: Problem) -> Problem:
    """The problem with its line, where the text has several."""
    if not line or "\n" not in text.rstrip("\n"):
        return problem
    return problem._replace(message=f"line {line}: {problem.message}")
