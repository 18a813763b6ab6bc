"""Templates as trees of statements, each with its place in the source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evenhand.template.syntax import ExpressionReader, Node
from evenhand.template.tokens import Token, Unreadable, template_tokens

MAX_STATEMENTS = 100
"""Statements inside each other; the engine itself refuses more than 150."""

MAX_BRANCHES = 150
"""Branches of one `if`, each of which costs the engine a native stack frame."""

_LOADERS = frozenset({"include", "import", "from", "extends"})


class Statement:
    """A piece of a template.

    `kind` says what it is and what the other fields hold:

    - `text`; `emit`: an expression to print;
    - `for`: targets, what is iterated and the condition, body and `else` body, `recursive` as name;
    - `if`: a condition for each body, the last body without one is `else`;
    - `set`, `with`: targets and values; `capture`: a `set` that takes its body's text, with its filters;
    - `filter`, `autoescape`, `block`, `macro` (name, targets, defaults), `call`; `do`, `jump`.

    `head_end` is the offset behind the opening tag.
    """

    __slots__ = ("bodies", "end", "expressions", "head_end", "kind", "name", "start", "targets")

    def __init__(self, kind: str, start: int) -> None:
        self.kind = kind
        self.start = start
        self.head_end = start
        self.end = start
        self.name = ""
        self.targets: list[Node] = []
        self.expressions: list[Node] = []
        self.bodies: list[list[Statement]] = []


Body = Sequence[Statement]


def parse_template(source: str) -> list[Statement]:
    """The statements of a template. Raises `Unreadable`."""
    try:
        return _StatementReader(template_tokens(source)).template()
    except RecursionError:
        raise Unreadable("this template nests too deeply", 0) from None


def every_statement(body: Body) -> Iterator[Statement]:
    """All statements of a body and those inside them, in the order of the source."""
    waiting = list(reversed(body))
    while waiting:
        statement = waiting.pop()
        yield statement
        for inner in reversed(statement.bodies):
            waiting.extend(reversed(inner))


class _StatementReader(ExpressionReader):
    def __init__(self, tokens: list[Token]) -> None:
        super().__init__(tokens)
        self._nesting = 0

    def template(self) -> list[Statement]:
        body = self._body(())
        self.expect("end", "the end of the template")
        return body

    def _body(self, closers: tuple[str, ...]) -> list[Statement]:
        """Statements up to a tag that starts with one of these words, which is taken up to the word."""
        self._nesting += 1
        if self._nesting > MAX_STATEMENTS:
            raise Unreadable(f"this template nests more than {MAX_STATEMENTS} statements", self.current.start)
        body: list[Statement] = []
        while True:
            token = self.take()
            if token.kind == "text":
                statement = Statement("text", token.start)
                statement.end = statement.head_end = token.end
            elif token.kind == "{{":
                statement = Statement("emit", token.start)
                statement.expressions.append(self.expression())
                statement.end = statement.head_end = self.expect("}}", "`}}`").end
            elif token.kind == "{%":
                if closers and self.at(*closers):
                    break
                statement = self._statement(token.start)
            elif closers:
                raise Unreadable(f"expected `{{% {closers[0]} %}}`", token.start)
            else:
                break
            body.append(statement)
        self._nesting -= 1
        return body

    def _statement(self, start: int) -> Statement:
        word = self.expect("name", "the name of a statement")
        if word.text in _LOADERS:
            raise Unreadable(f"`{word.text}` is not available: templates stand alone", word.start)
        read = _READERS.get(word.text)
        if read is None:
            raise Unreadable(f"{word.text!r} is no statement", word.start)
        statement = Statement(word.text, start)
        read(self, statement)
        return statement

    def _head(self, statement: Statement) -> None:
        statement.head_end = statement.end = self.expect("%}", "`%}`").end

    def _block(self, statement: Statement, *closers: str) -> str:
        """Read a body and the word that closes it."""
        statement.bodies.append(self._body(closers))
        return self.take().text

    def _close(self, statement: Statement) -> None:
        statement.end = self.expect("%}", "`%}`").end

    def read_for(self, statement: Statement) -> None:
        statement.targets = self._targets()
        self.expect_word("in")
        statement.expressions.append(self.plain_expression())
        if self.skip("if"):
            statement.expressions.append(self.expression())
        if self.skip("recursive"):
            statement.name = "recursive"
        self._head(statement)
        if self._block(statement, "endfor", "else") == "else":
            self._close(statement)
            self._block(statement, "endfor")
        self._close(statement)

    def read_if(self, statement: Statement) -> None:
        word = "elif"
        while word == "elif":
            statement.expressions.append(self.plain_expression())
            if len(statement.expressions) > MAX_BRANCHES:
                raise Unreadable(f"this `if` has more than {MAX_BRANCHES} branches", statement.start)
            self._head(statement)
            word = self._block(statement, "endif", "else", "elif")
        if word == "else":
            self._close(statement)
            self._block(statement, "endif")
        self._close(statement)

    def read_with(self, statement: Statement) -> None:
        while not self.at("%}"):
            if statement.targets:
                self.expect(",", "`,`")
            if self.skip("("):
                statement.targets.extend(self._targets())
                self.expect(")", "`)`")
            else:
                statement.targets.append(self._target(dotted=False))
            self.expect("=", "`=`")
            statement.expressions.append(self.expression())
        self._head(statement)
        self._block(statement, "endwith")
        self._close(statement)

    def read_set(self, statement: Statement) -> None:
        statement.targets = self._targets(dotted=True)
        if self.skip("="):
            statement.expressions.append(self.expression())
            while self.skip(","):
                if not self.at("%}"):
                    statement.expressions.append(self.expression())
            self._head(statement)
            return
        statement.kind = "capture"
        if self.skip("|"):
            statement.expressions.append(self._filters())
        self._head(statement)
        self._block(statement, "endset")
        self._close(statement)

    def read_filter(self, statement: Statement) -> None:
        statement.expressions.append(self._filters())
        self._head(statement)
        self._block(statement, "endfilter")
        self._close(statement)

    def _filters(self) -> Node:
        place = self.current.start
        node = self.filter(Node("captured", place, place))
        while self.skip("|"):
            node = self.filter(node)
        return node

    def read_autoescape(self, statement: Statement) -> None:
        statement.expressions.append(self.expression())
        self._head(statement)
        self._block(statement, "endautoescape")
        self._close(statement)

    def read_named_block(self, statement: Statement) -> None:
        statement.name = self.expect("name", "a name").text
        while self.at("scoped", "required"):
            self.take()
        self._head(statement)
        self._block(statement, "endblock")
        if self.current.kind == "name":
            self.take()
        self._close(statement)

    def read_macro(self, statement: Statement) -> None:
        statement.name = self.expect("name", "a name").text
        self._parameters(statement)
        self._head(statement)
        self._block(statement, "endmacro")
        self._close(statement)

    def read_call(self, statement: Statement) -> None:
        if self.at("("):
            self._parameters(statement)
        statement.expressions.append(self.expression())
        self._head(statement)
        self._block(statement, "endcall")
        self._close(statement)

    def _parameters(self, statement: Statement) -> None:
        self.expect("(", "`(`")
        while not self.skip(")"):
            statement.targets.append(self._target(dotted=False))
            if self.skip("="):
                statement.expressions.append(self.expression())
            if not self.at(")"):
                self.expect(",", "`,` or `)`")

    def read_do(self, statement: Statement) -> None:
        statement.expressions.append(self.expression())
        self._head(statement)

    def read_jump(self, statement: Statement) -> None:
        self._head(statement)

    def _targets(self, *, dotted: bool = False) -> list[Node]:
        targets: list[Node] = []
        while not self.at(")", "%}", "in"):
            if self.skip("("):
                targets.extend(self._targets(dotted=dotted))
                self.expect(")", "`)`")
            else:
                targets.append(self._target(dotted=dotted))
            if not self.skip(","):
                break
        return targets

    def _target(self, *, dotted: bool) -> Node:
        name = self.expect("name", "a name")
        node = Node("variable", name.start, name.end, name.text)
        while dotted and self.skip("."):
            attribute = self.expect("name", "a name")
            node = Node(
                "attribute", node.start, attribute.end, attribute.text, [node], name_start=attribute.start
            )
        return node

    def expect_word(self, word: str) -> None:
        """Take the next token, which must be this keyword."""
        if not self.skip(word):
            raise Unreadable(f"expected `{word}`", self.current.start)


_READERS = {
    "for": _StatementReader.read_for,
    "if": _StatementReader.read_if,
    "with": _StatementReader.read_with,
    "set": _StatementReader.read_set,
    "filter": _StatementReader.read_filter,
    "autoescape": _StatementReader.read_autoescape,
    "block": _StatementReader.read_named_block,
    "macro": _StatementReader.read_macro,
    "call": _StatementReader.read_call,
    "do": _StatementReader.read_do,
    "break": _StatementReader.read_jump,
    "continue": _StatementReader.read_jump,
}
