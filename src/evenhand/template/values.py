"""Values as templates see them: read-only, printed and ordered as the engine does it, integers of any size.

The engine is handed Python objects. A plain dict would let a template change its caller's data and call Python
methods on it; integers beyond 64 bits would silently become floats. So mappings, lists and large integers are
wrapped, one level at a time, when a template reaches them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from evenhand.template.display import TooDeep, debug_text, integer_text, sorted_keys
from evenhand.template.faults import MAX_LEVELS, FilterError, LimitExceeded, Meter, UnusableValue
from evenhand.text.surrogates import is_encodable

_INT64 = range(-(2**63), 2**63)
_PLAIN = frozenset({bool, float, type(None)})


class FrozenMapping:
    """A mapping that a template can read and iterate in key order, and nothing else."""

    __slots__ = ("__wrapped__", "_level", "_meter", "_missed_items")

    def __init__(self, data: Mapping[Any, Any], meter: Meter, level: int = 1) -> None:
        self.__wrapped__ = data
        self._meter = meter
        self._level = level
        self._missed_items = False

    def __getitem__(self, key: Any) -> Any:
        try:
            return wrap(self.__wrapped__[key], self._meter, self._level + 1)
        except KeyError:
            self._missed_items = key == "items"
            raise

    @property
    def items(self) -> None:
        """Marks this object as a mapping for the engine.

        The engine asks for the attribute `items` for two reasons: to see whether this is a mapping, and as a
        second attempt right after a key `items` was not found. The second must find nothing.
        """
        if self._missed_items:
            self._missed_items = False
            raise AttributeError(name="items", obj=self)

    def __iter__(self) -> Iterator[Any]:
        return iter(sorted_keys(self.__wrapped__))

    def __len__(self) -> int:
        return len(self.__wrapped__)

    def __str__(self) -> str:
        return _printed(self.__wrapped__, self._meter)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FrozenMapping) and _equal(self.__wrapped__, other.__wrapped__, self._meter)

    def __lt__(self, other: FrozenMapping) -> bool:
        return order_of(self.__wrapped__, plain(other)) < 0

    def __gt__(self, other: FrozenMapping) -> bool:
        return order_of(self.__wrapped__, plain(other)) > 0

    __hash__ = None  # type: ignore[assignment]


class FrozenList:
    """A list that a template can read and iterate, and nothing else."""

    __slots__ = ("__wrapped__", "_level", "_meter")

    def __init__(self, data: Sequence[Any], meter: Meter, level: int = 1) -> None:
        self.__wrapped__ = data
        self._meter = meter
        self._level = level

    def __getitem__(self, index: int) -> Any:
        return wrap(self.__wrapped__[index], self._meter, self._level + 1)

    def __iter__(self) -> Iterator[Any]:
        meter, level = self._meter, self._level + 1
        return (wrap(item, meter, level) for item in self.__wrapped__)

    def __len__(self) -> int:
        return len(self.__wrapped__)

    def __str__(self) -> str:
        return _printed(self.__wrapped__, self._meter)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FrozenList) and _equal(self.__wrapped__, other.__wrapped__, self._meter)

    def __lt__(self, other: FrozenList) -> bool:
        return order_of(self.__wrapped__, plain(other)) < 0

    def __gt__(self, other: FrozenList) -> bool:
        return order_of(self.__wrapped__, plain(other)) > 0

    __hash__ = None  # type: ignore[assignment]


Sequence.register(FrozenList)  # an honest base class would bring `index` and `count` for templates to call


class LargeInteger:
    """An integer beyond 64 bits: it prints exactly and compares with its like."""

    __slots__ = ("__wrapped__",)

    def __init__(self, value: int) -> None:
        self.__wrapped__ = value

    def __str__(self) -> str:
        return integer_text(self.__wrapped__)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LargeInteger) and self.__wrapped__ == other.__wrapped__

    def __lt__(self, other: LargeInteger) -> bool:
        return self.__wrapped__ < other.__wrapped__

    def __gt__(self, other: LargeInteger) -> bool:
        return self.__wrapped__ > other.__wrapped__

    def __hash__(self) -> int:
        return hash(self.__wrapped__)


_WRAPPERS = frozenset({FrozenMapping, FrozenList, LargeInteger})


def wrap(value: Any, meter: Meter, level: int = 1) -> Any:
    """The value as a template may hold it; what no template can hold is reported and becomes None."""
    kind = type(value)
    if kind is str:
        return value if value.isascii() or is_encodable(value) else _refuse(UNPAIRED, meter)
    if kind in _PLAIN:
        return value
    if kind is int:
        return value if value in _INT64 else _large(value, meter)
    if level > MAX_LEVELS:
        return _refuse(f"nests more than {MAX_LEVELS} levels", meter)
    if kind is dict:
        return FrozenMapping(value, meter, level)
    if kind is list:
        return FrozenList(value, meter, level)
    if kind in _WRAPPERS:
        return value
    return _wrap_unusual(value, meter, level)


UNPAIRED = "holds an unpaired surrogate character, which is no text that a template can print"


def plain(value: Any) -> Any:
    """The JSON value behind what the engine handed back. What was wrapped comes back as it was, not copied."""
    if isinstance(value, (FrozenMapping, FrozenList, LargeInteger)):
        return value.__wrapped__
    if isinstance(value, str):
        return str(value)
    if isinstance(value, dict):
        return {
            key if type(key) is str else debug_text(plain(key)): plain(item) for key, item in value.items()
        }
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def _large(value: int, meter: Meter) -> LargeInteger:
    meter.has_large_integer = True
    return LargeInteger(value)


def _wrap_unusual(value: Any, meter: Meter, level: int) -> Any:
    """Subclasses of JSON's types, and tuples, which programs that use the library may pass."""
    if isinstance(value, str):
        text = wrap(str(value), meter)
        return value if text is not None and hasattr(value, "__html__") else text
    if isinstance(value, int):
        return wrap(int(value), meter)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, Mapping):
        return FrozenMapping(value, meter, level)
    if isinstance(value, (list, tuple)):
        return FrozenList(value, meter, level)
    if isinstance(value, Decimal):
        return _wrap_decimal(value, meter)
    return _refuse(f"is of type `{type(value).__name__}`, which is no JSON value", meter)


MAX_DIGITS = 100_000
"""Digits of an integer that a template may hold: the time for more grows with their square."""


def _wrap_decimal(value: Decimal, meter: Meter) -> Any:
    """A number of JSON that no int or float was made of: an integer of thousands of digits, or one like `1e400`."""
    _, digits, exponent = value.as_tuple()
    if exponent != 0:
        return _refuse("is a number beyond a float, which no template can hold", meter)
    if len(digits) > MAX_DIGITS:
        return _refuse(f"is an integer of more than {MAX_DIGITS:,} digits", meter)
    return _large(int(value), meter)


def _refuse(why: str, meter: Meter) -> None:
    meter.report(UnusableValue(why))


def _printed(data: Any, meter: Meter) -> str:
    """The text of a mapping or list; the engine ignores exceptions here, so none is raised."""
    try:
        text = debug_text(data)
        meter.write(len(text))
    except TooDeep as error:
        meter.report(FilterError(str(error)))
        return ""
    except LimitExceeded as limit:
        meter.report(limit)
        return ""
    if not is_encodable(text):
        _refuse(UNPAIRED, meter)
        return ""
    return text


def _equal(left: Any, right: Any, meter: Meter) -> bool:
    try:
        return bool(left == right)
    except RecursionError:
        meter.report(FilterError("compares values that nest too deeply"))
        return False


def order_of(left: Any, right: Any) -> int:
    """-1, 0 or 1: the engine's total order, kinds first (none, booleans, numbers, texts, lists, mappings)."""
    ranks = _rank(left), _rank(right)
    if ranks[0] != ranks[1]:
        return -1 if ranks[0] < ranks[1] else 1
    if isinstance(left, Mapping):
        left = [[key, left[key]] for key in sorted_keys(left)]
        right = [[key, right[key]] for key in sorted_keys(right)]
    if isinstance(left, (list, tuple)):
        for one, other in zip(left, right, strict=False):
            if (order := order_of(one, other)) != 0:
                return order
        left, right = len(left), len(right)
    if left is None or left == right:
        return 0
    return -1 if left < right else 1


_RANKS: tuple[tuple[type, ...], ...] = ((bool,), (int, float), (str,), (list, tuple), (Mapping,))


def _rank(value: Any) -> int:
    if value is None:
        return 0
    return next((rank for rank, kinds in enumerate(_RANKS, start=1) if isinstance(value, kinds)), 9)
