"""sha256 over what a suite asks, part by part, so that two runs can tell whether they asked the same."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from evenhand.template import authored

_encoder = msgspec.json.Encoder(order="deterministic", enc_hook=authored)


def canonical(value: Any) -> bytes:
    """A value as JSON whose keys are sorted; values with templates as they were written."""
    return _encoder.encode(value)


class PartDigest:
    """A digest that grows with each value."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, name: bytes, data: bytes) -> None:
        """Take in one more named value; the lengths are part of the digest, so that neighbours do not blur."""
        self._hash.update(b"%d:%d:%b%b" % (len(name), len(data), name, data))

    def hexdigest(self) -> str:
        """64 hex digits."""
        return self._hash.hexdigest()


def digest_of(*values: Any) -> str:
    """The digest of some values."""
    digest = PartDigest()
    for value in values:
        digest.add(b"", canonical(value))
    return digest.hexdigest()
