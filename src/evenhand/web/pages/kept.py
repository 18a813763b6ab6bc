"""Kept answers: those that were kept last, and one of them with its question."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from evenhand.cache.inspecting import KeptAnswers, Wanted, shown_question
from evenhand.model.exchange import Response
from evenhand.report.exchanged import fields_text, indented
from evenhand.web.rendering import plain

SHOWN = 200
"""Answers on one page."""

MAX_SHOWN = 200_000
"""Characters of one text on a page."""


MAX_SEARCH = 200
"""Characters of a search that are looked at."""


class KeptRow(msgspec.Struct, frozen=True, kw_only=True):
    """One kept answer in a list."""

    key: str
    asked: str
    test: str
    kept_at: str
    used_at: str
    size: int


class KeptPage(msgspec.Struct, frozen=True, kw_only=True):
    """The answers that were kept last, by who was asked and for which test."""

    path: str
    answers: int
    bytes: int
    asked: dict[str, int]
    query: Wanted
    rows: tuple[KeptRow, ...]
    older: int | None
    """The `before` of the page behind this one; None on the last."""


class KeptAnswerPage(msgspec.Struct, frozen=True, kw_only=True):
    """One kept answer. `question` and `shown` are what was keyed and what came, as they may be shown."""

    key: str
    asked: str
    test: str
    kept_at: str
    question: Any
    answer: Response
    question_text: str
    answer_text: str


def wanted_of(parameters: Mapping[str, str]) -> Wanted:
    """The answers that an address asks for; what is no number counts as none."""
    before = parameters.get("before", "")
    return Wanted(
        provider=parameters.get("provider", ""),
        test=parameters.get("test", "").strip(),
        key=parameters.get("key", "").strip(),
        text=parameters.get("text", "")[:MAX_SEARCH],
        before=int(before) if before.isdecimal() and len(before) < 19 else None,
    )


def kept_page(directory: Path, wanted: Wanted) -> KeptPage:
    """Kept answers, the newest first."""
    with KeptAnswers(directory) as kept:
        stats = kept.stats()
        rows, older = kept.page(wanted, limit=SHOWN)
        return KeptPage(
            path=str(kept.path),
            answers=stats.answers,
            bytes=stats.bytes,
            asked=dict(stats.by_provider),
            query=wanted,
            older=older,
            rows=tuple(
                KeptRow(
                    key=row.key,
                    asked=row.provider,
                    test=row.test,
                    kept_at=_moment(row.created),
                    used_at=_moment(row.used),
                    size=row.size,
                )
                for row in rows
            ),
        )


def kept_answer_page(directory: Path, key: str) -> KeptAnswerPage:
    """The answer whose key begins so. Raises `UsageError` where there is none or several."""
    with KeptAnswers(directory) as kept:
        entry = kept.find(key)
    question = shown_question(entry)
    return KeptAnswerPage(
        key=entry.head.key,
        asked=entry.head.provider,
        test=entry.head.test,
        kept_at=_moment(entry.head.created),
        question=question,
        answer=entry.response,
        question_text=indented(question)[:MAX_SHOWN],
        answer_text=fields_text(plain(entry.response))[:MAX_SHOWN],
    )


def _moment(seconds: float) -> str:
    """A moment in UTC; empty where a clock was set to nonsense."""
    try:
        return dt.datetime.fromtimestamp(seconds, dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError, OSError):
        return ""
