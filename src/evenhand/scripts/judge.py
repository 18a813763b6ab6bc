"""Runs the script assertions and transforms of a case: one batch to each engine that they need."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from evenhand.io.given_functions import is_reference
from evenhand.model.assertion import Assertion
from evenhand.model.confinement import Confinement
from evenhand.model.evidence import Evidence
from evenhand.model.outcome import Outcome
from evenhand.model.transform import Transform, TransformFailed
from evenhand.scripts.assertion import ScriptAssertion
from evenhand.scripts.batch import Answer, Purpose, Script
from evenhand.scripts.context import FIELDS, context_document, fields_read, transform_context
from evenhand.scripts.given import NOTHING, given
from evenhand.scripts.in_process import InProcess
from evenhand.scripts.launch import NoEngine, node_launch, python_launch, quickjs_launch
from evenhand.scripts.pool import WorkerPool
from evenhand.scripts.safe_mode import rejected_transform, rejection
from evenhand.scripts.transform import TransformScript, value_of

Code = ScriptAssertion | TransformScript

MAX_KNOWN = 10_000
"""Sources whose key and reading are kept."""

QUICKJS_DEPTH = 4
LOAD_LIMIT_MS = 30_000.0
"""How long one script may take to load."""


class _Known(NamedTuple):
    key: int
    source: Any
    reads: frozenset[str]


class ScriptJudge:
    """The engines of one run. They start when the first script needs them."""

    def __init__(
        self,
        directory: Path,
        *,
        size: int | None = None,
        safe_mode: bool = False,
        confinement: Confinement | None = None,
    ) -> None:
        """`directory` is the suite's folder; `size` is the largest number of workers of one kind.

        With `safe_mode`, inline code is rejected; a sandbox of `confinement` holds for all code.
        """
        self._confinement = confinement if confinement is not None and confinement.is_sandbox else None
        self._safe_mode = safe_mode
        self._directory = directory.resolve()
        self._size = size or max(2, min(8, os.cpu_count() or 2))
        self._pools: dict[str, WorkerPool | InProcess | NoEngine] = {}
        self._keys = itertools.count(1)
        self._known: dict[tuple[str, str, Purpose], _Known] = {}

    async def judge(self, assertions: Sequence[Assertion], evidence: Evidence) -> list[Outcome]:
        """The outcomes of script assertions over one answer, in their order."""
        scripts = cast("Sequence[ScriptAssertion]", assertions)
        if self._safe_mode:
            rejected = [rejection(script) for script in scripts]
            allowed = [script for script, no in zip(scripts, rejected, strict=True) if no is None]
            judged = iter(await self._judged(allowed, evidence))
            return [next(judged) if no is None else no for no in rejected]
        return await self._judged(scripts, evidence)

    async def _judged(self, scripts: Sequence[ScriptAssertion], evidence: Evidence) -> list[Outcome]:
        answers = await self._answers(scripts, evidence, "verdict")
        return [script.conclude(answer, evidence) for script, answer in zip(scripts, answers, strict=True)]

    async def transform(
        self, transforms: Sequence[Transform], evidence: Evidence
    ) -> list[object | TransformFailed]:
        """What scripts make of one output, in their order; the error of one that broke stands in its place."""
        rejected = [rejected_transform(transform) if self._safe_mode else None for transform in transforms]
        allowed = [transform for transform, no in zip(transforms, rejected, strict=True) if no is None]
        answers = await self._answers([TransformScript(each) for each in allowed], evidence, "value")
        values = iter([_value(answer, each) for answer, each in zip(answers, allowed, strict=True)])
        return [next(values) if no is None else no for no in rejected]

    async def _answers(self, scripts: Sequence[Code], evidence: Evidence, purpose: Purpose) -> list[Answer]:
        if not scripts:
            return []
        names = [script.engine_name for script in scripts]
        first = names[0]
        if names.count(first) == len(names):
            return await self._ask(first, scripts, evidence, purpose)
        answers: list[Answer | None] = [None] * len(scripts)
        groups = {
            name: [index for index, other in enumerate(names) if other == name]
            for name in dict.fromkeys(names)
        }
        found = await asyncio.gather(
            *(
                self._ask(name, [scripts[i] for i in indexes], evidence, purpose)
                for name, indexes in groups.items()
            )
        )
        for indexes, group in zip(groups.values(), found, strict=True):
            for index, answer in zip(indexes, group, strict=True):
                answers[index] = answer
        return [answer for answer in answers if answer is not None]

    async def _ask(
        self, name: str, scripts: Sequence[Code], evidence: Evidence, purpose: Purpose
    ) -> list[Answer]:
        pool = self._pools.get(name) or self._open(name)
        if isinstance(pool, NoEngine):
            return [Answer(broken=str(pool))] * len(scripts)
        batch = []
        reads: frozenset[str] = frozenset()
        for script in scripts:
            known = self._known.get((name, script.value, purpose)) or self._learn(name, script, purpose)
            reads |= known.reads
            config = NOTHING if script.config is None else given(script.config)
            batch.append(Script(known.key, known.source, script.timeout_ms, config))
        context = NOTHING
        if reads:
            make = context_document if purpose == "verdict" else transform_context
            context = given(make(evidence, reads))
        return await pool.evaluate(batch, given(evidence.response.output), context, purpose=purpose)

    async def load(self, scripts: Sequence[Code]) -> list[Answer]:
        """Make scripts ready to run without running any; the answers of those that can run hold `returned`."""
        answers: list[Answer] = []
        for start in range(0, len(scripts), 50):
            some = scripts[start : start + 50]
            for (name, purpose), group in itertools.groupby(some, key=_engine_and_purpose):
                answers += await self._load(name, list(group), purpose)
        return answers

    async def _load(self, name: str, scripts: Sequence[Code], purpose: Purpose) -> list[Answer]:
        pool = self._pools.get(name) or self._open(name)
        if isinstance(pool, NoEngine):
            return [Answer(broken=str(pool))] * len(scripts)
        known = [
            self._known.get((name, script.value, purpose)) or self._learn(name, script, purpose)
            for script in scripts
        ]
        batch = [Script(item.key, item.source, LOAD_LIMIT_MS) for item in known]
        return await pool.evaluate(batch, NOTHING, NOTHING, purpose=purpose, dry=True)

    def _learn(self, name: str, script: Code, purpose: Purpose) -> _Known:
        reference = script.reference
        if reference is None:
            reads = FIELDS if is_reference(script.value) else fields_read(script.value)
            known = _Known(next(self._keys), script.value, reads)
        else:
            file = str((self._directory / reference.path).resolve())
            known = _Known(next(self._keys), {"file": file, "name": reference.name}, FIELDS)
        if len(self._known) >= MAX_KNOWN:
            self._known.clear()
        self._known[name, script.value, purpose] = known
        return known

    def _open(self, name: str) -> WorkerPool | InProcess | NoEngine:
        pool: WorkerPool | InProcess | NoEngine
        try:
            pool = _OPENERS[name](self._directory, self._size, self._confinement)
        except NoEngine as missing:
            pool = missing
        self._pools[name] = pool
        return pool

    async def close(self) -> None:
        """End every worker."""
        for pool in self._pools.values():
            if not isinstance(pool, NoEngine):
                await pool.close()


def _engine_and_purpose(script: Code) -> tuple[str, Purpose]:
    return script.engine_name, "value" if isinstance(script, TransformScript) else "verdict"


def _value(answer: Answer, transform: Transform) -> object | TransformFailed:
    try:
        return value_of(answer, transform)
    except TransformFailed as failure:
        return failure


def _quickjs(folder: Path, size: int, _confinement: Confinement | None) -> WorkerPool:
    return WorkerPool(quickjs_launch(folder), size=size, depth=QUICKJS_DEPTH)


def _node(folder: Path, size: int, confinement: Confinement | None) -> WorkerPool:
    return WorkerPool(node_launch(folder, typescript=False, confinement=confinement), size=size)


def _typescript(folder: Path, size: int, confinement: Confinement | None) -> WorkerPool:
    return WorkerPool(node_launch(folder, typescript=True, confinement=confinement), size=size)


def _python(folder: Path, size: int, confinement: Confinement | None) -> WorkerPool:
    _refuse_in_sandbox(confinement)
    return WorkerPool(python_launch(folder), size=size)


def _in_process(_folder: Path, _size: int, confinement: Confinement | None) -> InProcess:
    _refuse_in_sandbox(confinement)
    return InProcess()


def _refuse_in_sandbox(confinement: Confinement | None) -> None:
    """Loading refuses such code already; this holds for whatever comes up later."""
    if confinement is not None:
        raise NoEngine("Python does not run in a sandbox")


_OPENERS: dict[str, Callable[[Path, int, Confinement | None], WorkerPool | InProcess]] = {
    "quickjs": _quickjs,
    "node": _node,
    "node-typescript": _typescript,
    "python": _python,
    "in-process": _in_process,
}
