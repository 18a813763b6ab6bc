"""A template or an expression as it was written, read once for all that is asked about it."""

from __future__ import annotations

from functools import cached_property

from evenhand.template.prepare import orders_values, prepare, prepare_expression
from evenhand.template.rewrite import Prepared
from evenhand.template.scan import Mentions, mentions_of, mentions_of_expression
from evenhand.template.statements import Statement, every_statement, parse_template
from evenhand.template.syntax import Node, parse_expression

EXCERPT_LENGTH = 80
"""Characters of the source's own text that a message quotes."""


class Source:
    """A source that could be read. Raises `Unreadable` where it could not."""

    def __init__(self, text: str, *, is_expression: bool = False) -> None:
        self.text = text
        self._expression = parse_expression(text) if is_expression else None
        self._body = [] if is_expression else parse_template(text)

    @cached_property
    def statements(self) -> list[Statement]:
        """All statements, those inside others too."""
        return list(every_statement(self._body))

    @cached_property
    def expressions(self) -> list[Node]:
        """All expressions, without those inside others."""
        if self._expression is not None:
            return [self._expression]
        return [expression for statement in self.statements for expression in statement.expressions]

    @cached_property
    def assigned(self) -> frozenset[str]:
        """The names that the source assigns itself."""
        targets = (target for statement in self.statements for target in statement.targets)
        macros = (statement.name for statement in self.statements if statement.kind == "macro")
        return frozenset({*(target.name for target in targets if target.kind == "variable"), *macros})

    @cached_property
    def mentions(self) -> Mentions:
        """The names, filters, tests and functions that it mentions."""
        if self._expression is not None:
            return mentions_of_expression(self._expression)
        return mentions_of(self._body)

    def prepared(self, *, is_exact: bool = False) -> Prepared:
        """What the engine is given in its place; `is_exact` for large integers. Raises `Unreadable`."""
        if self._expression is not None:
            return prepare_expression(self.text, self._expression, is_exact=is_exact)
        return prepare(self.text, self._body, is_exact=is_exact)

    @cached_property
    def orders_values(self) -> bool:
        """Whether it compares values by their order or equality."""
        return any(orders_values(node) for root in self.expressions for node in root.walk())

    def line_of(self, offset: int) -> int:
        """The 1-based line of a place."""
        return self.text.count("\n", 0, offset) + 1

    def node_at(self, start: int, end: int) -> Node | None:
        """The smallest expression that spans a part of the text."""
        nodes = (node for root in self.expressions for node in root.walk())
        spanning = [node for node in nodes if node.start <= start and end <= node.end]
        return min(reversed(spanning), key=lambda node: node.end - node.start, default=None)

    def excerpt(self, node: Node) -> str:
        """The text of an expression on one line."""
        text = " ".join(self.text[node.start : node.end].split())
        return text if len(text) <= EXCERPT_LENGTH else text[: EXCERPT_LENGTH - 1] + "…"
