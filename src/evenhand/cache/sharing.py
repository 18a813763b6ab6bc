"""Reads from and writes to a shared storage without ever holding up the run for long."""

from __future__ import annotations

import asyncio
import logging

from evenhand.cache.tier import Tier, TierUnavailable

log = logging.getLogger("evenhand")

TIME_S = 10.0
"""Seconds for one read or write."""
UPLOADS = 8
"""Writes at once."""
MAX_WAITING = 1_000
MAX_WAITING_BYTES = 128 << 20
"""Answers, and their bytes, that may wait to be shared; further ones stay on this machine."""
CLOSE_S = 10.0
"""Seconds that the end of a run waits for writes."""


class Sharing:
    """A shared storage in use. A read or write that fails ends its use for the run, with one warning."""

    def __init__(self, tier: Tier, *, read_only: bool = False) -> None:
        self._tier = tier
        self._reads = True
        self._writes = not read_only
        self._tasks: set[asyncio.Task[None]] = set()
        self._bytes = 0
        self._turn = asyncio.Semaphore(UPLOADS)

    @property
    def name(self) -> str:
        """What messages call the storage."""
        return self._tier.name

    async def get(self, key: str) -> bytes | None:
        """What lies under a key, or None, also where the storage cannot be reached."""
        if not self._reads:
            return None
        try:
            async with asyncio.timeout(TIME_S):
                return await self._tier.get(key)
        except TimeoutError:
            self._give_up(f"no answer within {TIME_S:g} s")
        except TierUnavailable as error:
            self._give_up(str(error))
        return None

    def put(self, key: str, body: bytes) -> None:
        """Lay an answer down in the background."""
        if not self._writes:
            return
        if len(self._tasks) >= MAX_WAITING or self._bytes + len(body) > MAX_WAITING_BYTES:
            log.info("an answer stays on this machine: %s is too slow", self.name)
            return
        self._bytes += len(body)
        task = asyncio.get_running_loop().create_task(self._upload(key, body))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Wait a while for what is being written, and let go of connections."""
        try:
            if self._tasks:
                _, late = await asyncio.wait(self._tasks, timeout=CLOSE_S)
                for task in late:
                    task.cancel()
                if late:
                    log.warning("%d answers were not shared in time with %s", len(late), self.name)
        finally:
            await self._tier.close()

    async def _upload(self, key: str, body: bytes) -> None:
        try:
            async with self._turn:
                if not self._writes:
                    return
                async with asyncio.timeout(TIME_S):
                    await self._tier.put(key, body)
        except TimeoutError:
            self._stop_writing(f"no answer within {TIME_S:g} s")
        except TierUnavailable as error:
            self._stop_writing(str(error))
        finally:
            self._bytes -= len(body)

    def _give_up(self, why: str) -> None:
        if self._reads:
            log.warning("%s is not used any more in this run: %s", self.name, why)
        self._reads = self._writes = False

    def _stop_writing(self, why: str) -> None:
        if self._writes and self._reads:
            log.warning("answers are not shared any more in this run with %s: %s", self.name, why)
        self._writes = False
