"""What a template or an expression mentions: names, filters, tests and functions, found without rendering it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from evenhand.errors import Problem
from evenhand.registry import nearest
from evenhand.template.language import FILTERS, FUNCTIONS, OPTIONAL_FILTERS, OPTIONAL_TESTS, TESTS
from evenhand.template.statements import Body, Statement, parse_template
from evenhand.template.syntax import Node, parse_expression
from evenhand.template.tokens import Unreadable

_FILTER_CALLERS = {"map": 1}
_TEST_CALLERS = {"select": 1, "reject": 1, "selectattr": 2, "rejectattr": 2}
"""Filters that take the name of a filter or a test, with the place of that argument."""

_SCOPED = frozenset({"for", "with", "macro", "call", "block"})
"""Statements whose assignments end with them."""


class Read(NamedTuple):
    """A name taken from the scope, with the attributes behind it: `("env", "HOME")`."""

    path: tuple[str, ...]
    start: int
    is_certain: bool
    """Whether every rendering evaluates it and has no answer for an undefined value."""


class Use(NamedTuple):
    """A filter, test, function or method by name."""

    name: str
    start: int


class Mentions:
    """Everything that a source mentions, in the order of the source."""

    def __init__(self) -> None:
        self.reads: list[Read] = []
        self.optional: set[str] = set()
        """Names that the source asks about, by `is defined` or `default`."""
        self.filters: list[Use] = []
        self.tests: list[Use] = []
        self.functions: list[Use] = []
        self.methods: list[Use] = []


def mentions_of(body: Body) -> Mentions:
    """What a template mentions."""
    visitor = _Visitor()
    visitor.visit_body(body, is_certain=True)
    return visitor.found


def mentions_of_expression(node: Node) -> Mentions:
    """What an expression mentions."""
    visitor = _Visitor()
    visitor.visit(node, is_certain=True)
    return visitor.found


def unknown_names(mentions: Mentions) -> Iterator[tuple[int, Problem]]:
    """Filters, tests, functions and methods that do not exist, with the offset of each."""
    yield from _unknown("filter", mentions.filters, FILTERS)
    yield from _unknown("test", mentions.tests, TESTS)
    yield from _unknown("function", mentions.functions, FUNCTIONS)
    for name, start in mentions.methods:
        filter_name = name if name in FILTERS else nearest(name, FILTERS)
        hint = f"use the filter `|{filter_name}`" if filter_name else "use a filter"
        yield start, Problem(f"values have no method `{name}()` in templates", hint=hint)


def names_in(source: str, *, is_expression: bool = False) -> frozenset[str]:
    """The names that a source takes from its scope, with their attributes: `a`, `env.HOME`."""
    return frozenset(".".join(read.path) for read in _reads(source, is_expression).reads)


def env_names(source: str, *, is_expression: bool = False) -> set[str]:
    """The environment variables that a source names: `env.NAME` or `env["NAME"]`."""
    reads = _reads(source, is_expression).reads
    return {read.path[1] for read in reads if read.path[0] == "env" and len(read.path) > 1}


def undefined_names(source: str, known: Collection[str], *, is_expression: bool = False) -> list[str]:
    """The names that are certain to be undefined where only the `known` ones are defined.

    A name is left out where the source has an answer for its absence (`is defined`, `default`), where it is
    evaluated only sometimes, and where the source itself assigns it.
    """
    mentions = _reads(source, is_expression)
    wanted = [read.path[0] for read in mentions.reads if read.is_certain]
    missing = (name for name in wanted if name not in known and name not in FUNCTIONS)
    return [name for name in dict.fromkeys(missing) if name not in mentions.optional]


def _reads(source: str, is_expression: bool) -> Mentions:
    try:
        if is_expression:
            return mentions_of_expression(parse_expression(source))
        return mentions_of(parse_template(source))
    except Unreadable:
        return Mentions()


def _unknown(what: str, uses: Sequence[Use], known: Collection[str]) -> Iterator[tuple[int, Problem]]:
    for name, start in uses:
        if name not in known:
            suggestion = nearest(name, known)
            yield (
                start,
                Problem(
                    f"unknown {what} `{name}`", hint=f"did you mean `{suggestion}`?" if suggestion else ""
                ),
            )


def path_of(node: Node) -> tuple[str, ...] | None:
    """The names of `a.b["c"]`, or None for anything that is no variable with names behind it."""
    names: list[str] = []
    while node.kind in ("attribute", "item"):
        if node.kind == "attribute":
            names.append(node.name)
        elif (text := constant_text(node.parts[1])) is not None:
            names.append(text)
        else:
            return None
        node = node.parts[0]
    return (node.name, *reversed(names)) if node.kind == "variable" else None


def constant_text(node: Node) -> str | None:
    """The text of a plain literal such as `"name"`, or None; texts with escapes are left alone."""
    if node.kind == "constant" and node.name[:1] in ("'", '"') and "\\" not in node.name:
        return node.name[1:-1]
    return None


class _Visitor:
    """Walks statements in order, with the names that they assign."""

    def __init__(self) -> None:
        self.found = Mentions()
        self._scopes: list[set[str]] = [{"self"}]

    def visit_body(self, body: Body, *, is_certain: bool) -> None:
        for statement in body:
            self._visit_statement(statement, is_certain)

    def _visit_statement(self, statement: Statement, is_certain: bool) -> None:
        kind = statement.kind
        if kind == "macro":
            self._scopes[-1].add(statement.name)
        if kind == "if":
            self._visit_if(statement, is_certain)
            return
        self._visit_heads(statement, is_certain)
        if kind in _SCOPED:
            self._scopes.append(set())
        self._assign(statement)
        if kind == "for":
            for condition in statement.expressions[1:]:
                self.visit(condition, is_certain=False)
        runs_once = kind in ("with", "capture", "filter", "autoescape", "block")
        for body in statement.bodies:
            self.visit_body(body, is_certain=is_certain and runs_once)
        if kind in _SCOPED:
            self._scopes.pop()

    def _visit_if(self, statement: Statement, is_certain: bool) -> None:
        for index, body in enumerate(statement.bodies):
            if index < len(statement.expressions):
                self.visit(statement.expressions[index], is_certain=is_certain and index == 0)
            self.visit_body(body, is_certain=False)

    def _visit_heads(self, statement: Statement, is_certain: bool) -> None:
        """What the opening tag evaluates outside the names that it assigns."""
        if statement.kind == "for":
            self.visit(statement.expressions[0], is_certain=is_certain)
        elif statement.kind in ("set", "with"):
            for expression in statement.expressions:
                self._visit_carried(expression, is_certain)
        else:
            for expression in statement.expressions:
                self.visit(expression, is_certain=is_certain and statement.kind != "macro")
        for target in statement.targets:
            if target.kind == "attribute":
                self.visit(target.parts[0], is_certain=is_certain)

    def _assign(self, statement: Statement) -> None:
        scope = self._scopes[-1]
        scope.update(target.name for target in statement.targets if target.kind == "variable")
        if statement.kind == "for":
            scope.add("loop")
        elif statement.kind in ("macro", "call"):
            scope.add("caller")

    def visit(self, node: Node, *, is_certain: bool) -> None:
        path = path_of(node)
        if path is not None:
            self._read(path, node, is_certain)
            return
        if node.kind in ("filter", "test"):
            self._visit_named(node, is_certain)
        elif node.kind == "call":
            self._visit_call(node, is_certain)
        elif node.kind == "binary" and node.name in ("and", "or"):
            self.visit(node.parts[0], is_certain=is_certain)
            self.visit(node.parts[1], is_certain=False)
        elif node.kind == "choice":
            for index, part in enumerate(node.parts):
                self.visit(part, is_certain=is_certain and index == 0)
        elif node.kind in ("keyword", "spread"):
            for part in node.parts:
                self._visit_carried(part, is_certain)
        else:
            for part in node.parts:
                self.visit(part, is_certain=is_certain)

    def _visit_carried(self, node: Node, is_certain: bool) -> None:
        """A value that is only carried on: being undefined is no error yet."""
        self.visit(node, is_certain=is_certain and path_of(node) is None)

    def _visit_named(self, node: Node, is_certain: bool) -> None:
        uses = self.found.filters if node.kind == "filter" else self.found.tests
        uses.append(Use(node.name, node.name_start))
        operand, *arguments = node.parts
        optional = OPTIONAL_FILTERS if node.kind == "filter" else OPTIONAL_TESTS
        path = path_of(operand)
        if node.name in optional and path is not None:
            if len(path) == 1:
                self.found.optional.add(path[0])
            self._read(path, operand, is_certain and len(path) > 1)
        else:
            self.visit(operand, is_certain=is_certain and node.kind == "filter")
        for argument in arguments:
            self.visit(argument, is_certain=is_certain and node.name not in optional)
        if node.kind == "filter":
            self._note_named_argument(node)

    def _note_named_argument(self, node: Node) -> None:
        for callers, uses in (
            (_FILTER_CALLERS, self.found.filters),
            (_TEST_CALLERS, self.found.tests),
        ):
            place = callers.get(node.name)
            if place is not None and len(node.parts) > place:
                name = constant_text(node.parts[place])
                if name is not None:
                    uses.append(Use(name, node.parts[place].start))

    def _visit_call(self, node: Node, is_certain: bool) -> None:
        callee, *arguments = node.parts
        takes_undefined = True
        if callee.kind == "variable" and not self._is_assigned(callee.name):
            self.found.functions.append(Use(callee.name, callee.name_start))
            takes_undefined = False
        elif callee.kind == "attribute":
            path = path_of(callee)
            if path is None or not self._is_assigned(path[0]):
                self.found.methods.append(Use(callee.name, callee.name_start))
            self.visit(callee.parts[0], is_certain=is_certain)
        else:
            self.visit(callee, is_certain=is_certain)
        for argument in arguments:
            if takes_undefined:
                self._visit_carried(argument, is_certain)
            else:
                self.visit(argument, is_certain=is_certain)

    def _read(self, path: tuple[str, ...], node: Node, is_certain: bool) -> None:
        if self._is_assigned(path[0]):
            return
        root = node
        while root.parts:
            root = root.parts[0]
        self.found.reads.append(Read(path, root.name_start, is_certain))

    def _is_assigned(self, name: str) -> bool:
        return any(name in scope for scope in self._scopes)
