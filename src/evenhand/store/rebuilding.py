"""Values made fit for a JSON document: every text passed through a function, whatever cannot be stored replaced.

What a system under test returns may hold anything. A value that has no place in JSON leaves a note in its place, in
square brackets, and never costs the rest of the result.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import msgspec

from evenhand.template import Val

MAX_DEPTH = 100
"""Levels of nesting that a stored document may have. Common readers of JSON stop soon after: serde_json at 128."""

TOO_DEEP = f"[not stored: nested deeper than {MAX_DEPTH} levels]"
CIRCULAR = "[not stored: the value contains itself]"
HUGE_NUMBER = "[not stored: a whole number of more than 4,300 digits]"

_DIGITS_4300_IN_BITS = 14_284
_DATA_FIELDS = frozenset(
    {
        *("vars", "prompt", "output", "raw_output", "arguments", "details", "criteria", "parts"),
        *("error_details", "request", "raw", "log_probs", "metadata", "config_snapshot"),
    }
)
"""Fields of results and runs that hold any JSON; in every other field a number stays a number."""

Value = TypeVar("Value")


def rebuilt(value: Value, text: Callable[[str], str]) -> Value:
    """A copy of a struct or JSON value in which each text, keys included, went through `text`.

    Structs keep their type, field names and enumerations. Numbers inside data become text where `text` changes their
    digits.
    """
    is_data = not isinstance(value, msgspec.Struct)
    rebuilt_value: Value = _Rebuilder(text).any(value, 0, is_data)
    return rebuilt_value


def without_surrogates(text: str) -> str:
    """The text with unpaired surrogates, which UTF-8 cannot hold, replaced by U+FFFD; pairs become one character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def deeper_than(value: object, levels: int) -> bool:
    """Whether a value without cycles has containers inside containers to more than `levels` levels."""
    layer = list(_containers((value,)))
    for _ in range(levels):
        if not layer:
            return False
        layer = [inner for container in layer for inner in _containers(_children(container))]
    return bool(layer)


def _containers(values: Any) -> Iterator[object]:
    return (
        value for value in values if isinstance(value, (dict, list, tuple, msgspec.Struct, Val)) and value
    )


def _children(container: Any) -> Any:
    if isinstance(container, msgspec.Struct):
        return [getattr(container, name) for name in container.__struct_fields__]
    if isinstance(container, Val):
        return (container.authored,)
    return container.values() if isinstance(container, dict) else container


class _Rebuilder:
    """One pass over one value, which remembers the containers that it is inside of."""

    def __init__(self, text: Callable[[str], str]) -> None:
        self.text = text
        self._inside: set[int] = set()

    def any(self, value: Any, level: int, data: bool) -> Any:
        """The rebuilt value. `data` says whether it stands where any JSON may stand."""
        if type(value) is str:
            return self.text(value)
        if value is None or isinstance(value, (bool, enum.Enum)):
            return value
        if isinstance(value, (int, float)):
            return self._number(value) if data else value
        if level > MAX_DEPTH:
            return TOO_DEEP
        if id(value) in self._inside:
            return CIRCULAR
        self._inside.add(id(value))
        try:
            return self._container(value, level, data)
        finally:
            self._inside.discard(id(value))

    def _number(self, value: float) -> Any:
        if isinstance(value, int) and value.bit_length() > _DIGITS_4300_IN_BITS:
            return HUGE_NUMBER
        digits = repr(value)
        cleaned = self.text(digits)
        return value if cleaned == digits else cleaned

    def _container(self, value: Any, level: int, data: bool) -> Any:
        if isinstance(value, msgspec.Struct):
            fields = {
                name: self.any(getattr(value, name), level + 1, data or name in _DATA_FIELDS)
                for name in value.__struct_fields__
            }
            return msgspec.structs.replace(value, **fields)
        if isinstance(value, Val):
            return self.any(value.authored, level + 1, data)
        if isinstance(value, Mapping):
            return {self._key(key): self.any(inner, level + 1, data) for key, inner in value.items()}
        if isinstance(value, tuple):
            return tuple(self.any(inner, level + 1, data) for inner in value)
        if isinstance(value, (list, set, frozenset)):
            return [self.any(inner, level + 1, data) for inner in value]
        return self._foreign(value)

    def _key(self, key: object) -> str:
        return self.text(key if isinstance(key, str) else _as_text(key))

    def _foreign(self, value: object) -> Any:
        """Something that is no JSON: dates, bytes and their like as msgspec writes them, anything else a note."""
        try:
            plain = msgspec.to_builtins(value)
        except Exception:  # noqa: BLE001  (an object of the system under test may fail in any way)
            return _note(value)
        return self.text(plain) if isinstance(plain, str) else _note(value)


def _as_text(key: object) -> str:
    try:
        return str(key)
    except Exception:  # noqa: BLE001  (as above)
        return _note(key)


def _note(value: object) -> str:
    return f"[not stored: {type(value).__qualname__!r} is not JSON]"
