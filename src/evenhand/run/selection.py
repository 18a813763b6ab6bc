"""What to say where filters leave nothing of a suite."""

from __future__ import annotations

from itertools import islice

from evenhand.errors import UsageError
from evenhand.model.result import Filters
from evenhand.model.suite import Suite
from evenhand.registry import nearest
from evenhand.run.plan import Plan, selects
from evenhand.text.excerpt import escaped

MAX_COMPARED = 2_000
"""Cases whose ids and tags are compared with what was asked for."""
MAX_SHOWN = 12
"""Tags that a message names."""


def selecting(plan: Plan, *, allow_empty: bool) -> Plan:
    """The plan, whose filters leave at least one case wherever that is known without reading files again.

    Raises `UsageError` where they leave none and an empty run was not allowed: it would replace the last run.
    """
    asked = plan.filters
    if allow_empty or not plan.suite.cases.is_held or not (asked.tags or asked.filters):
        return plan
    if next(iter(plan.cases()), None) is None and len(plan.suite.cases):
        raise UsageError(_nothing_left(plan.suite, asked))
    return plan


def _nothing_left(suite: Suite, asked: Filters) -> str:
    parts = []
    if asked.tags:
        parts.append(f"the tag {_one_of(asked.tags)}")
    if asked.filters:
        parts.append(f"an id that matches {_one_of(asked.filters)}")
    return f"no case has {' and '.join(parts)}; {_hint(suite, asked)}"


def _one_of(names: tuple[str, ...]) -> str:
    return " or ".join(repr(name) for name in names)


def _hint(suite: Suite, asked: Filters) -> str:
    cases = list(islice(suite.cases, MAX_COMPARED))
    tags = sorted({tag for case in cases for tag in case.tags})
    for tag in asked.tags:
        if tag not in tags:
            close = nearest(tag, tags)
            shown = ", ".join(escaped(name) for name in tags[:MAX_SHOWN])
            more = ", …" if len(tags) > MAX_SHOWN else ""
            known = f"the suite has {shown}{more}" if tags else "no case of the suite has `tags`"
            return f"did you mean {close!r}?" if close else known
    ids = [case.id for case in cases]
    for glob in asked.filters:
        wider = next((wide for wide in (f"{glob}/*", f"*{glob}*") if _matches(ids, wide)), None)
        close = wider or nearest(glob, ids)
        if close and not _matches(ids, glob):
            return f"did you mean {close!r}?"
    return "`evenhand list tests` shows ids and tags"


def _matches(ids: list[str], glob: str) -> bool:
    return any(selects(Filters(filters=(glob,)), test_id, ()) for test_id in ids)
