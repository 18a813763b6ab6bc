"""Changes to a source that nest, and the way back from the changed source to the original."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from evenhand.template.tokens import Unreadable

MAX_GROWTH = 8
"""How many times longer a source may become."""


class Prepared(NamedTuple):
    """A source for the engine, and the way back to the source that it was made from."""

    source: str
    anchors: Sequence[tuple[int, int]]
    """Offsets in `source`, ascending, each with the offset in the original where its piece comes from."""
    is_watched: bool
    """Whether what it prints must be counted."""
    prints_boolean: bool = False
    """Whether it prints `true` or `false` for an expression that is one of them whatever its data."""

    def origin(self, offset: int) -> int:
        """The offset in the original of a place in `source`."""
        index = bisect_right(self.anchors, offset, key=lambda anchor: anchor[0]) - 1
        at, origin = self.anchors[max(index, 0)]
        following = self.anchors[index + 1][1] if index + 1 < len(self.anchors) else origin + offset - at
        return min(origin + offset - at, max(origin, following))


class Edit:
    """A change of `source[start:end]`; `inner` are the changes inside it."""

    __slots__ = ("end", "inner", "start")

    rank = 0
    """Which of two changes of the same place holds the other: the lower one."""

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end
        self.inner: list[Edit] = []

    def holds(self, other: Edit) -> bool:
        """Whether another change lies inside this one; new text at its end stands behind it."""
        return self.start <= other.start < self.end and other.end <= self.end

    def write(self, writer: Writer) -> None:
        """Write the changed text."""
        raise NotImplementedError


class Insert(Edit):
    """New text at a place."""

    __slots__ = ("text",)

    def __init__(self, start: int, end: int, text: str) -> None:
        super().__init__(start, end)
        self.text = text

    def write(self, writer: Writer) -> None:
        writer.literal(self.text, self.start)


class Rename(Insert):
    """Another name in place of a name."""

    __slots__ = ()

    rank = 3


class Product(Edit):
    """A further factor behind the first one of a product: a function that looks at all of them and returns 1.

    It also keeps the engine from working out a product of literals while it compiles.
    """

    __slots__ = ("factors", "function")

    def __init__(self, offset: int, function: str, factors: Sequence[tuple[int, int]]) -> None:
        super().__init__(offset, offset)
        self.function = function
        self.factors = factors

    def write(self, writer: Writer) -> None:
        writer.literal(f" * {self.function}(", self.start)
        for start, end in self.factors:
            writer.copy(start, end)
            writer.literal(", ", end)
        writer.literal(")", self.start)


class Defined(Edit):
    """A value that must be defined, else a function is called with its place."""

    __slots__ = ("function",)

    rank = 2

    def __init__(self, start: int, end: int, function: str) -> None:
        super().__init__(start, end)
        self.function = function

    def write(self, writer: Writer) -> None:
        writer.literal("(", self.start)
        writer.part(self.start, self.end, self.inner)
        writer.literal(" if ", self.start)
        writer.part(self.start, self.end, self.inner)
        writer.literal(f" is defined else {self.function}({self.start}))", self.end)


class Compared(Edit):
    """A comparison that a function makes in place of the engine."""

    __slots__ = ("function", "operands", "operator")

    def __init__(
        self, start: int, end: int, function: str, operator: str, operands: Sequence[tuple[int, int]]
    ) -> None:
        super().__init__(start, end)
        self.function = function
        self.operator = operator
        self.operands = operands

    def write(self, writer: Writer) -> None:
        left, right = self.operands
        writer.literal(f"{self.function}(", self.start)
        writer.part(*left, self.inner)
        writer.literal(f", '{self.operator}', ", self.start)
        writer.part(*right, self.inner)
        writer.literal(")", self.end)


class Checked(Edit):
    """A filter whose arguments a function looks at first."""

    __slots__ = ("arguments", "function")

    def __init__(self, start: int, end: int, function: str, arguments: tuple[int, int]) -> None:
        super().__init__(start, end)
        self.function = function
        self.arguments = arguments

    def write(self, writer: Writer) -> None:
        writer.literal(f"({self.function}(", self.start)
        writer.part(*self.arguments, self.inner)
        writer.literal(") and ", self.start)
        writer.part(self.start, self.end, self.inner)
        writer.literal(")", self.end)


class JsonFilter(Edit):
    """A value written as JSON: by `ours` where the value is one of ours, else by the engine and then `exact`."""

    __slots__ = ("arguments", "exact", "is_native", "operand", "ours", "test")

    rank = 1

    def __init__(
        self,
        start: int,
        end: int,
        operand: tuple[int, int],
        arguments: tuple[int, int],
        functions: tuple[str, str, str],
        *,
        is_native: bool,
    ) -> None:
        super().__init__(start, end)
        self.operand = operand
        self.arguments = arguments
        self.ours, self.exact, self.test = functions
        self.is_native = is_native
        """Whether the value is certain to be the engine's own."""

    def write(self, writer: Writer) -> None:
        writer.literal("(", self.start)
        if not self.is_native:
            self._apply(writer, self.ours)
            writer.literal(" if ", self.start)
            self._write_operand(writer)
            writer.literal(f" is {self.test} else ", self.start)
        self._apply(writer, "tojson")
        writer.literal(f"|{self.exact}(", self.start)
        self._write_operand(writer)
        writer.literal(", ", self.start)
        writer.part(*self.arguments, self.inner)
        writer.literal("))", self.end)

    def _apply(self, writer: Writer, name: str) -> None:
        self._write_operand(writer)
        writer.literal(f"|{name}(", self.start)
        writer.part(*self.arguments, self.inner)
        writer.literal(")", self.start)

    def _write_operand(self, writer: Writer) -> None:
        writer.literal("(", self.start)
        writer.part(*self.operand, self.inner)
        writer.literal(")", self.start)


class Writer:
    """Writes a source with its changes, and remembers where each piece comes from."""

    def __init__(self, source: str, edits: Sequence[Edit]) -> None:
        self._source = source
        self._edits = _nested(edits)
        self._pieces: list[str] = []
        self._anchors: list[tuple[int, int]] = []
        self._length = 0
        self._limit = len(source) * MAX_GROWTH + 10_000

    def prepared(self, is_watched: bool, before: str = "", behind: str = "") -> Prepared:
        """The whole source, with text before and behind it."""
        self.literal(before, 0)
        self.part(0, len(self._source) + 1, self._edits)
        self.literal(behind, len(self._source))
        return Prepared("".join(self._pieces), self._anchors, is_watched)

    def literal(self, text: str, origin: int) -> None:
        """Write new text, or a piece of the source, for a place in the source."""
        if not text:
            return
        self._pieces.append(text)
        self._anchors.append((self._length, origin))
        self._length += len(text)
        if self._length > self._limit:
            raise Unreadable("too many nested products or JSON filters; `set` parts of them first", origin)

    def copy(self, start: int, end: int) -> None:
        """Write a part of the source once more, with all changes in it."""
        self.part(start, end, self._edits)

    def part(self, start: int, end: int, edits: Sequence[Edit]) -> None:
        """Write a part of the source with those of the changes that lie in it."""
        position = start
        for edit in edits:
            if start <= edit.start < end and edit.end <= end:
                self.literal(self._source[position : edit.start], position)
                edit.write(self)
                position = edit.end
            elif edit.start <= start and end <= edit.end:
                self.part(start, end, edit.inner)
                return
        self.literal(self._source[position:end], position)


def _nested(edits: Sequence[Edit]) -> list[Edit]:
    """The outermost changes in order, with the others inside them."""
    outermost: list[Edit] = []
    around: list[Edit] = []
    for edit in sorted(edits, key=lambda edit: (edit.start, -edit.end, edit.rank)):
        while around and not around[-1].holds(edit):
            around.pop()
        (around[-1].inner if around else outermost).append(edit)
        if edit.start < edit.end:
            around.append(edit)
    return outermost
