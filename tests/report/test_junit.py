from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.model.result import CaseResult, CaseStatus
from evenhand.report.junit import MAX_TEXT
from support.results import SAMPLE_CASES, SAMPLE_RUN, assertion, case_results, cell_result, rendered, run_of

ELEMENTS = {
    CaseStatus.PASS: [],
    CaseStatus.FAIL: ["failure"],
    CaseStatus.XPASS: ["failure"],
    CaseStatus.ERROR: ["error"],
    CaseStatus.SKIP: ["skipped"],
    CaseStatus.XFAIL: ["skipped"],
}


def suite_of(cases: list[CaseResult], **fields: object) -> ET.Element:
    """The one test suite of the document, read by a real parser."""
    root = ET.fromstring(rendered("junit", run_of(cases, **fields), cases))
    assert root.tag == "testsuites"
    [suite] = root
    return suite


def only(case: CaseResult) -> ET.Element:
    test_case = suite_of([case]).find("testcase")
    assert test_case is not None
    return test_case


@settings(max_examples=150, deadline=None)
@given(st.lists(case_results, max_size=4))
def test_document_parses_and_counts_what_it_holds_whatever_a_model_said(cases: list[CaseResult]) -> None:
    suite = suite_of(cases)
    found = suite.findall("testcase")
    assert [[e.tag for e in case if e.tag in ("failure", "error", "skipped")] for case in found] == [
        ELEMENTS[case.status] for case in cases
    ]
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert int(suite.get(attribute, "")) == len(suite.findall(f"testcase/{tag}"))
    assert int(suite.get("tests", "")) == len(cases)


@settings(max_examples=100, deadline=None)
@given(st.lists(case_results, max_size=6, unique_by=lambda case: case.cell))
def test_test_cases_have_unique_names(cases: list[CaseResult]) -> None:
    names = [case.get("name") for case in suite_of(cases).findall("testcase")]
    assert len(set(names)) == len(cases)


def test_a_failure_carries_the_reason_of_each_assertion() -> None:
    failure = only(SAMPLE_CASES[0]).find("failure")
    assert failure is not None
    assert failure.get("type") == "assertion"
    assert failure.get("message") == (
        'contains: expected the output to contain "14 days", found "You can return the order within 30 days." '
        "(and 1 more failed)"
    )
    assert failure.text == (
        '[fail] contains (score 0, weight 1): expected the output to contain "14 days", '
        'found "You can return the order within 30 days."\n'
        "[fail] length (score 0, weight 2): expected at most 80 characters, found 139\n"
        '[pass] icontains (score 1, weight 1): found "return" at 8'
    )


def test_a_missed_threshold_says_so_where_no_assertion_failed() -> None:
    failure = only(cell_result("t", "fail", assertion("javascript", "pass", "half", 0.5), score=0.5)).find(
        "failure"
    )
    assert failure is not None
    assert failure.get("message") == "the score 0.5 misses the threshold of the case"


def test_an_error_carries_its_class() -> None:
    error = only(cell_result("t", "error", error="no answer", error_class="provider_timeout")).find("error")
    assert error is not None
    assert (error.get("message"), error.get("type")) == ("no answer", "provider_timeout")
    bare = only(cell_result("t", "error")).find("error")
    assert bare is not None
    assert (bare.get("message"), bare.get("type")) == ("error", "unknown")


@pytest.mark.parametrize(
    ("case", "tag", "message"),
    [
        (cell_result("t", "xpass", expect_fail_reason="bug"), "failure", "expected to fail, but passed: bug"),
        (cell_result("t", "xfail", expect_fail_reason=""), "skipped", "failed as expected"),
        (
            cell_result("t", "skip", empty_reason="refusal"),
            "skipped",
            "skipped, the output is empty: refusal",
        ),
    ],
)
def test_expected_failures_and_skips_say_why(case: CaseResult, tag: str, message: str) -> None:
    element = only(case).find(tag)
    assert element is not None
    assert element.get("message") == message


@pytest.mark.parametrize("character", ["\x00", "\x08", "\x1b", "\ufffe", "\uffff", "\ud800"])
def test_a_character_that_xml_cannot_hold_is_escaped(character: str) -> None:
    output = only(cell_result("t", "fail", output=f"a{character}b")).findtext("system-out")
    assert output == f"output:\na{character.encode('unicode_escape').decode()}b"


@pytest.mark.parametrize(
    "text", ["]]>", "<![CDATA[", "&amp;", "a\rb\r\nc\n", "\t", "\"'", "\u2028\x85", "<!-- -->"]
)
def test_any_other_text_is_kept_exactly(text: str) -> None:
    case = only(cell_result("t", "fail", assertion("equals", "fail", text), output=text))
    assert case.findtext("system-out") == f"output:\n{text}"
    failure = case.find("failure")
    assert failure is not None
    assert failure.get("message") == f"equals: {text}"


def test_a_long_output_is_cut_and_says_so() -> None:
    output = only(cell_result("t", "fail", output="x" * (MAX_TEXT + 5_000))).findtext("system-out")
    assert output == f"output:\n{'x' * MAX_TEXT}\n… 5,000 more characters"


def test_a_passing_case_does_not_repeat_its_output() -> None:
    assert only(cell_result("t", "pass", output="x")).find("system-out") is None


def test_the_place_of_a_case_is_file_and_line() -> None:
    case = only(cell_result("t", "pass", location="cases/a.yaml:41:5"))
    assert (case.get("file"), case.get("line")) == ("cases/a.yaml", "41")
    assert only(cell_result("t", "pass")).get("file") is None
    assert only(cell_result("t", "pass", location="cases.csv")).get("file") == "cases.csv"


def test_properties_tell_run_and_case() -> None:
    suite = ET.fromstring(rendered("junit", SAMPLE_RUN, SAMPLE_CASES))[0]
    run = {p.get("name"): p.get("value") for p in suite.findall("properties/property")}
    assert run["run_id"] == SAMPLE_RUN.run_id
    assert run["exit_code"] == "3"
    assert run["git_commit"] == "2f1c9e0d4b"
    case = [(p.get("name"), p.get("value")) for p in suite[1].findall("properties/property")]
    assert ("tag", "smoke") in case
    assert ("cost_usd", "0.0004") in case


def test_repeats_are_named_in_a_repeated_run() -> None:
    cases = [cell_result("t", "pass", repeat=number) for number in range(2)]
    names = [case.get("name") for case in suite_of(cases, repeat=2).findall("testcase")]
    assert names == ["t [small-model · qa · #0]", "t [small-model · qa · #1]"]


def test_times_are_seconds_and_the_timestamp_has_no_fraction() -> None:
    suite = ET.fromstring(rendered("junit", SAMPLE_RUN, SAMPLE_CASES))[0]
    assert suite.get("time") == "12.400"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.get("timestamp", ""))
    assert suite.findall("testcase")[0].get("time") == "0.312"
