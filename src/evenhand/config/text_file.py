"""Bytes of a file as text: UTF-8, with or without a byte order mark."""

from __future__ import annotations

import codecs

from evenhand.errors import Location, Problem, SuiteError

_OTHER_MARKS = {codecs.BOM_UTF16_LE: "UTF-16", codecs.BOM_UTF16_BE: "UTF-16"}


def decode_text(data: bytes, file: str) -> str:
    """The text of UTF-8 bytes without their byte order mark. Raises `SuiteError` with the place of a bad byte."""
    for mark, name in _OTHER_MARKS.items():
        if data.startswith(mark):
            problem = Problem(f"the file is {name}", hint="save it as UTF-8", location=Location(file, 1, 1))
            raise SuiteError([problem])
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        found = f"the file is not UTF-8, found byte 0x{data[error.start]:02x}"
        place = _place(data, error.start, file)
        raise SuiteError([Problem(found, hint="save it as UTF-8", location=place)]) from None


def _place(data: bytes, offset: int, file: str) -> Location:
    before = data[:offset].decode(errors="replace")
    return Location(file, before.count("\n") + 1, offset_in_line(before) + 1)


def offset_in_line(before: str) -> int:
    """How many characters stand before the end of `before` on its last line."""
    return len(before) - (before.rfind("\n") + 1)
