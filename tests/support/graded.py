"""Stand-ins for graded kinds: what the engine does with graders, before any grader."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from evenhand.errors import ErrorClass, GraderError
from evenhand.model.assertion import Assertion
from evenhand.model.evidence import Evidence
from evenhand.model.outcome import Outcome, failed, meets, passed

NAMES = ("llm-rubric", "similar", "exec")


class Graded(Assertion, frozen=True, kw_only=True, tag="stand-in"):
    """A graded assertion whose grade the test decides."""

    position: int
    threshold: float | None = None
    tier: ClassVar[Literal["local", "graded"]] = "graded"


class Grades:
    """Grades by the position of the assertion in its case, and the positions that were asked for."""

    def __init__(self, grades: Mapping[str, Mapping[str, Any]]) -> None:
        self.grades = grades
        self.asked: list[int] = []

    async def __call__(self, assertion: Assertion, evidence: Evidence) -> Outcome:
        assert isinstance(assertion, Graded)
        self.asked.append(assertion.position)
        grade = self.grades[str(assertion.position)]
        if "error_class" in grade:
            raise GraderError("the grader broke", ErrorClass(grade["error_class"]))
        if not 0 <= grade["score"] <= 1:
            raise GraderError("a score outside [0, 1]", ErrorClass.CHECKER_FAILED)
        threshold = assertion.threshold
        held = grade["pass"] if threshold is None else meets(grade["score"], threshold)
        make = passed if held else failed
        return assertion.settle(make("graded", score=grade["score"]), evidence)
