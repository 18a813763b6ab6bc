from __future__ import annotations

import pytest

from evenhand.text.surrogates import is_encodable


@pytest.mark.parametrize("text", ["", "plain", "é\u4e2d\U0001f600", "\x00\ufffd"])
def test_text_without_halves_of_characters_can_be_encoded(text: str) -> None:
    assert is_encodable(text)


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\ud83d\ude00"])
def test_a_surrogate_alone_or_beside_another_cannot_be_encoded(text: str) -> None:
    assert not is_encodable(text)
