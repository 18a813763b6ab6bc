"""Scripts of a suite, looked at before anything is run: files that are missing, code that does not compile."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from evenhand.config.files import Files
from evenhand.config.findings import Place
from evenhand.config.sandbox_rules import code_refusal
from evenhand.errors import Location, Problem
from evenhand.model.confinement import Confinement
from evenhand.scripts.assertion import ScriptAssertion
from evenhand.scripts.batch import Answer, Uncompiled
from evenhand.scripts.transform import TransformScript

Code = ScriptAssertion | TransformScript


_FILE_NAME = re.compile(r"((?:[\w-]+/)*[\w.-]+\.(?:js|cjs|mjs|ts|py))(?::\w+)?")


class ScriptChecks:
    """Collects the scripts of a suite, each once, and asks their engines whether they can run."""

    def __init__(self, files: Files, confinement: Confinement) -> None:
        self._files = files
        self._confinement = confinement
        self._seen: dict[tuple[type, str, str], tuple[Code, Place]] = {}

    def add(self, code: Code, place: Place) -> None:
        """Take in the code that stands at a place; a file that is not there is reported at once."""
        refusal = code_refusal(code, self._confinement)
        if refusal is not None:
            place.add(refusal)
            return
        key = type(code), code.engine_name, code.value
        if key in self._seen:
            return
        reference = code.reference
        if reference is None and self._is_file_name(code.value):
            place.warn("the code is the name of a file", f"write `file://{code.value.strip()}`")
        if reference is not None and self._files.script(reference.path, place) is None:
            return
        self._seen[key] = code, place

    def _is_file_name(self, code: str) -> bool:
        """Whether inline code names a file of the suite's folder: nobody means that as code."""
        name = _FILE_NAME.fullmatch(code.strip())
        return name is not None and (self._confinement.directory / name[1]).is_file()

    def report(self) -> None:
        """Report every script that cannot run. Nothing is started where there are none."""
        if not self._seen:
            return
        entries = list(self._seen.values())
        answers = _finished(self._load([code for code, _ in entries]))
        for (code, place), answer in zip(entries, answers, strict=True):
            problem = _problem(code, answer, place)
            if problem is not None:
                place.add(problem)

    async def _load(self, codes: list[Code]) -> list[Answer]:
        from evenhand.scripts.judge import ScriptJudge

        judge = ScriptJudge(self._confinement.directory, size=1, confinement=self._confinement)
        try:
            return await judge.load(codes)
        finally:
            await judge.close()


def _problem(code: Code, answer: Answer, place: Place) -> Problem | None:
    if answer.uncompiled is not None:
        wrong = answer.uncompiled
        at = f" in line {wrong.line} of the code" if wrong.line and "\n" in code.value.strip() else ""
        return Problem(
            f"the code does not compile{at}: {wrong.error}",
            location=_location_in(code.value, wrong, place.location),
        )
    if answer.lacks:
        message = f"the code uses `{answer.lacks}`, which the embedded engine does not have"
        return Problem(message, hint=code.remedy)
    if answer.timed_out:
        return Problem("the script took too long to load")
    return Problem(answer.broken) if answer.broken else None


def _location_in(code: str, wrong: Uncompiled, start: Location) -> Location | None:
    """The place of an error in the file that the code stands in, where its line can be found there."""
    lines = code.splitlines()
    if not wrong.line or wrong.line > len(lines):
        return None
    text = lines[wrong.line - 1]
    try:
        written = Path(start.file).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    for number in range(start.line + wrong.line - 1, start.line + wrong.line + 1):
        found = written[number - 1].find(text) if text.strip() and number <= len(written) else -1
        if found >= 0 and (number > start.line or found >= start.column - 1):
            return Location(start.file, number, found + max(wrong.column, 1))
    return None


def _finished(work: Coroutine[Any, Any, list[Answer]]) -> list[Answer]:
    """The result of asynchronous work, wherever this is called: a loop may run in this thread already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    found: list[list[Answer]] = []
    thread = threading.Thread(target=lambda: found.append(asyncio.run(work)), name="evenhand-scripts")
    thread.start()
    thread.join()
    return found[0]
