"""Bytes that begin as images of each type do."""

from __future__ import annotations

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
JPEG = b"\xff\xd8\xff\xe0\0\x10JFIF"
GIF = b"GIF89a\1\0\1\0"
WEBP = b"RIFF\x24\0\0\0WEBPVP8 "

OF_TYPE = {"image/png": PNG, "image/jpeg": JPEG, "image/gif": GIF, "image/webp": WEBP}
