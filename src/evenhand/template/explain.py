"""Errors of the engine in the words of a person who wrote the template.

Messages name places, names and kinds of values, never values: the engine's own text may hold them.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import minijinja

from evenhand.errors import TemplateError
from evenhand.registry import nearest
from evenhand.template.faults import FilterError, LimitExceeded, UndefinedValue
from evenhand.template.language import FILTERS, OPTIONAL_FILTERS, OPTIONAL_TESTS
from evenhand.template.prepare import PREFIX
from evenhand.template.rewrite import Prepared
from evenhand.template.scan import constant_text
from evenhand.template.source import Source
from evenhand.template.syntax import Node
from evenhand.template.values import plain

MAX_CANDIDATES = 500
"""Names that are compared with a misspelt one."""

_KIND_NAMES = {type(None): "none", bool: "a boolean", int: "a number", float: "a number", str: "a text"}

_DATA_KINDS = frozenset(
    {"UndefinedError", "InvalidOperation", "BadSerialization", "CannotUnpack", "NonPrimitive", "NonKey"}
)
"""Kinds of errors that other data may avoid."""

_KINDS = {
    "TooManyArguments": "too many arguments",
    "MissingArgument": "an argument is missing",
    "BadSerialization": "a value that cannot be written as text",
    "CannotUnpack": "a value that cannot be unpacked into these names",
    "NonKey": "a value that cannot be a key",
}

_HARMLESS_DETAIL = re.compile(
    r"tried to use \S+ operator on unsupported types \w+ and \w+"
    r"|cannot convert \w+ to \w+|(?:value of type|cannot reverse values of type) \w+[\w ]*"
    r"|\w+ is not iterable|cannot calculate length of value of type \w+|can only sum numbers, got \w+"
    r"|cannot round value \(\w+\)|can only assign to namespaces, not \w+|invalid float literal"
    r"|strings can only be multiplied with integers|cannot perform a containment check on this value"
    r"|sequence of wrong length \(expected \d+, got \d+\)|value is not iterable"
    r"|range has too many elements|cannot create range with step of 0|count cannot be 0|value is not a string"
    r"|cannot get (?:first|last) item from value|cannot convert value (?:to list|into pairs|into pair list)"
    r"|cannot super outside of block|no parent block exists|cannot get absolute value|cannot slice by step size of 0"
)
"""What the engine says in detail without quoting values."""


def explain_engine_error(
    error: minijinja.TemplateError, source: Source, prepared: Prepared, names: Mapping[str, Any]
) -> TemplateError:
    """What an error of the engine means."""
    line = error.line or 0
    if error.kind == "OutOfFuel":
        return TemplateError("the template takes too many steps", line=line, depends_on_data=False)
    if error.detail == "recursion limit exceeded":
        return TemplateError("the template calls itself too often", line=line, depends_on_data=False)
    node = _node_of(error, source, prepared)
    if error.kind in _DATA_KINDS and node is not None:
        missing = missing_value(node, source, names)
        if missing is not None:
            return TemplateError(missing, line=line)
    depends = error.kind in _DATA_KINDS and (node is None or reads_data(node))
    return TemplateError(_plain_message(error, node, source), line=line, depends_on_data=depends)


def explain_filter_error(error: FilterError, source: Source, names: Mapping[str, Any]) -> TemplateError:
    """What an error of one of our own filters and functions means."""
    if isinstance(error, UndefinedValue):
        node = _outermost_at(error.offset, source)
        message = None if node is None else missing_value(node, source, names)
        return TemplateError(message or "undefined value", line=source.line_of(error.offset))
    uses = [node for root in source.expressions for node in root.walk() if _is_use(node, error.name)]
    line = source.line_of(uses[0].name_start) if len(uses) == 1 else 0
    if len(uses) == 1 and (missing := missing_value(uses[0], source, names)) is not None:
        return TemplateError(missing, line=line)
    culprits = [
        use if error.argument is None else use.parts[error.argument]
        for use in uses
        if error.argument is None or len(use.parts) > error.argument
    ]
    depends = error.depends_on_data and (not culprits or any(map(reads_data, culprits)))
    if isinstance(error, LimitExceeded) or not error.name:
        message = f"the template {error.message}" if isinstance(error, LimitExceeded) else error.message
    else:
        message = f"`{error.name}` {error.message}"
    return TemplateError(message, line=line, depends_on_data=depends)


def explain_call_error(source: Source) -> TemplateError:
    """What it means that a value was called which cannot be called."""
    for root in source.expressions:
        for node in root.walk():
            if node.kind == "call" and node.parts[0].kind == "attribute":
                message = no_such_method(node.parts[0].name)
                return TemplateError(message, line=source.line_of(node.start), depends_on_data=False)
    return TemplateError("a value is called like a function", depends_on_data=False)


def no_such_method(name: str) -> str:
    """That values have no methods, and which filter to use instead."""
    filter_name = name if name in FILTERS else nearest(name, FILTERS)
    hint = f"use the filter `|{filter_name}`" if filter_name else "use a filter"
    return f"values have no method `{name}()` in templates; {hint}"


def missing_value(node: Node, source: Source, names: Mapping[str, Any]) -> str | None:
    """Which variable or attribute inside an expression is undefined, or None."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        chain = chain_of(current)
        if chain is None:
            parts = list(current.parts)
            if current.kind == "call" and parts[0].kind == "variable":
                del parts[0]
            optional = OPTIONAL_FILTERS if current.kind == "filter" else OPTIONAL_TESTS
            if current.kind in ("filter", "test") and current.name in optional:
                parts[:1] = parts[0].parts if chain_of(parts[0]) else parts[:1]
            waiting.extend(reversed(parts))
        elif (message := _missing_in_chain(chain, source, names)) is not None:
            return message
    return None


def reads_data(node: Node) -> bool:
    """Whether an expression depends on anything but itself."""
    callees = {id(part.parts[0]) for part in node.walk() if part.kind == "call"}
    return any(
        part.kind == "captured" or (part.kind == "variable" and id(part) not in callees)
        for part in node.walk()
    )


def _node_of(error: minijinja.TemplateError, source: Source, prepared: Prepared) -> Node | None:
    if error.range is None:
        return None
    encoded = prepared.source.encode()
    start, end = (prepared.origin(len(encoded[:offset].decode(errors="ignore"))) for offset in error.range)
    found = source.node_at(start, max(start, end))
    if found is not None:
        return found
    # Some ranges begin at the tag instead of its expression.
    return next((root for root in source.expressions if start <= root.start < end), None)


def _plain_message(error: minijinja.TemplateError, node: Node | None, source: Source) -> str:
    where = "" if node is None else f" in `{source.excerpt(node)}`"
    if error.kind == "UndefinedError":
        return f"undefined value{where}"
    if error.kind == "UnknownMethod" and node is not None:
        return no_such_method(node.parts[0].name if node.kind == "call" else node.name)
    if error.kind in ("UnknownFilter", "UnknownTest", "UnknownFunction"):
        return f"unknown {error.kind.removeprefix('Unknown').lower()}{where}"
    detail = error.detail or ""
    if _HARMLESS_DETAIL.fullmatch(detail):
        return f"{detail}{where}"
    return f"{_KINDS.get(error.kind, 'this is not possible with these values')}{where}"


def _outermost_at(offset: int, source: Source) -> Node | None:
    """The longest variable with attributes that begins at a place."""
    found = [
        node
        for root in source.expressions
        for node in root.walk()
        if node.start == offset and chain_of(node) is not None
    ]
    return max(found, key=_size, default=None)


def _is_use(node: Node, name: str) -> bool:
    if node.kind == "call":
        return node.parts[0].kind == "variable" and node.parts[0].name == name
    return node.kind == "filter" and node.name == name


def _size(node: Node) -> int:
    return node.end - node.start


def chain_of(node: Node) -> list[str | int] | None:
    """The root and the steps of `a.b[0]["c"]`, or None for anything else."""
    steps: list[str | int] = []
    while node.kind in ("attribute", "item"):
        step = node.name if node.kind == "attribute" else constant_text(node.parts[1])
        if step is None:
            digits = node.parts[1].name
            if not digits.isdigit():
                return None
            steps.append(int(digits))
        else:
            steps.append(step)
        node = node.parts[0]
    return [node.name, *reversed(steps)] if node.kind == "variable" else None


def _missing_in_chain(chain: Sequence[str | int], source: Source, names: Mapping[str, Any]) -> str | None:
    root, *steps = chain
    if root in source.assigned or root in ("loop", "self"):
        return None
    if root not in names:
        return f"undefined variable `{root}`{_suggestion(str(root), [*names, *source.assigned])}"
    value, path = plain(names[str(root)]), str(root)
    for step in steps:
        try:
            value = plain(value[step])
        except (KeyError, IndexError, TypeError):
            return _no_such_step(value, path, step)
        path += f"[{step}]" if isinstance(step, int) else f".{step}"
    return None


def _no_such_step(value: Any, path: str, step: str | int) -> str:
    if isinstance(value, Mapping):
        return f"undefined: `{path}` has no key `{step}`{_suggestion(str(step), map(str, value))}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        what = f"item {step}" if isinstance(step, int) else f"key `{step}`, it is a list"
        return f"undefined: `{path}` has no {what}"
    return f"undefined: `{path}` is {_KIND_NAMES.get(type(value), 'a value')}, which has no `{step}`"


def _suggestion(name: str, candidates: Iterable[str]) -> str:
    some = itertools.islice(candidates, MAX_CANDIDATES)
    close = nearest(name, (candidate for candidate in some if not candidate.startswith(PREFIX)))
    return f"; did you mean `{close}`?" if close else ""
