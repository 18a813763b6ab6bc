"""Expressions of the template language as trees, each node with its place in the source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evenhand.template.tokens import Token, Unreadable, expression_tokens

MAX_DEPTH = 400
"""Levels of an expression's tree.

The engine walks its trees with one native stack frame a level and ends the whole process when the stack is used
up: at about 1,000 levels on the smallest stack that a thread is given anywhere.
"""

MAX_BRACKETS = 80
"""Brackets and `else` inside each other; the engine itself refuses more than 75."""

_STRENGTH = {
    "or": 1, "and": 2, "==": 4, "!=": 4, "<": 4, "<=": 4, ">": 4, ">=": 4, "in": 4,
    "+": 5, "-": 5, "~": 6, "*": 7, "/": 7, "//": 7, "%": 7, "**": 8,
}  # fmt: skip
_NOT_STRENGTH = 3
_CONSTANT_NAMES = frozenset({"true", "True", "false", "False", "none", "None"})
_TEST_ARGUMENT_STARTS = frozenset({"name", "string", "number", "+", "-", "[", "{"})
_NEVER_TEST_ARGUMENTS = frozenset({"and", "or", "else", "is"})


class Node:
    """A part of an expression.

    `kind` says what it is and what `name` and `parts` hold:

    - `constant`: `name` is the literal's text (texts with their quotes);
    - `variable`: `name`;
    - `attribute`: `name` of parts[0]; `item`: parts[0] at parts[1]; `slice`: of parts[0] with the bounds behind it;
    - `call`: of parts[0]; `filter`, `test`: `name` on parts[0]; all with their arguments behind it, where
      `keyword` holds `name` and one part and `spread` one part;
    - `captured`: the text that a filter block applies to;
    - `not`, `negative`: one part; `binary`: `name` is the operator; `choice`: condition, value, other value;
    - `list`: items; `mapping`: keys and values in turn.
    """

    __slots__ = ("depth", "end", "kind", "name", "name_start", "parts", "start")

    def __init__(
        self,
        kind: str,
        start: int,
        end: int,
        name: str = "",
        parts: Sequence[Node] = (),
        *,
        name_start: int = 0,
    ) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.name = name
        self.parts = parts
        self.name_start = name_start or start
        self.depth: int = 1 + max((part.depth for part in parts), default=0)
        if self.depth > MAX_DEPTH:
            raise Unreadable(
                f"this expression nests more than {MAX_DEPTH} levels; set parts of it first", start
            )

    def walk(self) -> Iterator[Node]:
        """This node and all below it, a parent before its parts, in the order of the source."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.parts))


def parse_expression(source: str) -> Node:
    """The tree of an expression that stands alone. Raises `Unreadable`."""
    reader = ExpressionReader(expression_tokens(source))
    try:
        node = reader.expression()
    except RecursionError:
        raise Unreadable("this expression nests too deeply", 0) from None
    reader.expect("end", "nothing more after the expression")
    return node


class ExpressionReader:
    """Reads expressions from tokens; `position` is the index of the next token."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.position = 0
        self._depth = 0

    @property
    def current(self) -> Token:
        """The next token, which stays where it is."""
        return self.tokens[self.position]

    def take(self) -> Token:
        """The next token, taken; the token at the end stays."""
        token = self.tokens[self.position]
        if token.kind != "end":
            self.position += 1
        return token

    def at(self, *texts: str) -> bool:
        """Whether the next token is one of these keywords or marks."""
        token = self.current
        return (token.text if token.kind == "name" else token.kind) in texts

    def skip(self, text: str) -> bool:
        """Take the next token if it is this keyword or mark."""
        if self.at(text):
            self.position += 1
            return True
        return False

    def expect(self, kind: str, wanted: str) -> Token:
        """The next token, which must be of that kind."""
        token = self.current
        if token.kind != kind:
            found = repr(token.text) if token.text else "the end"
            raise Unreadable(f"expected {wanted}, found {found}", token.start)
        return self.take()

    def expression(self) -> Node:
        """An expression with its `if … else …`."""
        self._depth += 1
        if self._depth > MAX_BRACKETS:
            raise Unreadable(f"this expression nests more than {MAX_BRACKETS} brackets", self.current.start)
        node = self.plain_expression()
        while self.skip("if"):
            condition = self.plain_expression()
            parts = [condition, node]
            if self.skip("else"):
                parts.append(self.expression())
            node = Node("choice", node.start, self._last_end(), parts=parts)
        self._depth -= 1
        return node

    def plain_expression(self, floor: int = 1) -> Node:
        """An expression without `if`, of operators that bind at least as strongly as `floor`."""
        if floor <= _NOT_STRENGTH and self.at("not"):
            negations = []
            while self.at("not"):
                negations.append(self.take().start)
            left = self.plain_expression(_NOT_STRENGTH + 1)
            for start in reversed(negations):
                left = Node("not", start, left.end, parts=[left])
        else:
            left = self._operand()
        while (operator := self._operator(floor)) is not None:
            right = self.plain_expression(_STRENGTH[operator] + 1)
            left = Node("binary", left.start, right.end, operator, [left, right])
        return left

    def _operator(self, floor: int) -> str | None:
        token = self.current
        if token.kind == "string":
            return None
        if token.text == "not" and self.tokens[self.position + 1].text == "in" and floor <= _STRENGTH["in"]:
            self.position += 2
            return "in"
        if _STRENGTH.get(token.text, 0) >= floor:
            self.position += 1
            return token.text
        return None

    def _operand(self) -> Node:
        """A value with its sign, attributes, calls, filters and tests."""
        node = self._postfix(self._signed())
        while True:
            if self.skip("|"):
                node = self.filter(node)
            elif self.skip("is"):
                node = self._test(node)
            else:
                return node

    def _signed(self) -> Node:
        signs = []
        while self.at("-"):
            signs.append(self.take().start)
        node = self._primary()
        for start in reversed(signs):
            node = Node("negative", start, node.end, parts=[node])
        return node

    def _primary(self) -> Node:
        token = self.take()
        if token.kind == "name":
            kind = "constant" if token.text in _CONSTANT_NAMES else "variable"
            return Node(kind, token.start, token.end, token.text)
        if token.kind == "string":
            text, end = token.text, token.end
            while self.current.kind == "string":
                text, end = "", self.take().end
            return Node("constant", token.start, end, text)
        if token.kind == "number":
            return Node("constant", token.start, token.end, token.text)
        if token.kind == "(":
            return self._tuple(token.start)
        if token.kind == "[":
            return Node("list", token.start, parts=self._items("]"), end=self._last_end())
        if token.kind == "{":
            return self._mapping(token.start)
        found = repr(token.text) if token.text else "the end"
        raise Unreadable(f"expected a value, found {found}", token.start)

    def _tuple(self, start: int) -> Node:
        if self.skip(")"):
            return Node("list", start, self._last_end())
        first = self.expression()
        if self.skip(")"):
            return _bracketed(first, start, self._last_end())
        self.expect(",", "`,` or `)`")
        return Node("list", start, parts=[first, *self._items(")")], end=self._last_end())

    def _items(self, close: str) -> list[Node]:
        items: list[Node] = []
        while not self.skip(close):
            items.append(self.expression())
            if not self.at(close):
                self.expect(",", f"`,` or `{close}`")
        return items

    def _mapping(self, start: int) -> Node:
        parts: list[Node] = []
        while not self.skip("}"):
            parts.append(self.expression())
            self.expect(":", "`:`")
            parts.append(self.expression())
            if not self.at("}"):
                self.expect(",", "`,` or `}`")
        return Node("mapping", start, self._last_end(), parts=parts)

    def _postfix(self, node: Node) -> Node:
        while True:
            if self.skip("."):
                name = self.take()
                if name.kind == "name":
                    node = Node("attribute", node.start, name.end, name.text, [node], name_start=name.start)
                elif name.kind == "number":
                    index = Node("constant", name.start, name.end, name.text)
                    node = Node("item", node.start, name.end, parts=[node, index])
                else:
                    raise Unreadable("expected a name or a number after `.`", name.start)
            elif self.skip("["):
                node = self._subscript(node)
            elif self.at("("):
                arguments = self.arguments()
                node = Node("call", node.start, self._last_end(), parts=[node, *arguments])
            else:
                return node

    def _subscript(self, node: Node) -> Node:
        parts, colons = [node], 0
        while not self.skip("]"):
            if colons < 2 and self.skip(":"):
                colons += 1
            else:
                parts.append(self.expression())
        if not colons and len(parts) != 2:
            raise Unreadable("expected one value between `[` and `]`", node.end)
        return Node("slice" if colons else "item", node.start, self._last_end(), parts=parts)

    def arguments(self) -> list[Node]:
        """What stands between `(` and `)` of a call."""
        self.expect("(", "`(`")
        arguments: list[Node] = []
        while not self.skip(")"):
            start = self.current.start
            if self.skip("**") or self.skip("*"):
                value = self.expression()
                arguments.append(Node("spread", start, value.end, parts=[value]))
            else:
                value = self.expression()
                if value.kind == "variable" and self.skip("="):
                    given = self.plain_expression()
                    value = Node("keyword", start, given.end, value.name, [given])
                arguments.append(value)
            if not self.at(")"):
                self.expect(",", "`,` or `)`")
        return arguments

    def filter(self, operand: Node) -> Node:
        """A filter on an operand, read from behind its `|`."""
        name, start = self._dotted_name()
        arguments = self.arguments() if self.at("(") else []
        return Node("filter", operand.start, self._last_end(), name, [operand, *arguments], name_start=start)

    def _test(self, operand: Node) -> Node:
        negated = self.skip("not")
        name, start = self._dotted_name()
        arguments: list[Node] = []
        if self.at("("):
            arguments = self.arguments()
        elif self.current.kind in _TEST_ARGUMENT_STARTS and not self.at(*_NEVER_TEST_ARGUMENTS):
            arguments = [self._postfix(self._signed())]
        node = Node("test", operand.start, self._last_end(), name, [operand, *arguments], name_start=start)
        return Node("not", node.start, node.end, parts=[node]) if negated else node

    def _dotted_name(self) -> tuple[str, int]:
        first = self.expect("name", "a name")
        name = first.text
        while self.skip("."):
            name = f"{name}.{self.expect('name', 'a name').text}"
        return name, first.start

    def _last_end(self) -> int:
        return self.tokens[self.position - 1].end


def _bracketed(node: Node, start: int, end: int) -> Node:
    """The same node, taking up the place of its brackets."""
    return Node(node.kind, start, end, node.name, node.parts, name_start=node.name_start)
