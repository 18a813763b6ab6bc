"""Text made to fit a number of terminal columns: cut, or broken into lines. Works in linear time on texts of any size.

A column holds at most four characters here, which is more than any text needs that is not made of combining marks.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len

CHARACTERS_A_COLUMN = 4


def cut(text: str, columns: int) -> str:
    """The beginning of a one-line text that fits."""
    head = text[: CHARACTERS_A_COLUMN * max(columns, 0)]
    if cell_len(head) <= columns:
        return head
    fits, too_long = 0, len(head)
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        if cell_len(head[:middle]) <= columns:
            fits = middle
        else:
            too_long = middle
    return head[:fits]


def cut_marked(text: str, columns: int, mark: str) -> str:
    """The text itself where it fits, else its beginning with `mark` behind."""
    head = cut(text, columns)
    return text if len(head) == len(text) else cut(text, columns - cell_len(mark)) + mark


def broken(line: str, columns: int) -> Iterator[str]:
    """The pieces of a line that each fit, broken at spaces where there are any; at least one."""
    position = 0
    while True:
        window = line[position : position + CHARACTERS_A_COLUMN * columns + 1]
        piece = cut(window, columns) or window[:1]
        if position + len(piece) >= len(line):
            yield piece
            return
        space = piece.rfind(" ", len(piece) // 2)
        if space > 0:
            piece = piece[:space]
        yield piece
        position += len(piece)
        while position < len(line) - 1 and line[position] == " ":
            position += 1
