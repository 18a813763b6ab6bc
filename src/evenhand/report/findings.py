"""The failures and errors of a run, grouped and bounded, so that a report leads with them whatever their number."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

import msgspec

from evenhand.model.outcome import Status
from evenhand.model.result import NOT_PASSING, CaseResult, CaseStatus, CellKey, Run
from evenhand.report.formats import Cases
from evenhand.report.labels import kind_label, output_text, prompt_text

MAX_GROUPS = 20
"""Groups of failures, and again of errors, that a report shows."""

MAX_CELLS = 5
"""Cells that a group names."""

MAX_CLIPPED = 4_000
"""Characters of a prompt or an output that a group keeps for its excerpt."""

MAX_UNCHECKED = 3
"""Unchecked cases that a report names."""


class Clipped(msgspec.Struct, frozen=True):
    """The beginning of a text, with the number of lines that the whole has."""

    head: str
    lines: int


class Group(msgspec.Struct):
    """Cells that ended in the same way for the same reason: the first of them, without what may be large."""

    first: CaseResult
    prompt: Clipped | None
    output: Clipped | None
    cells: list[tuple[CellKey, str | None]]
    """The first few cells, each with the place of its case."""
    count: int = 1


class Findings(msgspec.Struct):
    """What somebody must look at. `more_…` counts cells in groups that did not find room."""

    failures: list[Group] = []
    errors: list[Group] = []
    more_failures: int = 0
    more_errors: int = 0


def find(run: Run, cases: Cases, *, max_groups: int = MAX_GROUPS) -> Findings:
    """Group what did not pass: failures by test and reasons, errors by class and message.

    Memory is bounded by the number of groups; a run in which everything passed is not read at all.
    """
    summary = run.summary
    findings = Findings()
    if run.exit_code is not None and not (summary.failed or summary.xpassed or summary.errored):
        return findings
    failures: dict[Hashable, Group] = {}
    errors: dict[Hashable, Group] = {}
    for case in cases(statuses=NOT_PASSING):
        if case.status is CaseStatus.ERROR:
            findings.more_errors += not _placed(case, _error_key(case), errors, max_groups)
        else:
            findings.more_failures += not _placed(case, _failure_key(case), failures, max_groups)
    findings.failures, findings.errors = list(failures.values()), list(errors.values())
    return findings


def group_of(case: CaseResult) -> Group:
    """A group of this one cell."""
    return Group(
        first=msgspec.structs.replace(
            case, vars={}, prompt=None, output=None, reasoning=None, request=None, raw=None, metadata=None
        ),
        prompt=None if case.prompt is None else clipped(prompt_text(case)),
        output=None if case.output is None else clipped(output_text(case)),
        cells=[(case.cell, case.location)],
    )


def clipped(text: str) -> Clipped:
    """The beginning of a text that may be of any size."""
    return Clipped(text[:MAX_CLIPPED], text.count("\n") + (not text.endswith("\n")))


def unchecked(run: Run, cases: Cases) -> list[str]:
    """The first few tests in which nothing was judged; read only as far as they are found."""
    names: list[str] = []
    if not run.summary.unchecked:
        return names
    for case in _unchecked_cases(cases):
        if case.cell.test_id not in names:
            names.append(case.cell.test_id)
        if len(names) == MAX_UNCHECKED:
            break
    return names


def _unchecked_cases(cases: Cases) -> Iterator[CaseResult]:
    return (case for case in cases() if case.unchecked)


def _placed(case: CaseResult, key: Hashable, groups: dict[Hashable, Group], max_groups: int) -> bool:
    group = groups.get(key)
    if group is None:
        if len(groups) >= max_groups:
            return False
        groups[key] = group_of(case)
        return True
    group.count += 1
    if len(group.cells) < MAX_CELLS:
        group.cells.append((case.cell, case.location))
    return True


def _failure_key(case: CaseResult) -> Hashable:
    reasons = tuple((kind_label(a), a.reason) for a in case.asserts if a.status is Status.FAIL)
    return (case.cell.test_id, case.status, reasons)


def _error_key(case: CaseResult) -> Hashable:
    return (case.error_class, case.error)
