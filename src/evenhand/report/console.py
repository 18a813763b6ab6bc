"""What scripts printed while they judged, taken out of the details of their verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from evenhand.model.result import AssertResult
from evenhand.report.labels import kind_label
from evenhand.report.members import members

KEY = "console"


def console_of(details: Any) -> str:
    """The lines that a script printed, as one text; empty where it printed nothing."""
    lines = details.get(KEY) if isinstance(details, dict) else None
    return "\n".join(map(str, lines)) if isinstance(lines, (list, tuple)) else ""


def consoles(results: Iterable[AssertResult], *, max_members: int) -> Iterator[tuple[str, str]]:
    """What each script of these verdicts printed, with a label that names its kind; members of groups too."""
    for result in results:
        inner = (m.result for m in members(result, max_shown=max_members) if m.result is not None)
        for each in (result, *inner):
            if text := console_of(each.details):
                place = "" if each is result else f" in {kind_label(result)}"
                yield f"console of {kind_label(each)}{place}", text


def beside_console(details: Any) -> Any:
    """The details without what was printed; None where nothing else is in them."""
    if not console_of(details):
        return details
    return {name: value for name, value in details.items() if name != KEY} or None
