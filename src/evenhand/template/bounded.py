"""The engine's own filters whose result can be far larger than what they are given.

The engine would take the memory first and end the whole process where there is none. Those over text are written
anew with bounds; for the others, which keep values as they are, the arguments are checked beforehand.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import minijinja
import msgspec

from evenhand.template.faults import MAX_ITEMS, FilterError, Meter
from evenhand.template.functions import json_text, text_of, whole_number
from evenhand.template.printf import printf

MAX_INDENT = 1_000
"""Characters that a line may be indented by."""

MAX_JOINER = 200
"""Characters that may stand between two items of a list."""

_HTML_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*)\\u(003c|003e|0026|0027)")
_HTML_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "'": "\\u0027"})


def bounded_filters(meter: Callable[[], Meter]) -> dict[str, Callable[..., Any]]:
    """The filters by name; `meter` gives the meter of the current rendering."""

    def replace(value: Any, old: Any, new: Any) -> str:
        text, removed, inserted = text_of(value), text_of(old), text_of(new)
        growth = len(inserted) - len(removed)
        if growth > 0:
            meter().build(len(text) + growth * text.count(removed))
        return text.replace(removed, inserted)

    def indent(value: Any, width: Any = 4, first: Any = False, blank: Any = False) -> str:
        text = text_of(value)
        spaces = " " * whole_number(width, "a width", MAX_INDENT)
        lines = _without_line_end(text).split("\n")
        meter().build(len(text) + len(spaces) * len(lines))
        start = 0 if first else 1
        lines[start:] = [spaces + line if line or blank else line for line in lines[start:]]
        return _without_line_end("\n".join(lines) + "\n")

    def printed(value: Any, *arguments: Any) -> str:
        return printf(text_of(value), arguments, meter())

    return {"replace": replace, "indent": indent, "format": printed}


def check_join(joiner: Any = "") -> bool:
    """Check the arguments of `join`; always True, else it raises."""
    if len(text_of(joiner)) > MAX_JOINER:
        raise FilterError(f"needs a separator of at most {MAX_JOINER} characters", depends_on_data=False)
    return True


def check_count(count: Any, _fill_with: Any = None) -> bool:
    """Check the arguments of `batch` and `slice`; always True, else it raises."""
    whole_number(count, "a count", MAX_ITEMS)
    return True


def check_tojson(indent: Any = None) -> bool:
    """Check the arguments of `tojson`; always True, else it raises."""
    if indent is not None and not isinstance(indent, bool):
        whole_number(indent, "an indent", MAX_INDENT)
    return True


CHECKS: dict[str, Callable[..., bool]] = {
    "join": check_join,
    "batch": check_count,
    "slice": check_count,
    "tojson": check_tojson,
}
"""Checks of arguments by filter."""


def html_safe_json(value: Any, indent: Any = None) -> Any:
    """A value as JSON in which `<`, `>`, `&` and `'` are escaped, on several lines where `indent` says how far."""
    text = json_text(value)
    if indent is not None and indent is not False:
        width = 2 if indent is True else whole_number(indent, "an indent", MAX_INDENT)
        text = msgspec.json.format(text, indent=width or 1)
        if not width:
            text = re.sub(r"(?m)^ +", "", text)
    return minijinja.safe(text.translate(_HTML_ESCAPES))


def plain_json(text: Any) -> str:
    """JSON without the escapes that `html_safe_json` writes; the engine's own `tojson` writes the same."""
    return _HTML_ESCAPE.sub(lambda match: match[1] + chr(int(match[2], 16)), text_of(text))


def _without_line_end(text: str) -> str:
    return text.removesuffix("\n").removesuffix("\r")
