"""Results for tests of whatever reads them: a run that shows every case status, and strategies for any result."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from hypothesis import strategies as st

from evenhand.errors import ErrorClass
from evenhand.model.exchange import ToolCall, Usage
from evenhand.model.outcome import Status
from evenhand.model.result import (
    AssertResult,
    CaseResult,
    CaseStatus,
    CellKey,
    Git,
    Run,
    RunStatus,
    Summary,
)
from evenhand.report import PLAIN_PAGE, REPORTS, Cases, Page


def cell_result(test_id: str, status: str, *asserts: AssertResult, **fields: Any) -> CaseResult:
    """A result of `test_id`; `provider`, `prompt_id` and `repeat` choose the cell, other fields go into the result."""
    key = CellKey(
        provider_id=fields.pop("provider", "small-model"),
        prompt_id=fields.pop("prompt_id", "qa"),
        test_id=test_id,
        repeat=fields.pop("repeat", 0),
    )
    fields.setdefault("name", test_id)
    return CaseResult(cell=key, case_key=key.digest(), status=CaseStatus(status), asserts=asserts, **fields)


def assertion(
    kind: str, status: str, reason: str = "", score: float | None = None, **fields: Any
) -> AssertResult:
    """One assertion's result."""
    return AssertResult(kind=kind, status=Status(status), reason=reason, score=score, **fields)


SAMPLE_CASES: tuple[CaseResult, ...] = (
    cell_result(
        "refunds/partial",
        "fail",
        assertion(
            "contains",
            "fail",
            'expected the output to contain "14 days", found "You can return the order within 30 days."',
            0.0,
            criteria={"type": "contains", "value": "14 days"},
        ),
        assertion("length", "fail", "expected at most 80 characters, found 139", 0.0, weight=2.0),
        assertion("icontains", "pass", 'found "return" at 8', 1.0),
        location="cases/refunds.yaml:41:5",
        prompt={"text": "How long can a customer return a part of an order?"},
        output="You can return the order within 30 days.\nWrite to us first.\n\n1. Pack it.\n2. Label it.\n"
        "3. Bring it to a shop, or ask for somebody to come and fetch it from where you live.\n4. Wait.\n5. Done.\n",
        score=0.25,
        wall_ms=312.5,
        latency_ms=310.0,
        usage=Usage(input_tokens=21, output_tokens=44),
        cost_usd=0.0004,
        tags=("smoke", "refunds"),
    ),
    cell_result(
        "refunds/partial",
        "fail",
        assertion("contains", "fail", 'expected the output to contain "14 days", found ""', 0.0),
        provider="large-model",
        location="cases/refunds.yaml:41:5",
        prompt={"text": "How long can a customer return a part of an order?"},
        output="",
        empty_reason="truncated",
        score=0.0,
    ),
    cell_result(
        "hostile/markup",
        "fail",
        assertion(
            "icontains",
            "fail",
            'negated: expected the output not to contain "x", found "[red]x[/red] \\x1b[2J"',
            0.0,
            criteria={"type": "icontains", "value": "x", "negate": True},
        ),
        name="Markup, escape sequences and marks of direction stay what they are",
        location="cases/hostile.yaml:7:3",
        prompt={
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": [{"type": "text", "text": "Say x."}]},
            ]
        },
        output="[red]x[/red] \x1b[2J [/nope] \u202egnp.exe\u202c \x00 | `tick` <b>bold</b> ]]> 猫がいる"
        + "長い" * 60,
        score=0.0,
        tool_calls=(ToolCall(name="search", arguments={"q": "x"}),),
    ),
    cell_result(
        "known/bug",
        "xpass",
        assertion("contains", "pass", 'found "42" at 0', 1.0),
        expect_fail_reason="arithmetic is not its strength",
        output="42",
        score=1.0,
    ),
    cell_result(
        "score/low",
        "fail",
        assertion("javascript", "pass", "half of it", 0.5),
        output={"parts": [1, 2]},
        score=0.5,
    ),
    *(
        cell_result(
            f"billing/{number}",
            "error",
            error="no answer within 60000 ms",
            error_class=ErrorClass.PROVIDER_TIMEOUT,
            location=f"cases/billing.yaml:{number * 4 + 3}:3",
            attempts=3,
        )
        for number in range(7)
    ),
    cell_result(
        "template/late",
        "error",
        assertion("regex", "error", "invalid pattern: unclosed group", error_class=ErrorClass.ASSERT_FAILED),
        error="regex assertion errored: invalid pattern: unclosed group",
        error_class=ErrorClass.ASSERT_FAILED,
        error_details="  (14 days\n  ^ unclosed group",
        prompt={"text": "hello"},
        output="hello yourself",
    ),
    cell_result("refused", "skip", empty_reason="refusal", output=""),
    cell_result(
        "known/other", "xfail", assertion("contains", "fail", "no", 0.0), expect_fail_reason="", score=0.0
    ),
    *(
        cell_result(
            f"greeting/{number}", "pass", assertion("contains", "pass", "yes", 1.0), output="hello", score=1.0
        )
        for number in range(5)
    ),
    cell_result("nothing/asserted", "pass", output="hello", unchecked=True, score=1.0),
)

SAMPLE_RUN = Run(
    run_id="01JDZK4T5V8M2Q7R9XW3YB6CNE",
    status=RunStatus.FINISHED,
    project="shop",
    suite="support-quality",
    suite_path="examples/support/evenhand.yaml",
    started_at="2026-01-31T12:00:00.000Z",
    finished_at="2026-01-31T12:00:12.400Z",
    evenhand_version="0.1.0",
    config_digest="sha256:0f",
    git=Git(branch="main", commit="2f1c9e0d4b", dirty=True),
    planned_cells=len(SAMPLE_CASES),
    exit_code=3,
    summary=Summary(
        total=len(SAMPLE_CASES),
        passed=6,
        failed=4,
        errored=8,
        skipped=1,
        xfailed=1,
        xpassed=1,
        judged=12,
        unchecked=1,
        unenforced_budgets=2,
        judged_assertions=12,
        skipped_assertions=1,
        pass_rate=0.583,
        pass_rate_low=0.319,
        pass_rate_high=0.807,
        prompt_tokens=12_345,
        completion_tokens=2_345,
        cost_usd=0.0123,
        retried_cases=7,
        empty_counts={"truncated": 1, "refusal": 1},
        error_counts={"provider_timeout": 7, "assert_failed": 1},
        latency_ms_p50=310.0,
        latency_ms_p95=912.4,
        wall_ms=12_400.0,
    ),
)


def query(cases: Iterable[CaseResult]) -> Cases:
    """A query over results at hand, as a store answers it."""
    held = tuple(cases)

    def answer(*, statuses: Collection[CaseStatus] | None = None) -> Iterator[CaseResult]:
        return (case for case in held if statuses is None or case.status in statuses)

    return answer


def rendered(format: str, run: Run, cases: Iterable[CaseResult], page: Page = PLAIN_PAGE) -> str:
    """A report as text; fails where the text is not valid UTF-8."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="strict", newline="")
    REPORTS[format].render(run, query(cases), out, page)
    out.seek(0)
    return out.read()


hostile_text = st.text(
    st.one_of(
        st.characters(),  # unpaired surrogates included
        st.sampled_from(
            "\x00\x07\x1b\x7f\x85\u2028\u2029\u202e\u200b\ufeff\ufffe\uffff\ud800\udfff[]|`<>&'\"\\\r\n\t"
        ),
    ),
    max_size=60,
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | hostile_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(hostile_text, inner, max_size=3),
    max_leaves=6,
)
_finite = st.none() | st.floats(allow_nan=False, allow_infinity=False)


def _cell_keys() -> st.SearchStrategy[CellKey]:
    return st.builds(
        CellKey,
        provider_id=hostile_text,
        prompt_id=st.none() | hostile_text,
        test_id=hostile_text,
        repeat=st.integers(0, 3),
    )


assert_results = st.builds(
    AssertResult,
    kind=hostile_text,
    status=st.sampled_from(Status),
    score=_finite,
    weight=st.floats(0, 100),
    reason=hostile_text,
    details=json_values,
    criteria=json_values,
    parts=st.lists(json_values, max_size=2).map(tuple),
    error_class=st.none() | st.sampled_from(ErrorClass),
)
case_results = st.builds(
    CaseResult,
    cell=_cell_keys(),
    case_key=hostile_text,
    name=hostile_text,
    location=st.none() | hostile_text,
    tags=st.lists(hostile_text, max_size=2).map(tuple),
    status=st.sampled_from(CaseStatus),
    score=_finite,
    vars=st.dictionaries(hostile_text, json_values, max_size=2),
    prompt=json_values,
    output=json_values,
    tool_calls=st.lists(st.builds(ToolCall, name=hostile_text, arguments=json_values), max_size=2).map(tuple),
    asserts=st.lists(assert_results, max_size=3).map(tuple),
    error=st.none() | hostile_text,
    error_class=st.none() | st.sampled_from(ErrorClass) | hostile_text,
    error_details=json_values,
    expect_fail_reason=st.none() | hostile_text,
    empty_reason=st.none() | hostile_text,
    stop_reason=st.none() | hostile_text,
    reasoning=st.none() | hostile_text,
    cost_usd=_finite,
    latency_ms=st.none() | st.floats(0, 1e9),
    wall_ms=st.none() | st.floats(0, 1e9),
    attempts=st.integers(0, 5),
    raw=json_values,
    metadata=json_values,
    unchecked=st.booleans(),
)


def run_of(cases: Iterable[CaseResult], **fields: Any) -> Run:
    """A finished run whose summary counts exactly these results."""
    held = list(cases)

    def count(status: CaseStatus) -> int:
        return sum(case.status is status for case in held)

    errors: dict[str, int] = {}
    for case in held:
        if case.error_class is not None:
            errors[case.error_class] = errors.get(case.error_class, 0) + 1
    summary = Summary(
        total=len(held),
        passed=count(CaseStatus.PASS),
        failed=count(CaseStatus.FAIL),
        errored=count(CaseStatus.ERROR),
        skipped=count(CaseStatus.SKIP),
        xfailed=count(CaseStatus.XFAIL),
        xpassed=count(CaseStatus.XPASS),
        unchecked=sum(case.unchecked for case in held),
        error_counts=errors,
    )
    fields.setdefault("run_id", "01JDZK4T5V8M2Q7R9XW3YB6CNE")
    fields.setdefault("exit_code", 1)
    return Run(status=RunStatus.FINISHED, summary=summary, **fields)
