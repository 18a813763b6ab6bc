"""Python checks in the process of the run, for suites that ask for it: nothing can stop them there."""

from __future__ import annotations

import asyncio
import copy
import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from evenhand.io.given_functions import function_of, is_reference
from evenhand.scripts.batch import Answer, Given, Purpose, Script
from evenhand.scripts.python_checks import (
    CannotCheck,
    Check,
    call_check,
    load_file,
    load_inline,
    read_given,
)


def is_given(script: Script) -> bool:
    """Whether a script is a function that a caller of the library handed over."""
    return isinstance(script.source, str) and is_reference(script.source)


def _loaded(source: Any, purpose: Purpose) -> Check:
    if not isinstance(source, str):
        return load_file(Path(source["file"]), source["name"], purpose)
    return given_check(source) if is_reference(source) else load_inline(source)


def given_check(reference: str) -> Check:
    """A function of the caller as a check: it may leave the context out. Raises `CannotCheck`."""
    function = function_of(reference)
    if function is None:
        raise CannotCheck({"broken": f"no function was handed over as {reference!r}; give it in Python"})
    return function if _takes_context(function) else lambda output, _: function(output)


def _takes_context(function: Check) -> bool:
    """Whether a function has a second place for the context: one without a default, or of that name."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except ValueError:  # a built-in without a signature
        return False
    if any(each.kind is each.VAR_POSITIONAL for each in parameters[:2]):
        return True
    places = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    return len(places) > 1 and (places[1].default is places[1].empty or places[1].name == "context")


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
        about = read_given(context.text) if context.text else {}
        if script.config.text:
            about["config"] = read_given(script.config.text)
        # A function of the caller gets the output as text, whatever it was.
        as_text = output.is_text or is_given(script)
        value = output.text if as_text else read_given(output.text)
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
                found = _loaded(source, purpose)
            except CannotCheck as problem:
                found = problem
            self._checks[script.key] = found
        return found
