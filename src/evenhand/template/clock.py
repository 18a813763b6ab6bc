"""`now(format?)` for templates: the time in UTC, or the one that the environment freezes it at."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from evenhand.template.faults import FilterError

VARIABLES = ("EVENHAND_NOW", "DOMARINN_NOW")
"""Environment variables that freeze the time, the first one set counts: a time of RFC 3339."""

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_DIRECTIVE = re.compile(r"%([-_0]?)(:?z|\.?[369]?f|.|$)", re.DOTALL)


def now(style: Any = None) -> str:
    """The time as RFC 3339, or in a format of `strftime` directives. The locale has no say."""
    moment = _frozen() or datetime.now(UTC)
    if style is None:
        style = "%+"
    if not isinstance(style, str):
        raise FilterError("needs a format that is a text, such as `%Y-%m-%d`")
    return _DIRECTIVE.sub(lambda match: _directive(moment, match), style)


def _frozen() -> datetime | None:
    for variable in VARIABLES:
        text = os.environ.get(variable)
        if text:
            try:
                moment = datetime.fromisoformat(text)
            except ValueError:
                moment = None
            if moment is None or moment.tzinfo is None:
                raise FilterError(
                    f"needs a time such as `2025-01-31T12:00:00Z` in `{variable}`", depends_on_data=False
                )
            return moment.astimezone(UTC)
    return None


def _directive(moment: datetime, match: re.Match[str]) -> str:
    padding, letter = match.groups()
    if (number := _NUMBERS.get(letter)) is not None:
        read, width, fill = number
        fill = {"": fill, "-": "", "_": " ", "0": "0"}[padding]
        text = str(read(moment))
        return text.rjust(width, fill) if fill else text
    write = _TEXTS.get(letter)
    if write is None or padding:
        raise FilterError(f"has a format with the unknown directive {match[0]!r}", depends_on_data=False)
    return write(moment)


def _hour(moment: datetime) -> int:
    return moment.hour % 12 or 12


def _fraction(digits: int) -> Callable[[datetime], str]:
    return lambda moment: f"{moment.microsecond * 1000:09d}"[:digits]


def _shortest_fraction(moment: datetime) -> str:
    if not moment.microsecond:
        return ""
    return f".{moment:%f}" if moment.microsecond % 1000 else f".{moment.microsecond // 1000:03d}"


def _composed(style: str) -> Callable[[datetime], str]:
    return lambda moment: _DIRECTIVE.sub(lambda match: _directive(moment, match), style)


_NUMBERS: dict[str, tuple[Callable[[datetime], int], int, str]] = {
    "Y": (lambda t: t.year, 4, "0"),
    "C": (lambda t: t.year // 100, 2, "0"),
    "y": (lambda t: t.year % 100, 2, "0"),
    "m": (lambda t: t.month, 2, "0"),
    "d": (lambda t: t.day, 2, "0"),
    "e": (lambda t: t.day, 2, " "),
    "j": (lambda t: t.timetuple().tm_yday, 3, "0"),
    "H": (lambda t: t.hour, 2, "0"),
    "k": (lambda t: t.hour, 2, " "),
    "I": (_hour, 2, "0"),
    "l": (_hour, 2, " "),
    "M": (lambda t: t.minute, 2, "0"),
    "S": (lambda t: t.second, 2, "0"),
    "f": (lambda t: t.microsecond * 1000, 9, "0"),
    "s": (lambda t: int(t.timestamp()), 1, ""),
    "u": (lambda t: t.isoweekday(), 1, ""),
    "w": (lambda t: t.isoweekday() % 7, 1, ""),
    "G": (lambda t: t.isocalendar().year, 4, "0"),
    "g": (lambda t: t.isocalendar().year % 100, 2, "0"),
    "V": (lambda t: t.isocalendar().week, 2, "0"),
    "U": (lambda t: (t.timetuple().tm_yday + 6 - t.isoweekday() % 7) // 7, 2, "0"),
    "W": (lambda t: (t.timetuple().tm_yday + 6 - t.weekday()) // 7, 2, "0"),
}
"""Directives that write a number: how to read it, its width and what fills it up."""

_TEXTS: dict[str, Callable[[datetime], str]] = {
    "A": lambda t: _DAYS[t.weekday()],
    "a": lambda t: _DAYS[t.weekday()][:3],
    "B": lambda t: _MONTHS[t.month - 1],
    "b": lambda t: _MONTHS[t.month - 1][:3],
    "h": lambda t: _MONTHS[t.month - 1][:3],
    "p": lambda t: "AM" if t.hour < 12 else "PM",
    "P": lambda t: "am" if t.hour < 12 else "pm",
    "z": _composed("+0000"),
    ":z": _composed("+00:00"),
    "Z": _composed("UTC"),
    "D": _composed("%m/%d/%y"),
    "x": _composed("%m/%d/%y"),
    "F": _composed("%Y-%m-%d"),
    "v": _composed("%e-%b-%Y"),
    "R": _composed("%H:%M"),
    "T": _composed("%H:%M:%S"),
    "X": _composed("%H:%M:%S"),
    "r": _composed("%I:%M:%S %p"),
    "c": _composed("%a %b %e %H:%M:%S %Y"),
    "+": _composed("%Y-%m-%dT%H:%M:%S%.f+00:00"),
    ".f": _shortest_fraction,
    ".3f": lambda t: "." + _fraction(3)(t),
    ".6f": lambda t: "." + _fraction(6)(t),
    ".9f": lambda t: "." + _fraction(9)(t),
    "3f": _fraction(3),
    "6f": _fraction(6),
    "9f": _fraction(9),
    "t": _composed("\t"),
    "n": _composed("\n"),
    "%": "{:%%}".format,
}
