"""Two runs beside each other: what got worse, what was mended, what changed, and whether that means anything."""

from __future__ import annotations

import msgspec

from evenhand.compare.references import SuiteIdentity, resolve
from evenhand.report.changed_case import ChangedCase
from evenhand.report.comparison import counts, figures
from evenhand.report.diff import TITLES, Section
from evenhand.report.gathered import gathered
from evenhand.report.labels import asked_with
from evenhand.store.store import RunStore
from evenhand.text.word_diff import Piece
from evenhand.web.pages.runs import RunRow, run_row

SHOWN = 50
"""Cells of a section that a page shows."""

MAX_CHOICES = 100
"""Runs that a page offers to compare with."""


class ChangedRow(msgspec.Struct, frozen=True, kw_only=True):
    """One cell that changed."""

    test_id: str
    asked_with: str
    case_key: str
    base_status: str | None
    head_status: str | None
    causes: tuple[str, ...]
    reasons: tuple[str, ...]
    pieces: tuple[Piece, ...]


class ChangedSection(msgspec.Struct, frozen=True, kw_only=True):
    """The cells that changed in one way, as many as are shown, and how many there are."""

    name: str
    title: str
    rows: tuple[ChangedRow, ...]
    total: int


class ComparePage(msgspec.Struct, frozen=True, kw_only=True):
    """The difference of two references; nothing but the choices while one is missing."""

    base: str
    head: str
    head_run: str = ""
    counts: tuple[tuple[str, int], ...] = ()
    figures: tuple[str, ...] = ()
    sections: tuple[ChangedSection, ...] = ()
    choices: tuple[RunRow, ...] = ()


def compare_page(store: RunStore, base: str, head: str) -> ComparePage:
    """The difference between what two references mean. Raises `UsageError` where one means nothing."""
    choices = tuple(map(run_row, store.runs(limit=MAX_CHOICES)))
    if not base or not head:
        return ComparePage(base=base, head=head, choices=choices)
    after = resolve(head, store)
    without = after.newest.run_id if len(after.runs) == 1 else None
    before = resolve(base, store, suite=SuiteIdentity.of_run(after.newest), without=without)
    comparison, sections = gathered(
        before, after, tuple(name for name in TITLES if name != "unchanged"), SHOWN
    )
    return ComparePage(
        base=base,
        head=head,
        head_run=after.newest.run_id,
        counts=tuple(counts(comparison)),
        figures=tuple(figures(comparison)),
        sections=tuple(map(_section, sections)),
        choices=choices,
    )


def _section(section: Section) -> ChangedSection:
    return ChangedSection(
        name=section.name,
        title=TITLES[section.name],
        total=section.total,
        rows=tuple(map(_row, section.shown)),
    )


def _row(change: ChangedCase) -> ChangedRow:
    diff = change.diff
    return ChangedRow(
        test_id=diff.cell.test_id,
        asked_with=asked_with(diff.cell, repeated=False),
        case_key=diff.case_key,
        base_status=diff.base_status,
        head_status=diff.head_status,
        causes=diff.causes,
        reasons=tuple(change.reasons()),
        pieces=tuple(change.output_pieces()),
    )
