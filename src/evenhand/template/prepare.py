"""Templates made safe to hand to the engine, which has no limits of its own for several things.

The source that the engine compiles differs from the one that a person wrote, without a trace in its result:

- a product asks first whether it repeats a text or a list too often, `a * fits(a, b) * b`; filters whose
  arguments say how much they build have these looked at first;
- what loops, recurses or assigns reports its steps and the size of what it keeps, behind the opening tag;
- a value that is only passed on (to `tojson`, into a list) fails when it is undefined instead of becoming `null`;
- filters written in Python get texts from the engine's own `string`: on the way to Python `1.0` becomes `1`;
- a variable called like a method of a Python dict gets another name, so that the engine finds only variables;
- where an integer beyond 64 bits has turned up, comparisons are calls: the engine takes it for larger than any number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from evenhand.template.bounded import CHECKS, MAX_JOINER
from evenhand.template.language import JSON_FILTERS, TEXT_FILTERS
from evenhand.template.loops import PlainLoop, plain_loop
from evenhand.template.rewrite import (
    Checked,
    Compared,
    Defined,
    Edit,
    Insert,
    JsonFilter,
    Prepared,
    Product,
    Rename,
    Writer,
)
from evenhand.template.scan import constant_text, path_of
from evenhand.template.statements import Body, Statement, every_statement
from evenhand.template.syntax import Node
from evenhand.template.tokens import Unreadable

PREFIX = "__evenhand_"
"""How the names begin that no template may use."""

FITS, STEP, LOOP, MISSING, KEEP, WRAPPED, COMPARE, LARGE = (
    PREFIX + name for name in ("fits", "step", "loop", "missing", "keep", "wrapped", "compare", "large")
)
CHECK, EXACT = PREFIX + "check_", PREFIX + "exact_"
"""How the names of the checks of arguments begin, and of the filters that correct the engine's JSON."""

METHOD_NAMES = frozenset(name for name in dir(dict) if not name.startswith("_"))
"""Names under which the engine would find a method of the Python dict that holds the variables."""

MAX_COUNT = 10_000
"""Counts and widths that are harmless as they stand in a source."""

MAX_DIGITS = 18
"""Digits of an integer that certainly has a place in 64 bits."""

_NUMERIC_FILTERS = frozenset({"abs", "count", "float", "int", "length", "round", "sum"})
_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">=", "in"})
_ORDERING = _COMPARISONS - {"in"}
_NUMERIC_OPERATORS = frozenset({"-", "/", "//", "%", "**"})
_PASSING_FILTERS = JSON_FILTERS | {"e", "escape", "join", "pprint", "urlencode"}


def prepare(source: str, body: Body, *, is_exact: bool = False) -> Prepared:
    """A template for the engine. Raises `Unreadable` for what cannot be made safe.

    `is_exact` has large integers compared as what they are.
    """
    statements = list(every_statement(body))
    expressions = [expression for statement in statements for expression in statement.expressions]
    targets = [target for statement in statements for target in statement.targets]
    assigned = {target.name for target in targets if target.kind == "variable"}
    assigned.update(statement.name for statement in statements if statement.kind == "macro")
    _refuse_reserved(targets)
    _refuse_loose_namespaces(statements)
    edits = [edit for expression in expressions for edit in _expression_edits(expression, assigned, is_exact)]
    plain_loops = {
        id(statement): plain_loop(statement) for statement in statements if statement.kind == "for"
    }
    is_watched = None in plain_loops.values() or any(one.kind in ("macro", "call") for one in statements)
    for statement in statements:
        loop = plain_loops.get(id(statement))
        if loop is not None:
            edits.append(_look_before(source, statement, loop, assigned))
        else:
            edits.extend(_statement_edits(source, statement))
    return Writer(source, edits).prepared(is_watched)


def prepare_expression(source: str, node: Node, *, is_exact: bool = False) -> Prepared:
    """A template that evaluates an expression and hands its value to `KEEP`, or prints it where it is a boolean."""
    edits = list(_expression_edits(node, set(), is_exact))
    if node.kind in ("not", "test") or (node.kind == "binary" and node.name in _COMPARISONS):
        # Handing over takes as long as evaluating a short comparison.
        return Writer(source, edits).prepared(False, "{{ (", ") }}")._replace(prints_boolean=True)
    return Writer(source, edits).prepared(False, f"{{{{ {KEEP}((", ")) }}")


def _refuse_reserved(nodes: Iterable[Node]) -> None:
    for node in nodes:
        if node.name.startswith(PREFIX):
            raise Unreadable(f"names that begin with `{PREFIX}` are taken", node.start)


def _refuse_loose_namespaces(statements: Sequence[Statement]) -> None:
    """Keep namespaces out of other values: one that holds itself would never end when printed."""
    spaces: set[str] = set()
    allowed: set[int] = set()
    for statement in statements:
        for expression in statement.expressions:
            if statement.kind in ("set", "with") and _is_namespace_call(expression):
                spaces.update(target.name for target in statement.targets)
                allowed.add(id(expression))
    for statement in statements:
        for expression in statement.expressions:
            for node in expression.walk():
                if _is_namespace_call(node) and id(node) not in allowed:
                    raise Unreadable(
                        "`namespace()` can only be assigned: `{% set ns = namespace() %}`", node.start
                    )
                if (
                    node.kind == "variable"
                    and node.name in spaces
                    and not _is_attribute_root(node, expression)
                ):
                    raise Unreadable(
                        f"the namespace `{node.name}` can only be used by its attributes", node.start
                    )


def _is_namespace_call(node: Node) -> bool:
    return node.kind == "call" and node.parts[0].kind == "variable" and node.parts[0].name == "namespace"


def _is_attribute_root(variable: Node, expression: Node) -> bool:
    return any(node.kind in ("attribute", "item") and node.parts[0] is variable for node in expression.walk())


def orders_values(node: Node) -> bool:
    """Whether an expression compares two values by their order or equality."""
    return node.kind == "binary" and node.name in _ORDERING


def _expression_edits(expression: Node, assigned: set[str], is_exact: bool) -> Iterator[Edit]:
    left_products: set[int] = set()
    for node in expression.walk():
        if node.kind in ("variable", "attribute", "keyword"):
            _refuse_reserved((node,))
        if node.kind == "variable" and node.name in METHOD_NAMES and node.name not in assigned:
            yield Rename(node.name_start, node.name_start + len(node.name), PREFIX + node.name)
        elif _is_product(node):
            if _is_product(node.parts[0]):
                left_products.add(id(node.parts[0]))
            factors = list(_factors(node))
            if id(node) not in left_products and not all(map(_is_numeric, factors)):
                yield Product(factors[0].end, FITS, [(factor.start, factor.end) for factor in factors])
        elif node.kind == "filter":
            yield from _filter_edits(node)
        elif is_exact and orders_values(node):
            yield from _comparison_edits(node)
        for part in _passed_on(node):
            if path_of(part) is not None:
                yield Defined(part.start, part.end, MISSING)


def _comparison_edits(node: Node) -> Iterator[Edit]:
    yield Compared(node.start, node.end, COMPARE, node.name, [(part.start, part.end) for part in node.parts])
    for part in node.parts:
        if path_of(part) is not None:
            yield Defined(part.start, part.end, MISSING)
        elif digits := _large_literal(part):
            yield Rename(part.start, part.end, f"{LARGE}('{digits}')")


def _large_literal(node: Node) -> str:
    """The digits of an integer in the source that the engine would hand over as a float, else nothing."""
    sign, constant = ("-", node.parts[0]) if node.kind == "negative" else ("", node)
    digits = constant.name.replace("_", "") if constant.kind == "constant" else ""
    return sign + digits if len(digits) > MAX_DIGITS and digits.isdigit() else ""


def _filter_edits(node: Node) -> Iterator[Edit]:
    operand, *arguments = node.parts
    name = node.name
    place = (arguments[0].start, arguments[-1].end) if arguments else (node.end, node.end)
    if name == "map":
        _refuse_wide_map(arguments)
    if name in CHECKS and not _are_small(arguments):
        if operand.kind == "captured":
            raise Unreadable(f"`{name}` needs plain numbers and short texts as arguments here", node.start)
        yield Checked(node.start, node.end, CHECK + name, place)
    if operand.kind == "captured":
        return
    if name in TEXT_FILTERS:
        yield Insert(operand.end, operand.end, "|string")
    elif name in JSON_FILTERS and not _has_state(operand):
        kind = "tojson" if name == "tojson" else "json"
        functions = (PREFIX + kind, EXACT + kind, WRAPPED)
        is_native = operand.kind in ("list", "mapping")
        yield JsonFilter(
            node.start, node.end, (operand.start, operand.end), place, functions, is_native=is_native
        )


def _has_state(expression: Node) -> bool:
    """Whether evaluating twice may differ from evaluating once, as with `loop.changed(…)`."""
    return any(node.kind == "call" and node.parts[0].kind == "attribute" for node in expression.walk())


def _refuse_wide_map(arguments: Sequence[Node]) -> None:
    """Keep `map` from handing a filter arguments that nothing has looked at."""
    positional = [argument for argument in arguments if argument.kind != "keyword"]
    if len(positional) < 2 or _are_small(positional[1:]):
        return
    name = constant_text(positional[0])
    if name is None or name in CHECKS:
        raise Unreadable(
            "`map` can pass only plain numbers and short texts on to this filter", positional[0].start
        )


def _are_small(arguments: Sequence[Node]) -> bool:
    """Whether arguments are literals too small to build much."""
    for argument in arguments:
        value = argument.parts[0] if argument.kind == "keyword" else argument
        if value.kind != "constant":
            return False
        digits = value.name.replace("_", "")
        if digits[:1].isdigit() and not (digits.isdigit() and int(digits[:9]) <= MAX_COUNT):
            return False
        if len(value.name) > MAX_JOINER or not value.name:
            return False
    return True


def _is_product(node: Node) -> bool:
    return node.kind == "binary" and node.name == "*"


def _factors(node: Node) -> Iterator[Node]:
    """The operands of a product of products."""
    for part in node.parts:
        if _is_product(part):
            yield from _factors(part)
        else:
            yield part


def _is_numeric(node: Node) -> bool:
    """Whether a value can only be a number."""
    if node.kind == "constant":
        return node.name[:1].isdigit()
    if node.kind == "filter":
        return node.name in _NUMERIC_FILTERS
    return node.kind == "negative" or (node.kind == "binary" and node.name in _NUMERIC_OPERATORS)


def _passed_on(node: Node) -> Sequence[Node]:
    """Parts whose value the engine passes on even where it is undefined."""
    if node.kind in ("list", "mapping"):
        return node.parts
    if node.kind == "filter" and node.name in _PASSING_FILTERS:
        return node.parts[:1]
    return ()


def _look_before(source: str, statement: Statement, loop: PlainLoop, assigned: set[str]) -> Edit:
    """A look at what a plain loop goes over and uses, in front of its tag; it trims as that tag does."""
    chains = [_renamed(source, node, assigned) for node in (loop.iterated, *loop.outer)]
    trim = source[statement.start + 2] if source[statement.start + 2] in "-+" else ""
    arguments = ", ".join([str(_raw_length(statement)), *chains])
    return Insert(statement.start, statement.start, f"{{%{trim} do {LOOP}({arguments}) %}}")


def _renamed(source: str, chain: Node, assigned: set[str]) -> str:
    """The text of a variable with attributes under the name that the engine knows."""
    root = chain
    while root.parts:
        root = root.parts[0]
    text = source[chain.start : chain.end]
    if root.name not in METHOD_NAMES or root.name in assigned:
        return text
    at = root.name_start - chain.start
    return text[:at] + PREFIX + text[at:]


def _statement_edits(source: str, statement: Statement) -> Iterator[Edit]:
    kept = [source[target.start : target.end] for target in statement.targets]
    if statement.kind == "for" and statement.name != "recursive":
        kept = []
    if statement.kind in ("for", "macro", "call"):
        yield _step(source, statement.head_end, _raw_length(statement), kept)
    elif statement.kind == "with":
        yield _step(source, statement.head_end, 0, kept)
    elif statement.kind == "capture" or (
        statement.kind == "set" and any(_grows(expression) for expression in statement.expressions)
    ):
        yield _step(source, statement.end, 0, kept)


def _step(source: str, offset: int, printed: int, kept: Sequence[str]) -> Edit:
    """A report behind the tag that ends at `offset`; it trims white space where that tag did."""
    trim = source[offset - 3] if source[offset - 3] in "-+" else ""
    arguments = ", ".join([str(printed), *kept])
    return Insert(offset, offset, f"{{% do {STEP}({arguments}) {trim}%}}")


def _grows(expression: Node) -> bool:
    """Whether a value may be larger than the values it is made of."""
    return any(
        node.kind in ("call", "filter", "list", "mapping", "slice")
        or (node.kind == "binary" and node.name in ("~", "+", "*"))
        for node in expression.walk()
    )


def _raw_length(statement: Statement) -> int:
    """The constant text that one pass through a statement may print."""
    return sum(
        inner.end - inner.start
        for body in statement.bodies
        for inner in every_statement(body)
        if inner.kind == "text"
    )
