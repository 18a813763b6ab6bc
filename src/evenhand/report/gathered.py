"""The cells of two runs by how they changed: what every view of a difference shows."""

from __future__ import annotations

from collections.abc import Iterator

from evenhand.analysis.compare import CaseDiff, CompareFold
from evenhand.compare.changes import both_results, changes, described
from evenhand.compare.references import Reference
from evenhand.model.comparison import Comparison
from evenhand.report.changed_case import ChangedCase
from evenhand.report.diff import Section


def gathered(
    before: Reference, after: Reference, names: tuple[str, ...], limit: int | None
) -> tuple[Comparison, list[Section]]:
    """The counts, and the sections with the changes to show: their texts are read when they are shown."""
    fold = CompareFold()
    kept: dict[str, list[CaseDiff]] = {name: [] for name in names}
    totals = dict.fromkeys(names, 0)
    for change in changes(before, after):
        fold.add(*change)
        for name in _sections_of(change.diff):
            if name in kept:
                totals[name] += 1
                if limit is None or totals[name] <= limit:
                    kept[name].append(change.diff)
    comparison = described(fold, before, after)
    sections = [
        Section(name, _Shown(before, after, kept[name]), totals[name], totals[name] - len(kept[name]))
        for name in names
        if totals[name]
    ]
    return comparison, sections


def _sections_of(diff: CaseDiff) -> Iterator[str]:
    if diff.output_changed and diff.delta in ("unchanged", "still_failing"):
        yield "output_changed"
        if diff.delta == "unchanged":
            return
    yield diff.delta.value


class _Shown:
    """The changes of a section with their results, read one at a time."""

    def __init__(self, before: Reference, after: Reference, diffs: list[CaseDiff]) -> None:
        self._before = before
        self._after = after
        self._diffs = diffs

    def __iter__(self) -> Iterator[ChangedCase]:
        base, head = self._before.documents(), self._after.documents()
        for diff in self._diffs:
            yield ChangedCase(diff, *both_results(base, head, diff.case_key))
