from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest

from evenhand.errors import ErrorClass, ProviderError
from evenhand.io.images import MAX_IMAGE_BYTES, Images, image_block, media_type_of
from evenhand.model.exchange import Message, Request
from support.images import OF_TYPE, PNG
from support.programs import request

TEXT = {"type": "text", "text": "look"}


def asked(*blocks: dict[str, str]) -> Request:
    return request(
        None,
        transcript=(Message(role="system", content="be brief"), Message(role="user", content=list(blocks))),
    )


def failure(folder: Path, block: dict[str, str]) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        Images(folder).filled(asked(block))
    return caught.value


@pytest.mark.parametrize(("media_type", "data"), OF_TYPE.items())
def test_the_media_type_is_told_by_the_content(media_type: str, data: bytes) -> None:
    assert media_type_of(data) == media_type
    assert media_type_of(data[:4]) is None or media_type == "image/jpeg"


@pytest.mark.parametrize("data", [b"", b"<svg/>", b"%PDF-1.7", b"RIFF\x24\0\0\0WAVEfmt ", b"BM", b" " + PNG])
def test_what_is_no_image_has_no_media_type(data: bytes) -> None:
    assert media_type_of(data) is None


def test_a_filled_question_holds_the_bytes_and_the_one_that_was_asked_does_not(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PNG)
    block = image_block("a.png", PNG, "image/png")
    before = asked(TEXT, block)
    filled = Images(tmp_path).filled(before)
    assert filled.transcript is not None
    assert filled.transcript[1].content == [TEXT, {**block, "data": base64.b64encode(PNG).decode()}]
    assert filled.transcript[0] == before.messages[0]
    assert before.messages[1].content == [TEXT, block]


def test_a_question_without_images_is_passed_on_as_it_is(tmp_path: Path) -> None:
    for question in (request("x"), request(None), asked(TEXT)):
        assert Images(tmp_path).filled(question) is question


def test_an_image_that_changed_or_went_away_since_the_suite_was_loaded_is_not_sent(tmp_path: Path) -> None:
    block = image_block("a.png", PNG, "image/png")
    gone = failure(tmp_path, block)
    assert (gone.message, gone.error_class) == (
        "image 'a.png' cannot be read: no such file or directory",
        ErrorClass.PROVIDER_REQUEST,
    )
    (tmp_path / "a.png").write_bytes(PNG + b"!")
    assert failure(tmp_path, block).message == "image 'a.png' changed since the suite was loaded; run again"
    (tmp_path / "a.png").write_bytes(b"\0" * (MAX_IMAGE_BYTES + 2))
    assert "changed" in failure(tmp_path, block).message


def test_a_fifo_in_the_place_of_an_image_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.png")
    assert "not a regular file" in failure(tmp_path, image_block("a.png", PNG, "image/png")).message
