"""The workers' end of the channel to their pool: see `worker` for the other one and for the format."""

from __future__ import annotations

import marshal
import os
import select
import threading
import time
from typing import Any

FLUSH_AFTER_S = 0.05
"""How long finished answers may wait for a script that takes its time."""


class Channel:
    """Reads batches and sends answers, each a text of JSON."""

    def __init__(self, number: int) -> None:
        self._number = number
        # Not `select`, which takes no number above 1,023: this one is that of the parent.
        self._poll = select.poll()
        self._poll.register(number, select.POLLIN)
        self._waiting: list[str] = []
        self._lock = threading.Lock()
        self._busy = threading.Event()
        threading.Thread(target=self._flush_slow, daemon=True).start()

    def is_idle(self) -> bool:
        """Whether no batch waits, so that there is time to prepare for the next one."""
        return not self._poll.poll(0)

    def receive(self) -> dict[str, Any] | None:
        """The next batch; None where the other side hung up."""
        head = self._exactly(4)
        if head is None:
            return None
        body = self._exactly(int.from_bytes(head, "big"))
        return None if body is None else dict(marshal.loads(body))  # noqa: S302  (the parent is trusted)

    def begin(self) -> None:
        """Scripts of the embedded engine begin to run."""
        self._busy.set()

    def add(self, index: int, answer: str) -> None:
        """Keep an answer until the batch is done."""
        with self._lock:
            self._waiting.append(f"[{index},{answer}]")

    def finish(self) -> None:
        """Send what is kept; the batch is done."""
        self._busy.clear()
        self.send(done=True)

    def ready(self) -> None:
        """Say that questions can come."""
        self._write(b'{"ready":true}')

    def _flush_slow(self) -> None:
        while True:
            self._busy.wait()
            time.sleep(FLUSH_AFTER_S)
            if self._busy.is_set() and self._waiting:
                self.send(done=False)

    def send(self, *, done: bool) -> None:
        """Send the answers that are kept; `done` where they are the last ones of their batch."""
        with self._lock:
            text = '{"results":[' + ",".join(self._waiting) + '],"done":' + ("true}" if done else "false}")
            self._waiting.clear()
            self._write(text.encode("utf-8", "surrogatepass"))

    def _write(self, data: bytes) -> None:
        view = memoryview(len(data).to_bytes(4, "big") + data)
        while view:
            view = view[os.write(self._number, view) :]

    def _exactly(self, count: int) -> bytes | None:
        data = os.read(self._number, count)
        if len(data) == count or not data:
            return data or None
        pieces, missing = [data], count - len(data)
        while missing:
            data = os.read(self._number, min(missing, 1 << 20))
            if not data:
                return None
            pieces.append(data)
            missing -= len(data)
        return b"".join(pieces)
