"""Lines on a terminal or in a text file: safe, cut to the width, in whatever encoding the stream has.

Every text given to a `Screen` passes through `visible`: nothing that a model wrote reaches the terminal raw.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TextIO

import msgspec
from rich.cells import cell_len

from evenhand.report.findings import Clipped
from evenhand.report.fitting import CHARACTERS_A_COLUMN, broken, cut, cut_marked
from evenhand.report.formats import Page
from evenhand.report.visible import visible

Part = str | tuple[str, str]
"""Text, or text with a style: words of `STYLES`, as in `bold red`."""

STYLES = {
    "bold": "1", "dim": "2", "italic": "3", "red": "31", "green": "32", "yellow": "33", "cyan": "36",
}  # fmt: skip
"""ECMA-48 codes of the styles that reports use."""

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


Styled = Callable[[str], list[tuple[str, str]]]
"""Makes of a line its parts, each with its style."""


def _unstyled(line: str) -> list[tuple[str, str]]:
    return [(line, "")]


class Screen:
    """Where a report for people is written, line by line."""

    def __init__(self, out: TextIO, page: Page) -> None:
        self.width = max(MIN_WIDTH, page.width)
        self.color = page.color
        self.encoding = getattr(out, "encoding", None) or "utf-8"
        self.glyphs = Glyphs() if _encodes(self.encoding, "✓✗–│─…·") else ASCII_GLYPHS
        self._out = out

    def line(self, *parts: Part, end: Part = "", indent: int = 0) -> None:
        """One line, cut where it does not fit; `end` stands at the right margin if there is room for it."""
        line, [right] = self._safe_parts(parts), self._safe_parts([end])
        room = self.width - indent
        gap = room - _columns(line) - cell_len(right[0])
        if right[0] and gap >= 2:
            line += [(" " * gap, ""), right]
        self._write(self._cropped(line, room), indent)

    def command(self, *parts: Part) -> None:
        """One line that stays whole however long it is: it holds a command for a person to copy."""
        self._write([(self._safe(text), style) for text, style in map(_styled, parts)])

    def paragraph(
        self, first: Part, text: str, *, style: str = "", indent: int = 0, max_lines: int = 12
    ) -> None:
        """Text with line breaks at words, hanging to the right of `first`."""
        head = self._cropped(self._safe_parts([first]), (self.width - indent) // 2)
        hang = _columns(head)
        lines = self._wrapped(text, self.width - indent - hang, max_lines)
        self._write([*head, (lines[0], style)], indent)
        for line in lines[1:]:
            self._write([(line, style)], indent + hang)

    def excerpt(self, label: str, text: Clipped, *, lines: int, indent: int = 0) -> None:
        """The first lines of a text beside a bar, with how many are left out."""
        room = self.width - indent - len(label) - 3
        name = label
        for line, style in self._excerpt_lines(text, lines, room):
            self._write([(f"{name} {self.glyphs.bar} ", "dim"), (line, style)], indent)
            name = " " * len(label)

    def body(self, label: str, text: str, *, styled: Styled = _unstyled) -> None:
        """A whole text under its label, long lines broken; `styled` is given line after line, and parts each."""
        self.line((label, "bold"))
        for line in text.removesuffix("\n").split("\n"):
            for piece in broken(self._safe(line.removesuffix("\r")), self.width - 2):
                self._write([(f"{self.glyphs.bar} ", "dim"), *styled(piece)])

    def rule(self) -> None:
        """A line across the page."""
        self._write([(self.glyphs.rule * self.width, "dim")])

    def blank(self) -> None:
        """An empty line."""
        self._out.write("\n")

    def _excerpt_lines(self, text: Clipped, lines: int, room: int) -> Iterator[tuple[str, str]]:
        if not text.head.strip():
            shown = f'blank: "{self._safe(text.head[:room])}"' if text.head else "empty"
            yield cut_marked(shown, room, self.glyphs.more), "dim italic"
            return
        position = 0
        count = 0
        while count < lines and position < len(text.head):
            end = text.head.find("\n", position)
            end = len(text.head) if end < 0 else end
            line = text.head[position : min(end, position + CHARACTERS_A_COLUMN * room + 1)]
            yield cut_marked(self._safe(line.removesuffix("\r")), room, self.glyphs.more), ""
            position = end + 1
            count += 1
        if count < text.lines:
            left = text.lines - count
            yield f"{self.glyphs.more} {left:,} more {'line' if left == 1 else 'lines'}", "dim italic"

    def _wrapped(self, text: str, room: int, max_lines: int) -> list[str]:
        """Lines that fit, at most so many, with a mark where something is left out; at least one."""
        limit = CHARACTERS_A_COLUMN * room * max_lines
        pieces = [self._safe(piece.removesuffix("\r")) for piece in text[:limit].strip("\n").split("\n")]
        lines = [line for piece in pieces for line in broken(piece, room)]
        if len(lines) <= max_lines and len(text) <= limit:
            return lines
        last = cut(lines[:max_lines][-1], room - len(self.glyphs.more)) + self.glyphs.more
        return [*lines[: max_lines - 1], last][:max_lines]

    def _cropped(self, parts: list[tuple[str, str]], room: int) -> list[tuple[str, str]]:
        """The parts where they fit together, else as many as do with a mark behind."""
        if _columns(parts) <= room:
            return parts
        left = room - len(self.glyphs.more)
        kept: list[tuple[str, str]] = []
        for text, style in parts:
            kept.append((cut(text, left), style))
            left -= cell_len(kept[-1][0])
            if kept[-1][0] != text:
                break
        return [*kept, (self.glyphs.more, "")]

    def _safe_parts(self, parts: Iterable[Part]) -> list[tuple[str, str]]:
        # More than fits is not looked at: a text may be of any size.
        return [
            (self._safe(text[: CHARACTERS_A_COLUMN * self.width + 1]), style)
            for text, style in map(_styled, parts)
        ]

    def _safe(self, text: str) -> str:
        text = visible(text)
        if text.isascii() or _encodes(self.encoding, text):
            return text
        return text.encode(self.encoding, "backslashreplace").decode(self.encoding)

    def _write(self, parts: list[tuple[str, str]], indent: int = 0) -> None:
        while parts and not parts[-1][0].strip():
            parts = parts[:-1]
        if not parts:
            self.blank()
            return
        text, style = parts[-1]
        painted = [self._painted(*part) for part in (*parts[:-1], (text.rstrip(), style))]
        self._out.write(" " * indent + "".join(painted) + "\n")

    def _painted(self, text: str, style: str) -> str:
        if not (self.color and style and text):
            return text
        codes = ";".join(STYLES[word] for word in style.split())
        return f"\x1b[{codes}m{text}\x1b[0m"


def _styled(part: Part) -> tuple[str, str]:
    return (part, "") if isinstance(part, str) else part


def _columns(parts: Iterable[tuple[str, str]]) -> int:
    return sum(cell_len(text) for text, _ in parts)


def _encodes(encoding: str, text: str) -> bool:
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
