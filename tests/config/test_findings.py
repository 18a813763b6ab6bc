"""All problems at once, in the order of their places, and no flood."""

from __future__ import annotations

import pytest

from evenhand.config.findings import MAX_KEPT, MAX_SHOWN, Findings, Place
from evenhand.config.yaml_reader import read_yaml
from evenhand.errors import Location, Problem, SuiteError

DOCUMENT = read_yaml("a: 1\nb:\n  c: 2\n", "f.yaml")


def shown(findings: Findings) -> list[str]:
    with pytest.raises(SuiteError) as caught:
        findings.raise_if_any()
    return [str(problem) for problem in caught.value.problems]


def test_nothing_is_raised_without_problems() -> None:
    Findings().raise_if_any()


def test_problems_are_sorted_by_place() -> None:
    findings = Findings()
    root = Place(findings, DOCUMENT)
    root.inside("b", "c").report("second")
    root.report_key("b", "at its key", "mend it")
    root.inside("a").report("first")
    assert shown(findings) == [
        "f.yaml:1:4: a: first",
        "f.yaml:2:1: b: at its key; mend it",
        "f.yaml:3:6: b.c: second",
    ]


def test_problems_of_a_reader_are_placed_where_they_have_no_place() -> None:
    findings = Findings()
    own = Problem("elsewhere", ("x",), location=Location("g.yaml", 7))
    Place(findings, DOCUMENT, ("a",)).adopt(SuiteError([own, Problem("here")]))
    assert shown(findings) == ["f.yaml:1:4: a: here", "g.yaml:7: x: elsewhere"]


def test_of_many_problems_a_hundred_are_listed_and_all_are_counted() -> None:
    findings = Findings()
    for number in range(MAX_KEPT + 500):
        Place(findings, DOCUMENT).report(f"number {number}")
    lines = shown(findings)
    assert len(lines) == MAX_SHOWN + 1
    assert lines[-1] == "only the first 100 of 1,500 problems are listed"


def test_of_many_warnings_a_hundred_are_kept() -> None:
    findings = Findings()
    for number in range(150):
        Place(findings, DOCUMENT).warn(f"number {number}")
    assert len(findings.warnings()) == MAX_SHOWN + 1
    assert findings.warnings()[-1].message == "only the first 100 of 150 warnings are listed"


def test_a_question_is_new_once() -> None:
    findings = Findings()
    assert [findings.first_time(("a", 1)), findings.first_time(("a", 1)), findings.first_time("b")] == [
        True,
        False,
        True,
    ]
