"""The cases of a suite: those written in it and those of small files held, others read again when wanted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from evenhand.config.case_builder import CaseBuilder
from evenhand.config.findings import Findings
from evenhand.config.raw_case import CaseSource, RawCase
from evenhand.errors import Problem, SuiteError
from evenhand.model.suite import Case

HELD_BYTES = 48 << 20
"""About how much memory the cases of files may take that are kept as they were checked."""

_CASE_BYTES = 1_500
_ITEM_BYTES = 80


def memory_of(content: bytes) -> int:
    """About how many bytes a case takes whose content is that JSON. Files that it refers to may be of any size."""
    if b'"$file"' in content:
        return HELD_BYTES + 1
    items = content.count(b",") + content.count(b"{") + content.count(b"[")
    return _CASE_BYTES + len(content) + _ITEM_BYTES * items


class StreamedCases:
    """The cases of a source, finished anew by each iteration.

    Iterating raises `SuiteError` where the source has changed for the worse since it was checked.
    """

    def __init__(self, source: CaseSource, builder: CaseBuilder) -> None:
        self._source = source
        self._builder = builder

    def __iter__(self) -> Iterator[Case]:
        findings = Findings()
        build = self._builder.build
        for raw in self._source:
            if isinstance(raw, Problem):
                raise SuiteError([raw])
            yield from build(raw, findings, check=False)
            if findings.problem_count:
                findings.raise_if_any()


class HeldCases:
    """Keeps the cases of files that fit into `HELD_BYTES` together: to finish each again costs a tenth of a cell."""

    def __init__(self) -> None:
        self._bytes_left = HELD_BYTES

    def part(
        self, source: CaseSource, checked: Iterable[tuple[Case, int]], builder: CaseBuilder
    ) -> Iterable[Case]:
        """The cases of a source for later, after `checked` was read to its end.

        Each comes with the memory that it takes. Where they do not fit, the source is read again instead.
        """
        kept: list[Case] | None = []
        left = self._bytes_left
        for case, memory in checked:
            if kept is None:
                continue
            left -= memory
            if left < 0:
                kept = None
            else:
                kept.append(case)
        if kept is None:
            return StreamedCases(source, builder)
        self._bytes_left = left
        return kept


class CaseStream:
    """All cases of a suite in their order."""

    def __init__(self, parts: Sequence[Iterable[Case]], count: int) -> None:
        self._parts = parts
        self._count = count
        self.is_held = not any(isinstance(part, StreamedCases) for part in parts)

    def __iter__(self) -> Iterator[Case]:
        for part in self._parts:
            yield from part

    def __len__(self) -> int:
        return self._count


class WrittenCases:
    """The cases that stand in the suite itself, one after the other."""

    def __init__(self, cases: list[RawCase]) -> None:
        self._cases = cases

    def __iter__(self) -> Iterator[RawCase | Problem]:
        return iter(self._cases)


def raw_case(document: dict[str, Any], index: int, origin: Any) -> RawCase:
    """A case that stands in the suite's `tests` at `index`."""
    return RawCase(document=document, auto_id=f"inline/{index}", origin=origin, base_path=("tests", index))
