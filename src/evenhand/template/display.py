"""Values as text, printed as the template engine prints its own."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from evenhand.template.faults import MAX_LEVELS

_ESCAPES = {"\0": "\\0", "\t": "\\t", "\n": "\\n", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


class TooDeep(ValueError):
    """A value that nests deeper than can be printed."""

    def __init__(self) -> None:
        super().__init__(f"prints a value that nests more than {MAX_LEVELS} levels")


def display_text(value: Any) -> str:
    """A value as `{{ value }}` prints it: texts as they are, `none`, `true`, `1.0`, never an exponent."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, float):
        return _plain_float(value)
    return debug_text(value)


def debug_text(value: Any) -> str:
    """A value as it is printed inside a list: texts in double quotes with escapes. Raises `TooDeep`."""
    parts: list[str] = []
    _write(value, parts, MAX_LEVELS)
    return "".join(parts)


def sorted_keys(data: Mapping[Any, Any]) -> list[Any]:
    """The keys in the order in which the language iterates a mapping."""
    try:
        return sorted(data)
    except TypeError:
        return sorted(data, key=lambda key: (type(key).__name__, str(key)))


def integer_text(value: int) -> str:
    """The digits of an integer of any length; `str` refuses more than 4,300."""
    return str(value) if value.bit_length() < 10_000 else format(Decimal(value), "f")


def _write(value: Any, parts: list[str], levels: int) -> None:
    if value is None:
        parts.append("none")
    elif isinstance(value, bool):
        parts.append("true" if value else "false")
    elif isinstance(value, float):
        parts.append(_debug_float(value))
    elif isinstance(value, str):
        parts.append(_quoted(value))
    elif isinstance(value, (Mapping, list, tuple)):
        if levels == 0:
            raise TooDeep
        if isinstance(value, Mapping):
            _write_mapping(value, parts, levels - 1)
        else:
            _write_list(value, parts, levels - 1)
    elif isinstance(value, int):
        parts.append(integer_text(value))
    else:
        parts.append(str(value))


def _write_mapping(value: Mapping[Any, Any], parts: list[str], levels: int) -> None:
    parts.append("{")
    for index, key in enumerate(sorted_keys(value)):
        if index:
            parts.append(", ")
        _write(key, parts, levels)
        parts.append(": ")
        _write(value[key], parts, levels)
    parts.append("}")


def _write_list(value: list[Any] | tuple[Any, ...], parts: list[str], levels: int) -> None:
    parts.append("[")
    for index, item in enumerate(value):
        if index:
            parts.append(", ")
        _write(item, parts, levels)
    parts.append("]")


def _quoted(text: str) -> str:
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return f'"{"".join(_escaped(character) for character in text)}"'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable() and unicodedata.category(character) not in ("Mn", "Me"):
        return character
    return f"\\u{{{ord(character):x}}}"


def _plain_float(value: float) -> str:
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    text = format(Decimal(repr(value)), "f")
    return text if "." in text else f"{text}.0"


def _debug_float(value: float) -> str:
    """Shortest digits that read back as the same number, with an exponent outside 1e-4 to 1e16."""
    if value != value:
        return "NaN"
    mantissa, exponent_mark, exponent = repr(value).partition("e")
    return f"{mantissa}e{int(exponent)}" if exponent_mark else mantissa
