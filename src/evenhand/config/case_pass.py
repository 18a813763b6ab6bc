"""The one reading of all cases that finds what is wrong with any of them before the first call.

Cases written in the suite are kept, and those of files as long as they fit into a budget. Of others nothing stays
but hashes of eight bytes; where two agree, the sources are read once more to name both places.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from evenhand.config.case_builder import CaseBuilder
from evenhand.config.case_checks import CaseChecker
from evenhand.config.case_stream import CaseStream, HeldCases, WrittenCases, memory_of
from evenhand.config.document import CASE_ASSERT
from evenhand.config.findings import Findings, Place
from evenhand.config.ledger import Ledger
from evenhand.config.question_digest import PartDigest, canonical
from evenhand.config.raw_case import CaseSource, RawCase
from evenhand.errors import Location, Problem
from evenhand.model.suite import Case

_DEMANDED = (CASE_ASSERT, "transform")
"""Keys of a case that say what its answer must be."""

_NOT_ASKED = frozenset({"id", "description", "tags", *_DEMANDED})
"""Keys of a case that do not change what is asked; what is demanded has a digest of its own."""


class CasePass:
    """Reads every case once, checks it and notes what is needed about all of them."""

    def __init__(self, builder: CaseBuilder, checker: CaseChecker, findings: Findings) -> None:
        self._builder = builder
        self._checker = checker
        self._findings = findings
        self._ids = Ledger()
        self._contents = Ledger()
        self._count = 0
        self.tests = PartDigest()
        """Grows with what each case asks."""
        self.asserts = PartDigest()
        """Grows with what each case demands of the answer."""

        self.written: list[Case] = []
        """The cases that stand in the suite itself."""
        self.cases = CaseStream((), 0)
        """All cases, after `read`."""

    @property
    def has_graded_cases(self) -> bool:
        """Whether any case holds an assertion that asks a grader."""
        return self._checker.has_graded_cases

    @property
    def has_repeats(self) -> bool:
        """Whether any case says how often it is asked."""
        return self._checker.has_repeats

    def read(self, sources: Sequence[CaseSource]) -> None:
        """Read the cases of the sources; what is wrong with them is reported."""
        parts: list[Iterable[Case]] = []
        held = HeldCases()
        for source in sources:
            if isinstance(source, WrittenCases):
                cases = [case for case, _ in self._cases(source)]
                self.written += cases
                parts.append(cases)
            else:
                parts.append(held.part(source, self._cases(source), self._builder))
            for warning in getattr(source, "warnings", ()):
                self._findings.warn(warning)
        self._report_repeated(sources)
        self.cases = CaseStream(parts, self._count)

    def _cases(self, source: CaseSource) -> Iterator[tuple[Case, int]]:
        """The checked cases, each with about the memory that its values take."""
        for raw in source:
            if isinstance(raw, Problem):
                self._findings.add(raw)
                continue
            memory = memory_of(self._note(raw))
            place = Place(self._findings, raw.origin, raw.base_path)
            before = self._findings.problem_count
            for index, case in enumerate(self._builder.build(raw, self._findings, check=True)):
                is_whole = self._findings.problem_count == before
                self._checker.check(case, place, is_first=not index, is_whole=is_whole)
                self._ids.add(case.id)
                self._count += 1
                yield case, memory

    def _note(self, raw: RawCase) -> bytes:
        written_id = raw.document.get("id", raw.auto_id)
        name = str(written_id).encode("utf-8", "surrogatepass")
        asked, demanded = _content(raw)
        self.tests.add(name, asked)
        if demanded:
            self.asserts.add(name, demanded)
        content = asked + demanded
        self._contents.add(content)
        return content

    def _report_repeated(self, sources: Sequence[CaseSource]) -> None:
        ids = self._ids.repeated()
        if ids:
            self._report_ids(sources, ids)
        contents = self._contents.repeated()
        if contents:
            self._warn_of_contents(sources, contents)

    def _report_ids(self, sources: Sequence[CaseSource], suspects: frozenset[int]) -> None:
        first: dict[str, Location | None] = {}
        for raw in _raw_cases(sources):
            for case in self._builder.build(raw, Findings(), check=False):
                if Ledger.hash_of(case.id) not in suspects:
                    continue
                if case.id in first:
                    place = Place(self._findings, raw.origin, raw.base_path)
                    at = place.inside("id") if "id" in raw.document else place
                    message = f"duplicate case id {case.id!r}, first at {first[case.id]}"
                    at.report(message, "give each case its own `id`")
                first.setdefault(case.id, case.location)

    def _warn_of_contents(self, sources: Sequence[CaseSource], suspects: frozenset[int]) -> None:
        first: dict[bytes, Location] = {}
        for raw in _raw_cases(sources):
            content = b"".join(_content(raw))
            if Ledger.hash_of(content) not in suspects:
                continue
            place = Place(self._findings, raw.origin, raw.base_path)
            if content in first:
                place.warn(
                    f"the case asks and checks the same as the one at {first[content]}", "remove one of them"
                )
            first.setdefault(content, place.location)


def _raw_cases(sources: Sequence[CaseSource]) -> Iterator[RawCase]:
    for source in sources:
        yield from (raw for raw in source if not isinstance(raw, Problem))


def _content(raw: RawCase) -> tuple[bytes, bytes]:
    """What a raw case asks and what it demands of the answer, as canonical bytes."""
    document = raw.document
    asked = canonical([{key: document[key] for key in document if key not in _NOT_ASKED}, raw.is_data])
    demanded = [document[key] for key in _DEMANDED if key in document]
    return asked, b"".join(map(canonical, demanded))
