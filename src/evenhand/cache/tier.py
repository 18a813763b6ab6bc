"""Shared storage behind the local store: what one must do, and the keeping away from one that fails."""

from __future__ import annotations

from typing import Protocol


class TierUnavailable(Exception):
    """A shared storage that cannot be reached or refuses; the message says why."""


class Tier(Protocol):
    """Bytes by key, somewhere else."""

    @property
    def name(self) -> str:
        """What messages call it."""
        ...

    async def get(self, key: str) -> bytes | None:
        """What lies under a key, at most `MAX_ENTRY_BYTES`; None for nothing. Raises `TierUnavailable`."""
        ...

    async def has(self, key: str) -> bool:
        """Whether something lies under a key. Raises `TierUnavailable`."""
        ...

    async def put(self, key: str, body: bytes) -> None:
        """Lay something down, unless something lies there. Raises `TierUnavailable`."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
