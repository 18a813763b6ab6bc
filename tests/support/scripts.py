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
from evenhand.model.outcome import Outcome, errored
from evenhand.model.transform import Transform, WrittenTransform, transform_of
from evenhand.run.evaluate import evaluate_case
from evenhand.run.transform import Untransformed, transformed
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
        self._judges: dict[Path, ScriptJudge] = {}
        atexit.register(self.close)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of asynchronous work."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(GUARD_S)

    def judge(self, directory: Path) -> ScriptJudge:
        """The engines of one folder."""
        if directory not in self._judges:
            self._judges[directory] = ScriptJudge(directory, size=2)
        return self._judges[directory]

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


def judged_scripts(assertions: Sequence[Assertion], seen: Evidence, directory: Path = HERE) -> list[Outcome]:
    """The outcomes of script assertions over one answer, evaluated in one batch."""
    return shared().run(shared().judge(directory).judge(assertions, seen))


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


def judged_case(
    assertions: Sequence[Assertion],
    seen: Evidence,
    directory: Path = HERE,
    *,
    provider: WrittenTransform = None,
    case: WrittenTransform = None,
) -> list[Outcome]:
    """The outcomes of local assertions after the transforms of a provider and a case, as a run has them."""
    judge = shared().judge(directory)

    async def judged() -> list[Outcome]:
        try:
            evidence = await transformed(seen, provider, case, judge.transform)
        except Untransformed as broken:
            return [errored(broken.failure.message, broken.failure.error_class)] * len(assertions)
        weighed = await evaluate_case(
            assertions,
            evidence,
            threshold=None,
            short_circuit=False,
            judge_scripts=judge.judge,
            run_transforms=judge.transform,
            grade=_no_grader,
        )
        return [item.outcome for item in weighed]

    return shared().run(judged())


async def _no_grader(assertion: Assertion, seen: Evidence) -> Outcome:
    raise AssertionError(f"no test here grades, found {assertion.kind!r} over {seen.text!r}")
