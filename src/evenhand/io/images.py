"""Images inside turns: how one is recognised, and its bytes for a provider that takes them.

Where a question is rendered, stored or compared, an image block names the file, its media type and its digest. The
bytes are read when the question is put, so that no run holds or stores them.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import os
import stat
from pathlib import Path
from typing import Any

from msgspec import structs

from evenhand.errors import ErrorClass, ProviderError
from evenhand.model.exchange import Message, Request

MAX_IMAGE_BYTES = 20 * 1024 * 1024
"""Bytes that an image may have; no vendor takes larger ones."""

_KEPT_IMAGES = 8
"""Encoded images that a session keeps for the questions that follow."""

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def media_type_of(data: bytes) -> str | None:
    """The media type of an image from its first bytes, or None where it is none of PNG, JPEG, GIF and WebP.

    The signatures are those of https://mimesniff.spec.whatwg.org/#image-type-pattern-matching-algorithm.
    """
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data[:4] == b"RIFF" and data[8:14] == b"WEBPVP":
        return "image/webp"
    return None


def image_block(file: str, data: bytes, media_type: str) -> dict[str, str]:
    """An image as a content block: its file relative to the suite's folder, its media type and its sha256."""
    digest = hashlib.sha256(data).hexdigest()
    return {"type": "image", "file": file, "media_type": media_type, "sha256": digest}


class Images:
    """The images of one suite's questions, read as they are needed."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._encoded = functools.lru_cache(maxsize=_KEPT_IMAGES)(self._read)

    def filled(self, request: Request) -> Request:
        """The question with `data`, the bytes in base64, in each image block.

        Raises `ProviderError` where an image is not what it was when the suite was loaded.
        """
        if request.transcript is None or not any(map(_has_image, request.transcript)):
            return request
        return structs.replace(request, transcript=tuple(map(self._filled, request.transcript)))

    def named(self, request: Request) -> Request:
        """The question with the digests of images as their `data`: as good as the bytes for telling questions apart."""
        if request.transcript is None or not any(map(_has_image, request.transcript)):
            return request
        return structs.replace(request, transcript=tuple(map(_named, request.transcript)))

    def _filled(self, message: Message) -> Message:
        if not _has_image(message):
            return message
        blocks = [
            {**block, "data": self._encoded(block["file"], block["sha256"])} if is_image(block) else block
            for block in message.content
        ]
        return structs.replace(message, content=blocks)

    def _read(self, file: str, sha256: str) -> str:
        try:
            data = _bytes_of(self._directory / file)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise _unusable(f"image {file!r} cannot be read: {reason}") from None
        if hashlib.sha256(data).hexdigest() != sha256:
            raise _unusable(f"image {file!r} changed since the suite was loaded; run again")
        return base64.b64encode(data).decode("ascii")


def _named(message: Message) -> Message:
    if not _has_image(message):
        return message
    blocks = [{**b, "data": f"sha256:{b['sha256']}"} if is_image(b) else b for b in message.content]
    return structs.replace(message, content=blocks)


def is_image(block: Any) -> bool:
    """Whether a content block is an image."""
    return isinstance(block, dict) and block.get("type") == "image"


def _has_image(message: Message) -> bool:
    return isinstance(message.content, list) and any(map(is_image, message.content))


def _bytes_of(path: Path) -> bytes:
    descriptor = os.open(path, _FLAGS)
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("not a regular file")
        return stream.read(MAX_IMAGE_BYTES + 1)


def _unusable(message: str) -> ProviderError:
    return ProviderError(message, ErrorClass.PROVIDER_REQUEST)
