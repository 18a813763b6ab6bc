"""What a person says of an answer, from the form on its page."""

from __future__ import annotations

import math
from collections.abc import Mapping

from evenhand.errors import UsageError
from evenhand.io.provenance import utc_now
from evenhand.model.assertion import ASSERTIONS
from evenhand.model.grading import GradedAssertion
from evenhand.model.result import CaseResult
from evenhand.report.changed_case import text_of
from evenhand.report.labels import prompt_text
from evenhand.store.verdicts import HumanVerdict
from evenhand.web.pages.history import output_digest

MAX_COMMENT = 10_000


def verdict_of(case: CaseResult, form: Mapping[str, object]) -> HumanVerdict:
    """The verdict that a form gives. Raises `UsageError` for one that gives none."""
    label = form.get("label")
    if label not in ("pass", "fail"):
        raise UsageError("a verdict is pass or fail; choose one of them")
    digest = output_digest(case)
    return HumanVerdict(
        id=f"{case.cell.test_id}#{case.case_key}#{digest}",
        case_key=case.case_key,
        output_digest=digest,
        output=text_of(case),
        label="pass" if label == "pass" else "fail",
        rubric=_rubric(case),
        prompt=prompt_text(case) or None,
        score=_score(str(form.get("score") or "").strip()),
        comment=str(form.get("comment") or "").strip()[:MAX_COMMENT],
        noted_at=utc_now(),
    )


def _score(text: str) -> float | None:
    if not text:
        return None
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if not 0 <= score <= 1:
        raise UsageError(f"a score is between 0 and 1, found {text[:40]!r}")
    return score


def _rubric(case: CaseResult) -> str | None:
    """The criterion of the first assertion that a model judged."""
    for each in case.asserts:
        kind = ASSERTIONS.find(each.kind)
        criteria = each.criteria
        if kind is not None and issubclass(kind, GradedAssertion) and isinstance(criteria, dict):
            value = criteria.get("value")
            if isinstance(value, str):
                return value
    return None
