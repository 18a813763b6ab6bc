"""The process in which Python checks run.

Run as a program: `python python_worker.py <folder of evenhand> <file number of the channel>`. Files are loaded once,
with their folder on the import path. Each answer is sent before the next check starts, so that the parent knows which
one hangs.
"""

from __future__ import annotations

import sys

if __name__ == "__main__":
    # The folder of this file would let its neighbours be imported by their bare names.
    sys.path[0:1] = [""]
    sys.path.append(sys.argv[1])

import asyncio
import contextlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evenhand.scripts.channel import Channel
from evenhand.scripts.python_checks import CannotCheck, call_check, load_file, load_inline, read_given, thrown
from evenhand.scripts.python_memory import memory_limited

Check = Callable[..., Any]
MAX_CONSOLE = 65_536


class Worker:
    """Answers batches of checks, one after the other."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._checks: dict[int, Check | CannotCheck] = {}
        self._loop = asyncio.new_event_loop()

    def serve(self) -> None:
        """Answer until the other side hangs up."""
        while (batch := self._channel.receive()) is not None:
            rows = batch["scripts"]
            for number, (key, config, _, index) in enumerate(rows):
                answer = self._evaluate(batch, key, config)
                self._channel.add(index, json.dumps(answer, ensure_ascii=True))
                self._channel.send(done=number == len(rows) - 1)

    def _evaluate(self, batch: dict[str, Any], key: int, config: str) -> dict[str, Any]:
        console = io.StringIO()
        try:
            with contextlib.redirect_stdout(console), contextlib.redirect_stderr(console):
                answer = self._judged(batch, key, config)
        except MemoryError:
            answer = {"memory": True}
        except KeyboardInterrupt as error:  # raised by the check: no key reaches this process
            answer = {"threw": thrown(error)}
        printed = console.getvalue()
        lines = printed[:MAX_CONSOLE].splitlines()
        if len(printed) > MAX_CONSOLE:
            lines.append("(more output was left out)")
        return {**answer, "console": lines} if lines else answer

    def _judged(self, batch: dict[str, Any], key: int, config: str) -> dict[str, Any]:
        purpose = batch["purpose"]
        check = self._check(key, batch["sources"].get(key), purpose)
        if isinstance(check, CannotCheck):
            return check.answer
        if batch["dry"]:
            return {"returned": True}
        output = batch["output"] if batch["output_is_text"] else read_given(batch["output"])
        context = read_given(batch["context"]) if batch["context"] else {}
        if config:
            context["config"] = read_given(config)
        size = len(batch["output"]) + len(batch["context"])
        with memory_limited(16 * size):
            return call_check(check, output, context, self._loop, purpose)

    def _check(self, key: int, source: Any, purpose: str) -> Check | CannotCheck:
        found = self._checks.get(key)
        if found is None:
            try:
                found = (
                    load_inline(source)
                    if isinstance(source, str)
                    else load_file(Path(source["file"]), source["name"], purpose)
                )
            except CannotCheck as problem:
                found = problem
            self._checks[key] = found
        return found


def main() -> None:
    """Serve the channel whose file number is the last argument."""
    channel = Channel(int(sys.argv[-1]))
    worker = Worker(channel)
    channel.ready()
    worker.serve()


if __name__ == "__main__":
    main()
