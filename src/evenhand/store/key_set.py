"""The keys of a million finished cells in eight megabytes."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet

_HEX_DIGITS = 16


class KeySet(AbstractSet[str]):
    """An immutable set of case keys (16 hex digits), eight bytes each."""

    __slots__ = ("_keys",)

    def __init__(self, keys: Iterable[bytes] = ()) -> None:
        """`keys` are the eight bytes of each key, in ascending order."""
        self._keys = array("Q", (int.from_bytes(key, "big") for key in keys))

    @classmethod
    def _from_iterable(cls, keys: Iterable[str]) -> KeySet:  # type: ignore[override]
        """What the operators of `Set` make their results with."""
        return cls(sorted(bytes.fromhex(key) for key in keys))

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, str) or len(key) != _HEX_DIGITS:
            return False
        try:
            wanted = int(key, 16)
        except ValueError:
            return False
        place = bisect_left(self._keys, wanted)
        return place < len(self._keys) and self._keys[place] == wanted

    def __iter__(self) -> Iterator[str]:
        return (f"{key:016x}" for key in self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __repr__(self) -> str:
        return f"<{len(self)} case keys>"
