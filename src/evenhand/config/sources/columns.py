"""What the columns of a table of cases mean.

Reserved columns are keys of a test, every other column is a var. Cells stay text unless the header names a type:
`n:int`, `price:float`, `flag:bool`, `data:json`; a blank cell of such a column is null.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from evenhand.config.json_text import BadJson, decode_json
from evenhand.config.wording import found
from evenhand.io.target import FILE_PREFIX
from evenhand.registry import nearest

MAX_DIGITS = 400
"""Characters of a number in a cell."""

_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_MARK = re.compile(r'\s*\{\s*"\$(?:raw|file)"\s*:')
_JSON_LIST = "write assertions as a JSON list in a column `__assert`"


class BadCell(Exception):
    """Why a cell cannot be used: what is wrong and what was found, and what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class HeaderFault(NamedTuple):
    """Something wrong, or suspicious, in a header."""

    message: str
    hint: str


class CellFault(NamedTuple):
    """A cell that cannot be used, by the name of its column."""

    column: str
    message: str
    hint: str


class Columns:
    """The columns of one table, from its header. With `faults` it must not be used."""

    def __init__(self, header: Sequence[str]) -> None:
        self.faults: list[HeaderFault] = []
        self.warnings: list[HeaderFault] = []
        self.names = [name.strip() for name in header]
        self._texts: list[tuple[str, int]] = []
        self._typed: list[tuple[str, int, Callable[[str], Any]]] = []
        self._reserved: list[tuple[str, int, Callable[[str], Any]]] = []
        self._positions: dict[str, int] = {}
        for index, name in enumerate(self.names):
            self._add(name, index)

    def document(self, cells: Sequence[Any], faults: list[CellFault]) -> dict[str, Any]:
        """The keys of the test in one row, without those whose cell is bad: these are added to `faults`."""
        document: dict[str, Any] = {}
        values: dict[str, Any] = {name: cells[index] for name, index in self._texts}
        if self._typed:
            self._convert(self._typed, cells, values, faults)
        if values:
            document["vars"] = values
        if self._reserved:
            self._convert(self._reserved, cells, document, faults)
        return document

    def read_marks(self, values: dict[str, Any], faults: list[CellFault]) -> None:
        """Replace texts that are a `{"$raw": …}` or `{"$file": …}` object by that object."""
        for name, _ in self._texts:
            cell = values[name]
            if type(cell) is str and _MARK.match(cell):
                try:
                    mark = _json(cell)
                except BadCell as error:
                    faults.append(CellFault(name, error.message, error.hint))
                    continue
                if "$file" in mark or len(mark) == 1:
                    values[name] = mark

    def _convert(
        self,
        columns: list[tuple[str, int, Callable[[str], Any]]],
        cells: Sequence[Any],
        into: dict[str, Any],
        faults: list[CellFault],
    ) -> None:
        for name, index, convert in columns:
            cell = cells[index]
            try:
                value = convert(cell) if type(cell) is str else _given(name, cell)
                if value is not msgspec.UNSET:
                    into[name] = value
            except BadCell as error:
                faults.append(CellFault(self.names[index], error.message, error.hint))

    def _add(self, name: str, index: int) -> None:
        base, _, type_name = name.rpartition(":")
        convert = _TYPES.get(type_name) if base else None
        key = base if convert else name
        if key in self._positions:
            found = f"columns {self._positions[key] + 1} and {index + 1} are both called {key!r}"
            self.faults.append(HeaderFault(found, "rename one of them"))
            return
        self._positions[key] = index
        fault = _header_fault(name, key, index)
        if fault:
            self.faults.append(fault)
        elif key in _RESERVED:
            self._reserved.append((_KEYS.get(key, key), index, _RESERVED[key]))
        elif convert:
            self._typed.append((key, index, convert))
        else:
            self._texts.append((key, index))
            self.warnings.extend(_suspicions(name, base, type_name))


def _header_fault(name: str, key: str, index: int) -> HeaderFault | None:
    if not name:
        return HeaderFault(f"column {index + 1} has no name", "name it, or delete the column")
    if key in _RESERVED:
        return (
            None
            if name == key
            else HeaderFault(f"column `{name}` is reserved and takes no type", f"call it `{key}`")
        )
    if key.startswith("__expected"):
        return HeaderFault(f"column `{name}` belongs to promptfoo's tables of tests", _JSON_LIST)
    if key.startswith("__"):
        meant = nearest(key, _RESERVED)
        hint = f"did you mean `{meant}`?" if meant else "rename it without the underscores if it is a var"
        return HeaderFault(f"unknown column `{name}`: names that begin with `__` are reserved", hint)
    if key in ("assert", "asserts"):
        return HeaderFault(f"column `{name}` would be a var and assert nothing", _JSON_LIST)
    return None


def _suspicions(name: str, base: str, type_name: str) -> list[HeaderFault]:
    """Columns that are vars although something else was probably meant."""
    if name.startswith("_expected"):
        hint = f"did you mean __expected? That column belongs to promptfoo's tables; {_JSON_LIST}"
        return [HeaderFault(f"column `{name}` is a var and asserts nothing", hint)]
    folded = name.strip("_").casefold()
    meant = next((key for key in _RESERVED if key.strip("_") == folded and folded != "history"), None)
    if meant:
        return [HeaderFault(f"column `{name}` is a var", f"did you mean the reserved column `{meant}`?")]
    near = nearest(type_name, _TYPES) if base else None
    if near:
        return [HeaderFault(f"column `{name}` is a var of that name", f"did you mean `{base}:{near}`?")]
    return []


def _given(name: str, value: Any) -> Any:
    """A cell of a reserved column of a table whose cells have types of their own."""
    if value is None:
        return msgspec.UNSET
    fits = {
        "tags": isinstance(value, list),
        "threshold": isinstance(value, int | float) and not isinstance(value, bool),
        "expect_fail": isinstance(value, bool),
    }
    if fits.get(name):
        return value
    raise BadCell(f"must be text, found {found(value)}")


def _verbatim(cell: str) -> str:
    return cell


def _filled(cell: str) -> Any:
    return cell if cell.strip() else msgspec.UNSET


def _tags(cell: str) -> list[str]:
    return [tag for part in cell.split(",") if (tag := part.strip())]


def _threshold(cell: str) -> Any:
    return _float(cell) if cell.strip() else msgspec.UNSET


def _expect_fail(cell: str) -> Any:
    word = cell.strip()
    if not word:
        return msgspec.UNSET
    return {"true": True, "false": False}.get(word.lower(), cell)


def _assertions(cell: str) -> Any:
    if not cell.strip():
        return msgspec.UNSET
    value = _json(cell)
    if not isinstance(value, list):
        raise BadCell(f"must be a JSON list of assertions, found {found(value)}")
    return value


def _history(cell: str) -> Any:
    text = cell.strip()
    if not text:
        return msgspec.UNSET
    if text.startswith("["):
        return _json(text)
    if text.startswith(FILE_PREFIX):
        return text
    raise BadCell(f"must be a JSON list of turns or a file:// reference, found {text[:40]!r}")


def _transform(cell: str) -> Any:
    if not cell.strip():
        return msgspec.UNSET
    if cell.lstrip().startswith('{"'):
        return _json(cell)
    return cell


def _int(cell: str) -> Any:
    text = cell.strip()
    if not text:
        return None
    if not _INTEGER.fullmatch(text) or len(text) > MAX_DIGITS:
        raise BadCell(
            f"not an integer, found {text[:40]!r}", "write digits only, or leave out the type `int`"
        )
    return int(text)


def _float(cell: str) -> Any:
    text = cell.strip()
    if not text:
        return None
    if not _NUMBER.fullmatch(text) or len(text) > MAX_DIGITS or math.isinf(value := float(text)):
        hint = "write decimals with a point" if "," in text else ""
        raise BadCell(f"not a number, found {text[:40]!r}", hint)
    return value


def _bool(cell: str) -> Any:
    text = cell.strip()
    if not text:
        return None
    value = {"true": True, "false": False}.get(text.lower())
    if value is None:
        raise BadCell(f"not a boolean, found {text[:40]!r}", "write true or false")
    return value


def _json(cell: str) -> Any:
    if not cell.strip():
        return None
    try:
        return decode_json(cell.encode())
    except BadJson as error:
        message = f"{error.message}, at character {error.offset + 1} of {cell[:40]!r}"
        raise BadCell(message, error.hint) from None


_TYPES: dict[str, Callable[[str], Any]] = {"int": _int, "float": _float, "bool": _bool, "json": _json}
_RESERVED: dict[str, Callable[[str], Any]] = {
    "id": _verbatim,
    "description": _filled,
    "tags": _tags,
    "threshold": _threshold,
    "cache_salt": _verbatim,
    "expect_fail": _expect_fail,
    "__assert": _assertions,
    "__history": _history,
    "__transform": _transform,
}
_KEYS = {"__assert": "assert", "__history": "history", "__transform": "transform"}
