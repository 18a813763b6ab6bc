"""Results as the viewer's tests put them into a store."""

from __future__ import annotations

import asyncio
from typing import Any

from evenhand.cache.answers import AnswerCache
from evenhand.cache.question import question_of
from evenhand.model.exchange import Response
from evenhand.model.outcome import Status
from evenhand.model.result import AssertResult, CaseResult, CaseStatus, CellKey
from evenhand.store.redaction import Redactor
from evenhand.web.site import Site

RUN_ID = "01J0000000000000000000TEST"
OLDER = "01J0000000000000000000OLDR"


def a_case(number: int, **fields: Any) -> CaseResult:
    """A result that passed, but for what the fields say."""
    cell = CellKey(provider_id=fields.pop("provider", "app"), prompt_id="ask", test_id=f"case-{number}")
    made = {
        "cell": cell,
        "case_key": cell.digest(),
        "index": number,
        "name": cell.test_id,
        "status": CaseStatus.PASS,
        "score": 1.0,
        "output": f"answer number {number}",
    }
    return CaseResult(**{**made, **fields})


def a_failure(number: int, reason: str = 'output does not contain "Paris"', **fields: Any) -> CaseResult:
    """A result with one failed assertion."""
    failed = AssertResult(kind="contains", status=Status.FAIL, score=0.0, reason=reason)
    return a_case(number, **{"status": CaseStatus.FAIL, "score": 0.0, "asserts": (failed,), **fields})


def keep(
    site: Site, asked: object, *, provider: str = "app", test: str = "", output: str = "<b>Paris</b>"
) -> str:
    """The key under which an answer to that is now kept."""

    async def work() -> str:
        cache = AnswerCache(site.kept_answers, Redactor([]))
        question = question_of(asked, provider=provider, test=test)
        cache.keep(question, Response(output=output))
        await cache.close()
        return question.key

    return asyncio.run(work())
