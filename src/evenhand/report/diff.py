"""The difference of two runs for the terminal, as Markdown and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

import msgspec

from evenhand.analysis.suite_diff import SettingChange
from evenhand.analysis.verdict import Delta
from evenhand.model.comparison import Comparison
from evenhand.report.changed_case import ChangedCase
from evenhand.report.comparison import counts, figures
from evenhand.report.encode import json_line
from evenhand.report.figures import counted
from evenhand.report.formats import Page
from evenhand.report.labels import asked_with
from evenhand.report.md import cell as md_cell
from evenhand.report.md import code, plain
from evenhand.report.screen import Part, Screen
from evenhand.text.excerpt import clipped, escaped

OUTPUT_CHANGED = "output_changed"
"""The section of cells whose verdict stayed and whose output did not."""

TITLES: Mapping[str, str] = {
    Delta.NEWLY_FAILING: "newly failing",
    Delta.NEWLY_PASSING: "newly passing",
    Delta.STILL_FAILING: "still failing",
    OUTPUT_CHANGED: "output changed",
    Delta.ADDED: "added",
    Delta.REMOVED: "removed",
    Delta.UNCHANGED: "unchanged",
}
"""Every section, in the order in which reports show them."""

_STYLES: Mapping[str, str] = {
    Delta.NEWLY_FAILING: "bold red",
    Delta.NEWLY_PASSING: "bold green",
    Delta.STILL_FAILING: "red",
}


class Section(msgspec.Struct, frozen=True):
    """The cells that changed in one way: as many as are shown, and how many there are."""

    name: str
    shown: Iterable[ChangedCase]
    total: int
    left: int = 0


class Difference(msgspec.Struct, frozen=True):
    """What a report shows of two runs: their comparison, the cells by section, and where asked for the suites'.

    `whole` says that outputs and values are not cut.
    """

    comparison: Comparison
    sections: Sequence[Section]
    settings: Sequence[SettingChange] | None = None
    whole: bool = False


def table(difference: Difference, out: TextIO, page: Page) -> None:
    """Write the difference for the terminal."""
    comparison = difference.comparison
    screen = Screen(out, page)
    screen.blank()
    screen.line((f"{comparison.base} → {comparison.head}", "bold"))
    screen.blank()
    for section in difference.sections:
        style = _STYLES.get(section.name, "bold")
        screen.line((f"{TITLES[section.name]} ({section.total:,})", style))
        for change in section.shown:
            _table_case(screen, change, difference.whole)
        if section.left:
            screen.line((f"and {section.left:,} more: --full shows all", "dim italic"), indent=2)
        screen.blank()
    if difference.settings is not None:
        _table_settings(screen, difference.settings, difference.whole)
    screen.rule()
    parts: list[Part] = []
    for name, count in counts(comparison):
        style = "red" if name == "newly failing" and count else "" if count else "dim"
        parts += [", " if parts else "", (f"{count:,} {name}", style)]
    screen.line(*parts)
    for text in figures(comparison):
        screen.paragraph("", text, max_lines=4)


def _table_settings(screen: Screen, settings: Sequence[SettingChange], whole: bool) -> None:
    screen.line((f"suite ({len(settings):,})", "bold"))
    for change in settings:
        screen.line((escaped(change.path), "bold"), indent=2)
        for mark, value, style in (("-", change.base, "red"), ("+", change.head, "green")):
            if value is not msgspec.UNSET:
                text = _setting(value, whole)
                screen.paragraph((f"{mark} ", style), text, indent=4, max_lines=10_000 if whole else 3)
    screen.blank()


def _setting(value: Any, whole: bool) -> str:
    text = json_line(value)
    return escaped(text) if whole else clipped(text)


def _table_case(screen: Screen, change: ChangedCase, whole: bool) -> None:
    diff = change.diff
    screen.line(
        (diff.cell.test_id, "bold"),
        "  ",
        (asked_with(diff.cell, repeated=False), "dim"),
        indent=2,
    )
    differs = f"; differs: {', '.join(diff.causes)}" if diff.causes else ""
    screen.paragraph("", change.moves + differs, style="dim", indent=4)
    for reason in change.reasons():
        screen.paragraph("", reason, indent=4, max_lines=100 if whole else 3)
    pieces = change.output_pieces(whole=whole)
    if pieces:
        marks = {"same": "", "removed": "[-{}-]", "added": "{{+{}+}}"}
        text = "".join(marks[p.kind].format(p.text) if p.kind != "same" else p.text for p in pieces)
        screen.paragraph(("output ", "dim"), text, indent=4, max_lines=10_000 if whole else 12)


def markdown(difference: Difference, out: TextIO, page: Page) -> None:
    """Write the difference as Markdown; text from outside stands in code spans."""
    del page
    comparison = difference.comparison
    sign = "❌" if comparison.newly_failing else "✅"
    out.write(f"## {sign} {code(comparison.base)} → {code(comparison.head)}\n\n")
    out.write("- " + ", ".join(f"{count:,} {name}" for name, count in counts(comparison)) + "\n")
    out.writelines(f"- {plain(text)}\n" for text in figures(comparison))
    for section in difference.sections:
        out.write(f"\n### {TITLES[section.name].capitalize()} ({section.total:,})\n\n")
        out.write("| test | asked with | verdict | differs | what was found | output |\n")
        out.write("| --- | --- | --- | --- | --- | --- |\n")
        out.writelines(_markdown_row(change, difference.whole) for change in section.shown)
        if section.left:
            out.write(f"\nand {counted(section.left, 'more cell')}\n")
    if difference.settings is not None:
        _markdown_settings(out, difference.settings)


def _markdown_settings(out: TextIO, settings: Sequence[SettingChange]) -> None:
    out.write(f"\n### Suite ({len(settings):,})\n\n| setting | before | now |\n| --- | --- | --- |\n")
    for change in settings:
        sides = [
            "–" if value is msgspec.UNSET else md_cell(json_line(value))
            for value in (change.base, change.head)
        ]
        out.write(f"| {md_cell(change.path)} | {' | '.join(sides)} |\n")


def _markdown_row(change: ChangedCase, whole: bool) -> str:
    diff = change.diff
    marks = {"removed": "−", "added": "+"}
    pieces = [piece for piece in change.output_pieces(whole=whole) if piece.kind != "same"]
    output = "<br>".join(
        f"{marks[piece.kind]} {md_cell(piece.text)}" for piece in pieces[: None if whole else 8]
    )
    found = "<br>".join(md_cell(reason) for reason in change.reasons())
    asked = md_cell(asked_with(diff.cell, repeated=False))
    cells = (md_cell(diff.cell.test_id), asked, change.moves, ", ".join(diff.causes), found, output)
    return f"| {' | '.join(cells)} |\n"


def document(difference: Difference, out: TextIO, page: Page) -> None:
    """Write the difference as one JSON document, the changed cells one a line."""
    del page
    out.write(f'{{\n "schema_version": 1,\n "comparison": {json_line(difference.comparison)},\n "cases": [')
    separator = "\n  "
    for section in difference.sections:
        for change in section.shown:
            out.write(separator + json_line(_json_case(section.name, change, difference.whole)))
            separator = ",\n  "
    left = {section.name: section.left for section in difference.sections if section.left}
    suite = "" if difference.settings is None else f',\n "suite": {json_line(difference.settings)}'
    out.write(f'\n ],\n "left_out": {json_line(left)}{suite}\n}}\n')


def _json_case(section: str, change: ChangedCase, whole: bool) -> dict[str, Any]:
    diff = change.diff
    return {
        "cell": diff.cell,
        "case_key": diff.case_key,
        "name": diff.name,
        "section": section,
        "delta": diff.delta,
        "base_status": diff.base_status,
        "head_status": diff.head_status,
        "base_score": diff.base_score,
        "head_score": diff.head_score,
        "output_changed": diff.output_changed,
        "causes": diff.causes,
        "reasons": change.reasons(),
        "output_diff": [
            {"kind": piece.kind, "text": piece.text} for piece in change.output_pieces(whole=whole)
        ],
    }


FORMATS = {"table": table, "md": markdown, "json": document}
"""Every format of a difference by name."""
