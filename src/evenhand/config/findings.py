"""Problems and warnings as loading finds them, each with its place, until all are shown at once."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from evenhand.config.raw_case import Origin
from evenhand.errors import DocumentPath, Location, Problem, SuiteError

MAX_SHOWN = 100
"""Problems of a suite that are listed, and warnings that are kept; of the rest, the number is told."""

MAX_KEPT = 1_000
"""Problems kept for sorting; a large broken test file must not fill the memory."""


@runtime_checkable
class KeyedOrigin(Protocol):
    """An origin that also knows where keys stand."""

    def locate_key(self, path: DocumentPath) -> Location:
        """The place of the key that `path` ends in."""
        ...


class Findings:
    """Everything that one load found to be wrong or suspicious."""

    def __init__(self) -> None:
        self._problems: list[Problem] = []
        self._warnings: list[Problem] = []
        self._said: set[object] = set()
        self.problem_count = 0
        self.warning_count = 0
        self.voiced = 0
        """Grows with each problem, warning and question: where it stays, a check had nothing to say."""

    def add(self, problem: Problem) -> None:
        """Note something that keeps the suite from running."""
        self.problem_count += 1
        self.voiced += 1
        if len(self._problems) < MAX_KEPT:
            self._problems.append(problem)

    def warn(self, warning: Problem) -> None:
        """Note something legal but suspicious."""
        self.warning_count += 1
        self.voiced += 1
        if len(self._warnings) < MAX_SHOWN:
            self._warnings.append(warning)

    def first_time(self, key: object) -> bool:
        """Whether this is the first question about `key`: what would repeat in every case is said once."""
        self.voiced += 1
        if key in self._said:
            return False
        self._said.add(key)
        return True

    def raise_if_any(self) -> None:
        """Raise `SuiteError` with the problems in the order of their places, if there are any."""
        if self.problem_count:
            raise SuiteError(_shown(self._problems, self.problem_count, "problem"))

    def warnings(self) -> tuple[Problem, ...]:
        """The warnings in the order of their places."""
        return tuple(_shown(self._warnings, self.warning_count, "warning"))


class Place:
    """A value in a document, at which something can be reported."""

    __slots__ = ("findings", "origin", "path")

    def __init__(self, findings: Findings, origin: Origin, path: DocumentPath = ()) -> None:
        self.findings = findings
        self.origin = origin
        self.path = path

    def inside(self, *steps: str | int) -> Place:
        """The place of a value inside this one."""
        return Place(self.findings, self.origin, (*self.path, *steps))

    @property
    def location(self) -> Location:
        """Where the value stands in its file."""
        return self.origin.locate(self.path)

    def report(self, message: str, hint: str = "") -> None:
        """Report a problem with this value."""
        self.add(Problem(message, hint=hint))

    def report_key(self, key: str, message: str, hint: str = "") -> None:
        """Report a problem with a key of this mapping, at the key itself."""
        path = (*self.path, key)
        locate = self.origin.locate_key if isinstance(self.origin, KeyedOrigin) else self.origin.locate
        self.findings.add(Problem(message, path, hint, locate(path)))

    def adopt(self, error: SuiteError) -> None:
        """Report the problems of a reader; those without a place of their own belong to this value."""
        for problem in error.problems:
            self.add(problem) if problem.location is None else self.findings.add(problem)

    def warn(self, message: str, hint: str = "") -> None:
        """Report something suspicious about this value."""
        self.add_warning(Problem(message, hint=hint))

    def add(self, problem: Problem) -> None:
        """Report a problem whose path begins at this value."""
        self.findings.add(self._placed(problem))

    def add_warning(self, warning: Problem) -> None:
        """Report something suspicious whose path begins at this value."""
        self.findings.warn(self._placed(warning))

    def _placed(self, problem: Problem) -> Problem:
        path = (*self.path, *problem.path)
        return problem._replace(path=path, location=problem.location or self.origin.locate(path))


def _shown(problems: list[Problem], count: int, word: str) -> list[Problem]:
    ordered = sorted(problems, key=lambda problem: (problem.location or Location(""), problem.message))
    if count <= MAX_SHOWN:
        return ordered
    return [*ordered[:MAX_SHOWN], Problem(f"only the first {MAX_SHOWN} of {count:,} {word}s are listed")]
