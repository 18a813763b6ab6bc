"""Providers whose answers are kept, for tests that count how often they are asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from evenhand.cache.answers import AnswerCache
from evenhand.io.fake import FakeClock, FakeSession, Replies
from evenhand.model.exchange import Json, Request
from evenhand.model.provider import Keyer, Provider, ProviderContext, Session
from evenhand.model.result import CaseResult
from evenhand.model.suite import Suite
from evenhand.run.cell import run_cell
from evenhand.run.plan import Plan
from evenhand.run.services import Services
from evenhand.store.redaction import Redactor


class _Script:
    """What providers of one number answer, and what they were asked."""

    def __init__(self, replies: Replies) -> None:
        self.replies = replies
        self.sessions: list[FakeSession] = []


_SCRIPTS: dict[int, _Script] = {}
"""By number: a provider is a declaration, which can be written as JSON."""


class Counted(Provider, frozen=True, tag="counted"):
    """Keeps its answers, and knows how often it was asked, over all sessions with the same script."""

    script: int = 0
    view: Any = None
    """What a question is keyed by; the prompt where it is None."""

    def keyer(self, context: ProviderContext) -> Keyer:
        def asked(request: Request) -> Json:
            return {"prompt": request.prompt} if self.view is None else self.view

        return asked

    def open(self, context: ProviderContext) -> Session:
        script = _SCRIPTS[self.script]
        session = FakeSession(script.replies)
        script.sessions.append(session)
        return session

    @property
    def asked(self) -> int:
        """How often it was asked."""
        return sum(len(session.requests) for session in _SCRIPTS[self.script].sessions)


def counted(replies: Replies, **fields: Any) -> Counted:
    """A provider that answers so in every run, by default with the id `one`.

    A list of replies is used up over all runs, in turn.
    """
    number = len(_SCRIPTS)
    _SCRIPTS[number] = _Script(replies if callable(replies) else _in_turn(list(replies)))
    return Counted(**{"id": "one", "script": number, **fields})


def _in_turn(replies: list[Any]) -> Callable[[Request], Any]:
    return lambda _: replies.pop(0)


def opened(folder: Path, *, secrets: Sequence[str] = (), **options: Any) -> AnswerCache:
    """The kept answers in a folder."""
    return AnswerCache(folder, Redactor(secrets), **options)


def run_cells(
    suite: Suite, folder: Path | None, *, repeat: int = 1, secrets: Sequence[str] = (), **options: Any
) -> list[CaseResult]:
    """The results of all cells of a suite, run at once, with the answers kept in a folder."""

    async def work() -> list[CaseResult]:
        cache = None if folder is None else opened(folder, secrets=secrets, **options)
        try:
            async with Services(suite, suite.providers, cache=cache, clock=FakeClock()) as services:
                cells = Plan(suite, repeat=repeat).cells()
                return await asyncio.gather(*(run_cell(cell, services) for cell in cells))
        finally:
            if cache is not None:
                await cache.close()

    return asyncio.run(work())
