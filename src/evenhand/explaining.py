"""Why a case's answers come from the cache or not: its questions are put to the kept answers alone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import msgspec

from evenhand.cache.answers import AnswerCache
from evenhand.cache.database import CacheError
from evenhand.cache.differences import Nearest, nearest
from evenhand.cache.entry import Entry
from evenhand.cache.inspecting import KeptAnswers
from evenhand.cache.question import Question
from evenhand.errors import UsageError
from evenhand.model.result import CaseResult, Filters
from evenhand.model.suite import Suite
from evenhand.registry import nearest as nearest_name
from evenhand.run.cell import run_cell
from evenhand.run.plan import Plan
from evenhand.run.services import Services
from evenhand.store.redaction import EnvironmentRedactor


class Lookup(NamedTuple):
    """One question of a cell: what is keyed, the kept answer if there is one, else the nearest other."""

    question: Question
    shown: bytes
    """The question's document, without secrets."""
    entry: Entry | None
    nearest: Nearest | None


class Explained(NamedTuple):
    """What a cell asks, in order: its provider first, then its graders as far as there is an answer to grade."""

    result: CaseResult
    lookups: tuple[Lookup, ...]


async def explain_case(suite: Suite, case_id: str, directory: Path, *, repeat: int = 1) -> list[Explained]:
    """Every cell of a case with its questions. Nothing is called; scripts of the suite do run.

    Raises `UsageError` where the suite has no such case.
    """
    plan = Plan(suite, Filters(filters=(case_id,)), repeat=repeat)
    cells = [cell for cell in plan.cells() if cell.case.id == case_id] or list(plan.cells())
    if not cells:
        close = nearest_name(case_id, {case.id for case in suite.cases})
        hint = f"did you mean {close!r}?" if close else "`evenhand list tests` shows what there is"
        raise UsageError(f"no case {case_id!r} in the suite; {hint}")
    offline = msgspec.structs.replace(
        suite, runner=msgspec.structs.replace(suite.runner, fallback=False, short_circuit=False)
    )
    redactor = EnvironmentRedactor(os.environ)
    cache = AnswerCache(directory, redactor, only=True)
    seen: list[tuple[Question, Entry | None]] = []
    cache.on_lookup = lambda question, entry: seen.append((question, entry))
    explained = []
    try:
        async with Services(offline, plan.providers, cache=cache) as services:
            for cell in cells:
                seen.clear()
                result = await run_cell(cell, services)
                lookups = [_lookup(question, entry, redactor, directory) for question, entry in seen]
                explained.append(Explained(result, tuple(lookups)))
    finally:
        await cache.close()
    return explained


def _lookup(
    question: Question, entry: Entry | None, redactor: EnvironmentRedactor, directory: Path
) -> Lookup:
    shown = redactor.clean_bytes(question.document)
    if entry is not None:
        return Lookup(question, shown, entry, None)
    try:
        with KeptAnswers(directory) as kept:
            return Lookup(question, shown, None, nearest(shown, kept.candidates(question)))
    except CacheError:
        return Lookup(question, shown, None, None)  # the result says why nothing can be read
