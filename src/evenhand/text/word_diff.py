"""Which words of a text changed, in bounded time however long the texts are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

Kind = Literal["same", "removed", "added"]

MAX_CHARACTERS = 20_000
"""Characters of the part that differs, on either side, that are compared word by word."""

MAX_EDITS = 400
"""Words removed and added until two texts count as different altogether."""

_CHUNK = 1 << 16
_WORD = re.compile(r"\w+|\s+|[^\w\s]")


class Piece(NamedTuple):
    """A part of two texts: in both, only in the first, or only in the second."""

    kind: Kind
    text: str


def word_diff(before: str, after: str) -> list[Piece]:
    """The pieces that both texts consist of, in order.

    Joined without the added ones they are `before`, without the removed ones `after`. What both texts begin and end
    with is found at the speed of comparing memory; of the rest, words are compared up to `MAX_CHARACTERS` and
    `MAX_EDITS` (E. Myers, "An O(ND) difference algorithm and its variations", Algorithmica 1, 1986), beyond that one
    text is replaced by the other.
    """
    start = _shared_start(before, after)
    end = _shared_end(before, after, min(len(before), len(after)) - start)
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    pieces = [Piece("same", before[:start])]
    if max(len(old), len(new)) <= MAX_CHARACTERS:
        pieces += _changed(_WORD.findall(old), _WORD.findall(new))
    else:
        pieces += [Piece("removed", old), Piece("added", new)]
    pieces.append(Piece("same", before[len(before) - end :]))
    return _joined(pieces)


def _shared_start(before: str, after: str) -> int:
    """How far both texts agree, back to the beginning of a word."""
    limit = min(len(before), len(after))
    place = 0
    while place < limit and before[place : place + _CHUNK] == after[place : place + _CHUNK]:
        place += _CHUNK
    place = min(place, limit)
    while place < limit and before[place] == after[place]:
        place += 1
    if place == len(before) == len(after):
        return place
    back = place
    while back and place - back < 100 and _inside_word(before, back) | _inside_word(after, back):
        back -= 1
    return back


def _shared_end(before: str, after: str, limit: int) -> int:
    """How many characters both texts end with, at most `limit`, from the beginning of a word on."""
    size = 0
    while size + _CHUNK <= limit and (
        before[len(before) - size - _CHUNK : len(before) - size]
        == after[len(after) - size - _CHUNK : len(after) - size]
    ):
        size += _CHUNK
    while size < limit and before[-size - 1] == after[-size - 1]:
        size += 1
    shrunk = size
    while (
        shrunk
        and size - shrunk < 100
        and (_inside_word(before, len(before) - shrunk) or _inside_word(after, len(after) - shrunk))
    ):
        shrunk -= 1
    return shrunk


def _inside_word(text: str, place: int) -> bool:
    return 0 < place < len(text) and text[place - 1].isalnum() and text[place].isalnum()


def _changed(old: Sequence[str], new: Sequence[str]) -> list[Piece]:
    """The shortest edit from one list of words to the other; both whole where that is longer than `MAX_EDITS`."""
    reached = {1: 0}
    history: list[dict[int, int]] = []
    for edits in range(min(MAX_EDITS, len(old) + len(new)) + 1):
        history.append(dict(reached))
        for diagonal in range(-edits, edits + 1, 2):
            down = diagonal == -edits or (diagonal != edits and reached[diagonal - 1] < reached[diagonal + 1])
            x = reached[diagonal + 1] if down else reached[diagonal - 1] + 1
            while x < len(old) and 0 <= x - diagonal < len(new) and old[x] == new[x - diagonal]:
                x += 1
            reached[diagonal] = x
            if x >= len(old) and x - diagonal >= len(new):
                return _walked_back(old, new, history)
    return [Piece("removed", "".join(old)), Piece("added", "".join(new))]


def _walked_back(old: Sequence[str], new: Sequence[str], history: list[dict[int, int]]) -> list[Piece]:
    x, y = len(old), len(new)
    pieces: list[Piece] = []
    for edits in range(len(history) - 1, -1, -1):
        reached = history[edits]
        diagonal = x - y
        down = diagonal == -edits or (diagonal != edits and reached[diagonal - 1] < reached[diagonal + 1])
        before = diagonal + 1 if down else diagonal - 1
        start_x = max(0, reached[before]) if edits else 0
        start_y = start_x - before if edits else 0
        while x > start_x and y > start_y:
            x, y = x - 1, y - 1
            pieces.append(Piece("same", old[x]))
        if edits:
            pieces.append(Piece("added", new[y - 1]) if down else Piece("removed", old[x - 1]))
            x, y = start_x, start_y
    return pieces[::-1]


def _joined(pieces: Sequence[Piece]) -> list[Piece]:
    """Neighbours of one kind as one piece; between two texts in common, what was removed before what was added."""
    joined: list[Piece] = []
    removed = added = ""
    for piece in [*pieces, Piece("same", "")]:
        if piece.kind == "removed":
            removed += piece.text
        elif piece.kind == "added":
            added += piece.text
        elif piece.text or piece is pieces[-1] or removed or added:
            if removed:
                joined.append(Piece("removed", removed))
            if added:
                joined.append(Piece("added", added))
            if (removed or added or not joined) and piece.text:
                joined.append(piece)
            elif piece.text:
                joined[-1] = Piece("same", joined[-1].text + piece.text)
            removed = added = ""
    return joined
