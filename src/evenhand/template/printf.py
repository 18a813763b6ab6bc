"""`"%05.1f %s"|format(…)`: formatting in the manner of `printf`, as the template engine does it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.template.display import display_text
from evenhand.template.faults import FilterError, Meter

MAX_WIDTH = 10_000
"""Characters of one field, and digits of one number."""

_FIELD = re.compile(r"%(?:%|(?:\(([^)]*)\))?([-+ #0]*)([0-9]*)(?:\.([0-9]*))?[hlL]?([a-zA-Z])?)")
_INTEGER_KINDS = frozenset("dioxXc")
_FLOAT_KINDS = frozenset("eEfFgG")


def printf(style: str, arguments: Sequence[Any], meter: Meter) -> str:
    """The text `style` with its fields filled in. Raises `FilterError`."""
    waiting = iter(arguments)
    parts: list[str] = []
    position = 0
    for field in _FIELD.finditer(style):
        parts.append(style[position : field.start()])
        position = field.end()
        parts.append("%" if field[0] == "%%" else _filled(field, arguments, waiting))
        meter.build(sum(map(len, parts[-2:])) + MAX_WIDTH)
    parts.append(style[position:])
    meter.build(sum(map(len, parts)))
    return "".join(parts)


def _filled(field: re.Match[str], arguments: Sequence[Any], waiting: Any) -> str:
    key, flags, width_text, precision_text, kind = field.groups()
    if kind is None or kind not in _INTEGER_KINDS | _FLOAT_KINDS | {"s"}:
        raise FilterError(f"has the unknown field {field[0]!r}", depends_on_data=False)
    width = _bounded(width_text)
    precision = _bounded(precision_text) if precision_text and kind not in _INTEGER_KINDS else None
    value = _argument(key, arguments, waiting)
    if isinstance(value, (int, float)) and kind != "s":
        return _number(float(value) if kind in _FLOAT_KINDS else value, flags, width, precision, kind)
    if kind not in "sc":
        raise FilterError("needs a number for one of its fields, found something else")
    text = _general(value) if isinstance(value, float) else display_text(value)
    if kind == "c" and len(text) != 1:
        raise FilterError("needs one character for one of its fields, found something else")
    if precision is not None and not isinstance(value, (int, float)):
        text = text[:precision]
    return text.ljust(width) if "-" in flags else text.rjust(width)


def _argument(key: str | None, arguments: Sequence[Any], waiting: Any) -> Any:
    if key is None:
        for value in waiting:
            return value
        raise FilterError("has more fields than arguments", depends_on_data=False)
    mapping = arguments[0] if arguments else None
    if not isinstance(mapping, Mapping) or key not in mapping:
        raise FilterError(f"needs a mapping with the key {key!r}")
    return mapping[key]


def _bounded(digits: str) -> int:
    if len(digits) > 6 or int(digits or 0) > MAX_WIDTH:
        raise FilterError(f"has a field wider than {MAX_WIDTH:,}", depends_on_data=False)
    return int(digits or 0)


def _number(value: float, flags: str, width: int, precision: int | None, kind: str) -> str:
    if kind in _INTEGER_KINDS and isinstance(value, float):
        raise FilterError("needs a whole number for one of its fields, found a fraction")
    digits = "" if precision is None else f".{precision}"
    try:
        return f"%{flags}{width or ''}{digits}{kind}" % value
    except (OverflowError, ValueError):
        raise FilterError("needs a smaller number for one of its fields") from None


def _general(value: float) -> str:
    """A float as text: six digits at most, as the engine prints it here."""
    text = format(value, "g")
    return text if value == 0 or any(mark in text for mark in ".enif") else f"{text}.0"
