"""The process in which inline JavaScript runs, in an embedded engine without file system, network or modules.

Run as a program: `python quickjs_worker.py <folder of evenhand> <folder of the engine> <file number of the channel>`.
It imports as little as possible, so that the first evaluation does not wait for it. Each script runs in a realm of
frozen built-in objects that is looked through after every evaluation, or, where its source could tell the difference,
in a realm of its own.
"""

from __future__ import annotations

import json
import os
import sys
import time
from types import ModuleType
from typing import Any

if __name__ == "__main__":
    sys.path[:0] = sys.argv[1:-1]

from evenhand.scripts.channel import Channel

MEMORY_LIMIT = 64 * 1024 * 1024
"""Bytes that a realm may hold beside what it is given."""
STACK_LIMIT = 512 * 1024
MAX_FUNCTIONS = 2_000
"""Compiled scripts that are kept; beyond that all are forgotten and compiled again when they come by."""
MAX_EVALUATIONS = 2_000
"""Evaluations after which a shared realm is given up, whatever its state."""

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "javascript")  # noqa: PTH100, PTH118, PTH120


def _source(name: str) -> str:
    with open(os.path.join(SCRIPTS, name), encoding="utf-8") as file:  # noqa: PTH118, PTH123
        return file.read()


class Realm:
    """One global object with its built-ins. `harden` makes it fit for many scripts."""

    def __init__(self, context_class: Any, sources: dict[str, str], *, harden: bool, extras: bool) -> None:
        self.context = context_class()
        self.context.set_max_stack_size(STACK_LIMIT)
        self.context.set_memory_limit(MEMORY_LIMIT)
        make = self.context.eval(sources["realm.js"])
        values = self.context.eval(sources["values.js"])
        freezing = self.context.eval(sources["harden.js"]) if harden else None
        door = make(values, freezing, self.context.eval(sources["extras.js"]) if extras else None)
        self.run = door("run")
        self.poll = door("poll")
        self.define = door("define")
        self.is_clean = door("isClean")
        self.until_timer = door("untilTimer")
        self.fire_timer = door("fireTimer")
        self.has_lines = door("hasLines")
        self.take_lines = door("takeLines")
        self.known: set[int] = set()
        self.count = 0


class Worker:
    """Answers batches of scripts, one after the other."""

    def __init__(self, engine: ModuleType, channel: Channel) -> None:
        self._context_class = engine.Context
        self._js_exception: tuple[type[Exception], ...] = (engine.JSException, engine.StackOverflow)
        self._refusals: tuple[type[Exception], ...] = (*self._js_exception, UnicodeError)
        self._channel = channel
        self._sources = {
            name: _source(name)
            for name in ("values.js", "source.js", "realm.js", "harden.js", "extras.js", "compiler.js")
        }
        self._compiler: Any = None
        self._compiled_count = 0
        self._bodies: dict[int, tuple[str, bool, bool]] = {}
        self._failed: dict[int, str] = {}
        self._shared: dict[bool, Realm] = {}
        self._spare: Realm | None = None
        """A realm for one script, made while there was nothing else to do."""
        self._uses_spare = False

    def serve(self) -> None:
        """Answer until the other side hangs up."""
        while True:
            if self._uses_spare and self._spare is None and self._channel.is_idle():
                self._spare = Realm(self._context_class, self._sources, harden=False, extras=False)
            self._uses_spare = False
            batch = self._channel.receive()
            if batch is None:
                return
            self._answer(batch)

    def _answer(self, batch: dict[str, Any]) -> None:
        channel = self._channel
        for key, source in batch["sources"].items():
            self._take(key, source, batch["purpose"])
        if batch["dry"]:
            for key, _, _, index in batch["scripts"]:
                channel.add(index, self._failed.get(key, '{"returned":true}'))
            channel.finish()
            return
        channel.begin()
        for key, config, config_specials, index in batch["scripts"]:
            channel.add(index, self._evaluate(batch, (key, config, config_specials)))
        channel.finish()

    def _take(self, key: int, source: str, purpose: str) -> None:
        if len(self._bodies) + len(self._failed) >= MAX_FUNCTIONS:
            self._bodies.clear()
            self._failed.clear()
            self._shared.clear()
        answer = self._compile(source, purpose)
        found = json.loads(answer)
        if "error" in found:
            self._failed[key] = '{"uncompiled":' + answer + "}"
        elif found["lacks"]:
            self._failed[key] = '{"lacks":"' + found["lacks"] + '"}'
        else:
            self._bodies[key] = found["body"], found["fresh"], found["extras"]

    def _compile(self, source: str, purpose: str) -> str:
        if self._compiler is None or self._compiled_count >= 500:
            context = self._context_class()
            context.set_max_stack_size(STACK_LIMIT)
            context.set_memory_limit(MEMORY_LIMIT * 4)
            body_of = context.eval(self._sources["source.js"])
            self._compiler = context.eval(self._sources["compiler.js"])(body_of)
            self._compiled_count = 0
        self._compiled_count += 1
        try:
            return str(self._compiler(source, purpose))
        except self._refusals as error:
            self._compiler = None
            return json.dumps({"error": str(error).split("\n")[0], "line": 0, "column": 0})

    def _evaluate(self, batch: dict[str, Any], script: tuple[int, str, str]) -> str:
        key, config, config_specials = script
        failed = self._failed.get(key)
        if failed is not None:
            return failed
        found = self._bodies.get(key)
        if found is None:
            return '{"unknown":true}'
        body, fresh, extras = found
        realm = self._taken_spare() if fresh and not extras else None if fresh else self._shared.get(extras)
        if realm is None or realm.count >= MAX_EVALUATIONS:
            realm = Realm(self._context_class, self._sources, harden=not fresh, extras=extras)
            if not fresh:
                self._shared[extras] = realm
        realm.count += 1
        output, context = batch["output"], batch["context"]
        size = len(output) + len(context)
        if size > 1_000_000:
            realm.context.set_memory_limit(MEMORY_LIMIT + 16 * size)
        try:
            if key not in realm.known:
                realm.define(key, body)
                realm.known.add(key)
            answer = str(
                realm.run(
                    key,
                    output,
                    batch["output_is_text"],
                    batch["output_specials"],
                    context,
                    batch["context_specials"],
                    config,
                    config_specials,
                    batch["purpose"],
                )
            )
            if answer == "P":
                answer, is_tidy = self._settle(realm)
            else:
                is_tidy = not self._step(realm)
            lines = realm.take_lines() if realm.has_lines() else ""
            if not fresh and (size > 1_000_000 or not is_tidy or not realm.is_clean()):
                self._shared.pop(extras, None)
        except self._js_exception as error:
            if not fresh:
                self._shared.pop(extras, None)
            return self._broken(str(error))
        return _reply(answer, lines)

    def _taken_spare(self) -> Realm | None:
        spare, self._spare = self._spare, None
        self._uses_spare = True
        return spare

    def _settle(self, realm: Realm) -> tuple[str, bool]:
        """The answer of a script that waits for something, and whether it left nothing behind."""
        while True:
            while self._step(realm):
                answer = str(realm.poll())
                if answer:
                    return answer, not self._step(realm)
            answer = str(realm.poll())
            if answer:
                return answer, True
            wait_ms = realm.until_timer()
            if wait_ms < 0:
                return "N", False
            if wait_ms:
                time.sleep(wait_ms / 1_000)
            realm.fire_timer()

    def _step(self, realm: Realm) -> bool:
        """Whether something was waiting to go on, which it has done now."""
        try:
            return bool(realm.context.execute_pending_job())
        except self._js_exception:
            return True  # thrown by a callback that nothing waits for

    def _broken(self, message: str) -> str:
        if "out of memory" in message:
            return '{"memory":true}'
        return json.dumps({"broken": message[:2_000]})


def _reply(answer: str, lines: str) -> str:
    letter, text = answer[:1], answer[1:]
    console = f',"console":{lines}' if lines else ""
    if letter == "R":
        return '{"returned":' + text + console + "}"
    if letter == "V":
        return '{"value":' + text + console + "}"
    if letter == "U":
        return '{"unfit":' + text + console + "}"
    if letter == "T":
        if '"message":"out of memory"' in text and '"name":"InternalError"' in text:
            return '{"memory":true' + console + "}"
        return '{"threw":' + text + console + "}"
    if letter == "L":
        return '{"lacks":"' + text + '"' + console + "}"
    if letter == "B":
        return '{"too_large":true' + console + "}"
    return '{"unsettled":true' + console + "}"


def main() -> None:
    """Serve the channel whose file number is the last argument."""
    import _quickjs  # (the engine's own module: its package starts a thread)

    channel = Channel(int(sys.argv[-1]))
    worker = Worker(_quickjs, channel)
    channel.ready()
    worker.serve()


if __name__ == "__main__":
    main()
