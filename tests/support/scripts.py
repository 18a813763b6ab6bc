"""Script assertions judged in tests as a run does it, with workers that all tests of a process share."""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

from evenhand.model.assertion import Assertion
from evenhand.model.evidence import Evidence
from evenhand.model.outcome import Outcome
from evenhand.model.transform import Transform, TransformFailed, transform_of
from evenhand.scripts.assertion import ScriptAssertion
from evenhand.scripts.batch import Answer
from evenhand.scripts.judge import ScriptJudge
from evenhand.scripts.transform import TransformScript

T = TypeVar("T")

GUARD_S = 120.0
HERE = Path.cwd()


class SharedLoop:
    """An event loop in a thread of its own, so that workers outlive the test that started them."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True, name="script-tests")
        self._thread.start()
        self._judges: dict[tuple[Path, bool], ScriptJudge] = {}
        atexit.register(self.close)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of asynchronous work."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(GUARD_S)

    def judge(self, directory: Path, *, safe_mode: bool = False) -> ScriptJudge:
        """The engines of one folder."""
        key = directory, safe_mode
        if key not in self._judges:
            self._judges[key] = ScriptJudge(directory, size=2, safe_mode=safe_mode)
        return self._judges[key]

    def close(self) -> None:
        """End all workers."""
        for judge in self._judges.values():
            self.run(judge.close())
        self._judges.clear()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()


_shared: list[SharedLoop] = []


def shared() -> SharedLoop:
    """The loop of this process."""
    if not _shared:
        _shared.append(SharedLoop())
    return _shared[0]


def judged_scripts(
    assertions: Sequence[Assertion], seen: Evidence, directory: Path = HERE, *, safe_mode: bool = False
) -> list[Outcome]:
    """The outcomes of script assertions over one answer, evaluated in one batch."""
    return shared().run(shared().judge(directory, safe_mode=safe_mode).judge(assertions, seen))


def judged_script(assertion: Assertion, seen: Evidence, directory: Path = HERE) -> Outcome:
    """The outcome of one script assertion."""
    return judged_scripts([assertion], seen, directory)[0]


def loaded(assertion: Assertion, directory: Path = HERE) -> Answer:
    """Whether a script can run, without running it."""
    assert isinstance(assertion, ScriptAssertion)
    return shared().run(shared().judge(directory).load([assertion]))[0]


def loaded_transform(transform: str | Transform, directory: Path = HERE) -> Answer:
    """Whether a transform can run, without running it."""
    code = TransformScript(transform_of(transform))
    return shared().run(shared().judge(directory).load([code]))[0]


def changed(
    transforms: Sequence[Transform], seen: Evidence, directory: Path = HERE, *, safe_mode: bool = False
) -> list[object | TransformFailed]:
    """What transforms that are scripts make of one output."""
    return shared().run(shared().judge(directory, safe_mode=safe_mode).transform(transforms, seen))
