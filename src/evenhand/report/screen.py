"""Lines on a terminal or in a text file: safe, cut to the width, in whatever encoding the stream has.

Every text given to a `Screen` passes through `visible`: nothing that a model wrote reaches the terminal raw.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TextIO

import msgspec
from rich.cells import cell_len, get_character_cell_size
from rich.console import Console
from rich.text import Text

from evenhand.report.findings import Clipped
from evenhand.report.formats import Page
from evenhand.report.visible import visible

Part = str | tuple[str, str]
"""Text, or text with a style of rich."""

MIN_WIDTH = 40


class Glyphs(msgspec.Struct, frozen=True, kw_only=True):
    """Signs that the layout uses."""

    passed: str = "✓"
    failed: str = "✗"
    errored: str = "!"
    skipped: str = "–"
    bar: str = "│"
    rule: str = "─"
    more: str = "…"


ASCII_GLYPHS = Glyphs(passed="+", failed="x", errored="!", skipped="-", bar="|", rule="-", more="...")


class Screen:
    """Where a report for people is written, line by line."""

    def __init__(self, out: TextIO, page: Page) -> None:
        self.width = max(MIN_WIDTH, page.width)
        self.encoding = getattr(out, "encoding", None) or "utf-8"
        self.glyphs = Glyphs() if _encodes(self.encoding, "✓✗–│─…·") else ASCII_GLYPHS
        self._out = out
        self._console = Console(
            file=out,
            width=self.width,
            color_system="standard" if page.color else None,
            force_terminal=page.color,
            no_color=not page.color,
            legacy_windows=False,
        )

    def line(self, *parts: Part, end: Part = "", indent: int = 0) -> None:
        """One line, cut where it does not fit; `end` stands at the right margin if there is room for it."""
        text = self._text(parts)
        right = self._text([end])
        room = self.width - indent
        if right and cell_len(text.plain) + cell_len(right.plain) + 2 <= room:
            text.append(" " * (room - cell_len(text.plain) - cell_len(right.plain))).append_text(right)
        else:
            self._crop(text, room)
        self._write(text, indent)

    def command(self, *parts: Part) -> None:
        """One line that stays whole however long it is: it holds a command for a person to copy."""
        self._write(Text.assemble(*((self._safe(text), style) for text, style in map(_styled, parts))), 0)

    def paragraph(
        self, first: Part, text: str, *, style: str = "", indent: int = 0, max_lines: int = 12
    ) -> None:
        """Text with line breaks at words, hanging to the right of `first`."""
        head = self._text([first])
        self._crop(head, (self.width - indent) // 2)
        hang = cell_len(head.plain)
        room = self.width - indent - hang
        lines = self._wrapped(text, room, max_lines)
        self._write(Text.assemble(head, (lines[0], style)), indent)
        for line in lines[1:]:
            self._write(Text(line, style=style), indent + hang)

    def excerpt(self, label: str, text: Clipped, *, lines: int, indent: int = 0) -> None:
        """The first lines of a text beside a bar, with how many are left out."""
        bar = self.glyphs.bar
        room = self.width - indent - len(label) - 3
        shown = list(self._excerpt_lines(text, lines, room))
        for number, (line, style) in enumerate(shown):
            name = label if number == 0 else " " * len(label)
            self._write(Text.assemble((f"{name} {bar} ", "dim"), (line, style)), indent)

    def body(self, label: str, text: str) -> None:
        """A whole text under its label, long lines broken."""
        self.line((label, "bold"))
        for line in text.removesuffix("\n").split("\n"):
            for piece in _broken(self._safe(line.removesuffix("\r")), self.width - 2):
                self._write(Text.assemble((f"{self.glyphs.bar} ", "dim"), piece), 0)

    def rule(self) -> None:
        """A line across the page."""
        self._write(Text(self.glyphs.rule * self.width, style="dim"), 0)

    def blank(self) -> None:
        """An empty line."""
        self._out.write("\n")

    def _crop(self, text: Text, room: int) -> None:
        if cell_len(text.plain) > room:
            text.right_crop(len(text.plain) - len(cut(text.plain, room - len(self.glyphs.more))))
            text.append(self.glyphs.more)

    def _excerpt_lines(self, text: Clipped, lines: int, room: int) -> Iterator[tuple[str, str]]:
        if not text.head.strip():
            yield (f'blank: "{visible(text.head[:room])}"' if text.head else "empty"), "dim italic"
            return
        position = 0
        count = 0
        while count < lines and position < len(text.head):
            end = text.head.find("\n", position)
            end = len(text.head) if end < 0 else end
            yield self._fitting(text.head[position:end].removesuffix("\r"), room), ""
            position = end + 1
            count += 1
        if count < text.lines:
            left = text.lines - count
            yield f"{self.glyphs.more} {left:,} more {'line' if left == 1 else 'lines'}", "dim italic"

    def _fitting(self, line: str, room: int) -> str:
        # Four characters a column is more than any text that is not made of combining marks needs.
        text = self._safe(line[: 4 * room])
        if len(line) <= 4 * room and cell_len(text) <= room:
            return text
        return cut(text, room - len(self.glyphs.more)) + self.glyphs.more

    def _wrapped(self, text: str, room: int, max_lines: int) -> list[str]:
        """Lines of at most `room` columns, broken at spaces where there are any; at least one."""
        limit = 4 * room * max_lines
        pieces = [self._safe(piece.removesuffix("\r")) for piece in text[:limit].strip("\n").split("\n")]
        lines = [line for piece in pieces for line in _broken(piece, room)]
        if len(lines) <= max_lines and len(text) <= limit:
            return lines
        kept = lines[:max_lines]
        return [*kept[:-1], cut(kept[-1], room - len(self.glyphs.more)) + self.glyphs.more]

    def _text(self, parts: Iterable[Part]) -> Text:
        text = Text()
        for content, style in map(_styled, parts):
            text.append(self._safe(content[: 4 * self.width]), style=style)
        return text

    def _safe(self, text: str) -> str:
        text = visible(text)
        if text.isascii() or _encodes(self.encoding, text):
            return text
        return text.encode(self.encoding, "backslashreplace").decode(self.encoding)

    def _write(self, text: Text, indent: int) -> None:
        text.rstrip()
        self._console.print(
            Text(" " * indent).append_text(text), soft_wrap=True, markup=False, highlight=False
        )


def _styled(part: Part) -> tuple[str, str]:
    return (part, "") if isinstance(part, str) else part


def cut(text: str, width: int) -> str:
    """The beginning of a one-line text that takes at most `width` columns and 4 characters a column."""
    if len(text) <= 4 * width and cell_len(text) <= width:
        return text
    taken = 0
    for position, character in enumerate(text[: 4 * width]):
        taken += get_character_cell_size(character)
        if taken > width:
            return text[:position]
    return text[: 4 * width]


def _broken(line: str, room: int) -> Iterator[str]:
    """The line in pieces of at most `room` columns; linear in its length."""
    position = 0
    while True:
        window = line[position : position + 4 * room + 1]
        head = cut(window, room) or window[:1]
        if position + len(head) >= len(line):
            yield head
            return
        space = head.rfind(" ", len(head) // 2)
        if space > 0:
            head = head[:space]
        yield head
        position += len(head)
        while position < len(line) - 1 and line[position] == " ":
            position += 1


def _encodes(encoding: str, text: str) -> bool:
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
