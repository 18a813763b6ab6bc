from __future__ import annotations

import io

from hypothesis import given, settings

from evenhand.model.exchange import ToolCall, Usage
from evenhand.model.outcome import Outcome, Status
from evenhand.model.result import CaseResult, CaseStatus, Run
from evenhand.report.detail import render
from evenhand.report.formats import Page
from support.golden import assert_golden
from support.results import SAMPLE_CASES, SAMPLE_RUN, assertion, case_results, cell_result, query, run_of

MEMBERS = (
    assertion(
        "javascript",
        "fail",
        "two of three",
        0.5,
        details={"console": ["so"]},
        parts=(
            Outcome(status=Status.FAIL, score=0.0, reason="no title"),
            {"status": "pass", "reason": "short"},
        ),
    ),
    {"kind": "contains", "status": "pass", "score": 1.0, "reason": "as stored", "criteria": {"negate": True}},
    {"what": "of a newer version"},
)


def detail(run: Run, *cases: CaseResult) -> str:
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="strict", newline="")
    render(run, query(cases), out)
    out.seek(0)
    return out.read()


def test_one_case_of_each_status_is_shown_in_full() -> None:
    by_status = {case.status: case for case in reversed(SAMPLE_CASES)}
    assert set(by_status) == set(CaseStatus)
    assert_golden("report/detail.txt", detail(SAMPLE_RUN, *(by_status[status] for status in CaseStatus)))


def test_everything_that_was_learned_is_shown() -> None:
    case = cell_result(
        "t",
        "fail",
        assertion("is-json", "fail", "no", 0.0, details={"errors": [1]}),
        assertion("all-of", "fail", "one failed", 0.0, parts=MEMBERS),
        name="What it is",
        vars={"q": "why?", "n": 3},
        tool_calls=(ToolCall(name="look_up", arguments={"id": 7}),),
        reasoning="I think",
        output="",
        model="model-1",
        stop_reason="end",
        empty_reason="blank",
        latency_ms=12.0,
        attempts=2,
        cached=True,
        usage=Usage(input_tokens=5, cache_read_tokens=2, output_tokens=3),
        cost_usd=0.5,
        tags=("a", "b"),
        score=0.25,
        unchecked=True,
        error_details={"stderr": "x", "status": 1, "body": "two\nlines\n", "console": ["half way"]},
        request={"command": ["./app", "two words"], "env": ["TOKEN"], "stdin": "{}", "left_out_bytes": 5},
        raw={"id": "r"},
    )
    assert_golden("report/detail-full.txt", detail(run_of([case], repeat=2), case))


def test_a_kept_answer_is_shown_with_what_was_keyed() -> None:
    out = io.StringIO()
    case = cell_result("t", "pass", cache_key="sha256:12")
    page = Page(kept_question=lambda key: {"of": key})
    render(SAMPLE_RUN, query([case]), out, page)
    assert 'question of the kept answer\n│ {\n│   "of": "sha256:12"\n│ }\n' in out.getvalue()


def test_a_long_output_is_shown_whole() -> None:
    text = detail(SAMPLE_RUN, cell_result("t", "pass", output="\n".join(f"line {n}" for n in range(5_000))))
    assert "│ line 4999\n" in text


def test_what_changed_is_coloured_where_there_are_colours() -> None:
    out = io.StringIO()
    old, new = (cell_result("t", "pass", output=f"it takes {days} days") for days in ("two", "ten"))
    render(SAMPLE_RUN, query([new]), out, Page(color=True), past=lambda _: ("01OLD", old))
    assert "\x1b[31m[-\x1b[0m\x1b[31mtwo\x1b[0m\x1b[31m-]\x1b[0m\x1b[32m{+" in out.getvalue()


@settings(max_examples=60, deadline=None)
@given(case_results)
def test_any_case_can_be_shown(case: CaseResult) -> None:
    assert all(line.isprintable() for line in detail(run_of([case]), case).split("\n"))
