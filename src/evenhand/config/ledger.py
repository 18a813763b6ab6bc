"""Which of a great many texts occurred more than once, in eight bytes each."""

from __future__ import annotations

from array import array
from itertools import pairwise

_BITS = 2**64 - 1


class Ledger:
    """Remembers texts by a 64-bit hash. What it calls repeated has to be confirmed by looking again."""

    def __init__(self) -> None:
        self._hashes = array("Q")

    def add(self, text: str | bytes) -> None:
        """Note one occurrence."""
        self._hashes.append(hash(text) & _BITS)

    def repeated(self) -> frozenset[int]:
        """The hashes that occurred more than once; `hash_of` tells a text's."""
        ordered = sorted(self._hashes)
        return frozenset(one for one, next_one in pairwise(ordered) if one == next_one)

    @staticmethod
    def hash_of(text: str | bytes) -> int:
        """The hash under which a text is noted."""
        return hash(text) & _BITS
