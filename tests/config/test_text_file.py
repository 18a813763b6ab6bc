"""Files are UTF-8; whatever else they are is said with its place."""

from __future__ import annotations

import pytest

from evenhand.config.text_file import decode_text
from evenhand.errors import SuiteError


def refused(data: bytes) -> str:
    with pytest.raises(SuiteError) as caught:
        decode_text(data, "f.yaml")
    return str(caught.value)


def test_byte_order_mark_is_dropped() -> None:
    assert decode_text(b"\xef\xbb\xbfa: \xc3\xa9", "f.yaml") == "a: é"


def test_bad_byte_is_named_with_line_and_column() -> None:
    assert (
        refused(b"a\n\xc3\xa9b\xff") == "f.yaml:2:3: the file is not UTF-8, found byte 0xff; save it as UTF-8"
    )


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_named(encoding: str) -> None:
    assert "the file is UTF-16; save it as UTF-8" in refused("\ufeffa: 1".encode(encoding))
