"""Python checks in the process of the run, for suites that ask for it: nothing can stop them there."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from evenhand.scripts.batch import Answer, Given, Purpose, Script
from evenhand.scripts.python_checks import CannotCheck, Check, call_check, load_file, load_inline


class InProcess:
    """Answers batches in threads of this process, one check after the other; a late check is given up, not ended."""

    def __init__(self) -> None:
        self._checks: dict[int, Check | CannotCheck] = {}

    async def evaluate(
        self,
        scripts: Sequence[Script],
        output: Given,
        context: Given,
        *,
        purpose: Purpose = "verdict",
        dry: bool = False,
    ) -> list[Answer]:
        """The answers to checks over one answer of a system under test, in their order; `dry` only loads them."""
        return [await self._answer(script, output, context, purpose, dry) for script in scripts]

    async def close(self) -> None:
        """Forget the checks."""
        self._checks.clear()

    async def _answer(
        self, script: Script, output: Given, context: Given, purpose: Purpose, dry: bool
    ) -> Answer:
        call = asyncio.to_thread(self._call, script, output, context, purpose, dry)
        try:
            answer = await asyncio.wait_for(call, script.timeout_ms / 1_000)
        except TimeoutError:
            return Answer(timed_out=True)
        return msgspec.convert(answer, Answer)

    def _call(
        self, script: Script, output: Given, context: Given, purpose: Purpose, dry: bool
    ) -> dict[str, Any]:
        check = self._check(script, purpose)
        if isinstance(check, CannotCheck):
            return copy.deepcopy(check.answer)
        if dry:
            return {"returned": True}
        about = json.loads(context.text) if context.text else {}
        if script.config.text:
            about["config"] = json.loads(script.config.text)
        value = output.text if output.is_text else json.loads(output.text)
        loop = asyncio.new_event_loop()
        try:
            return call_check(check, value, about, loop, purpose)
        finally:
            loop.close()

    def _check(self, script: Script, purpose: Purpose) -> Check | CannotCheck:
        found = self._checks.get(script.key)
        if found is None:
            source = script.source
            try:
                found = (
                    load_inline(source)
                    if isinstance(source, str)
                    else load_file(Path(source["file"]), source["name"], purpose)
                )
            except CannotCheck as problem:
                found = problem
            self._checks[script.key] = found
        return found
