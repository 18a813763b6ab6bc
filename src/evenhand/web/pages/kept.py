"""Kept answers: those that were kept last, and one of them with its question."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import msgspec

from evenhand.cache.inspecting import KeptAnswers
from evenhand.model.exchange import Response
from evenhand.report.encode import json_line
from evenhand.text.json_reader import NotJson, read_json

SHOWN = 200
"""Answers on one page."""

MAX_SHOWN = 200_000
"""Characters of one text on a page."""


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
    provider: str
    test: str
    rows: tuple[KeptRow, ...]


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


def kept_page(directory: Path, provider: str, test: str) -> KeptPage:
    """The newest answers, narrowed down to a provider or a test where these are named."""
    with KeptAnswers(directory) as kept:
        stats = kept.stats()
        rows = kept.newest(limit=SHOWN, provider=provider or None, test=test or None)
        return KeptPage(
            path=str(kept.path),
            answers=stats.answers,
            bytes=stats.bytes,
            asked=dict(stats.by_provider),
            provider=provider,
            test=test,
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
    question = read_json(entry.question.decode("utf-8", "replace")) if entry.question else None
    question = None if isinstance(question, NotJson) else question
    return KeptAnswerPage(
        key=entry.head.key,
        asked=entry.head.provider,
        test=entry.head.test,
        kept_at=_moment(entry.head.created),
        question=question,
        answer=entry.response,
        question_text=json_line(question)[:MAX_SHOWN],
        answer_text=json_line(entry.response)[:MAX_SHOWN],
    )


def _moment(seconds: float) -> str:
    """A moment in UTC; empty where a clock was set to nonsense."""
    try:
        return dt.datetime.fromtimestamp(seconds, dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError, OSError):
        return ""
