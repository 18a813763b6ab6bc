"""Laws of whole runs, whatever features a suite crosses: interrupted, kept, judged again, reported, paid for."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from evenhand import SuiteError
from evenhand.compare.changes import compared
from evenhand.compare.references import Reference
from evenhand.compare.run_file import read_run_file
from evenhand.errors import ExitCode, exit_code_of
from evenhand.model.comparison import GateVerdict
from evenhand.model.result import CaseResult, RunStatus, Summary
from evenhand.report import REPORTS
from evenhand.store.state import store_path
from evenhand.store.store import open_store
from support.crossed import Told, executed, plain, suites, write
from support.machinery import Machinery, machinery

EXAMPLES = 6
"""Suites for each law: enough to notice a law that is broken widely. A search for rare faults needs hundreds."""

lean = settings(
    max_examples=EXAMPLES,
    suppress_health_check=[
        HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.function_scoped_fixture
    ],
)  # fmt: skip

MONEY = {"cost_usd", "grader_cost_usd", "cache_savings_usd", "cache_hits", "cache_misses", "retried_cases"}
"""Of a summary: what depends on who had to be asked."""
SYSTEMS, GRADERS = ("system", "spare", "endpoint"), ("judge", "vectors")

Document = dict[str, Any]


def begun(folder: Path, document: Document, seen: Machinery, **options: Any) -> Told:
    """A first run of a suite; suites that are refused at load are passed over."""
    try:
        return executed(write(folder, document, seen.url), **options)
    except SuiteError:
        assume(False)
        raise


def verdicts(told: Told) -> dict[str, Any]:
    """Everything that was found, by cell, but for what a server's address is part of."""
    return {
        case.case_key: (
            case.status, case.score, case.output, case.error_class, case.unchecked, case.answered_by_provider_id,
            [(a.kind, a.status, a.score) for a in case.asserts], case.named_scores, case.index, case.repeats,
            case.decision,
        )
        for case in told.cases
    }  # fmt: skip


def found(summary: Summary) -> Any:
    return plain(summary, MONEY)


def cents(value: float | None) -> float:
    return round(value or 0.0, 6)


def hold_to_the_bill(told: Told, seen: Machinery, before: Mapping[str, int] = {}) -> None:
    """What a run says it cost is what the server charged meanwhile."""
    charged = {role: (seen.bill_usd[role] - before.get(role, 0)) / 1_000_000 for role in (*SYSTEMS, *GRADERS)}
    assert cents(told.run.summary.cost_usd) == cents(sum(charged[role] for role in SYSTEMS))
    assert cents(told.run.summary.grader_cost_usd) == cents(sum(charged[role] for role in GRADERS))


def expected_exit(told: Told) -> int:
    """The exit code that the documents name for these results."""
    ends = Counter(case.status.value for case in told.cases)
    faults = {exit_code_of(c.error_class or "unknown") for c in told.cases if c.status == "error"}
    judged = [
        case
        for case in told.cases
        if case.status in ("pass", "fail", "xpass", "xfail")
        and any(a.status in ("pass", "fail") and not a.unenforced for a in case.asserts)
    ]
    if faults:
        return 3 if ExitCode.HARNESS in faults else 2
    if not judged or all(case.answered_by_provider_id for case in judged):
        return 2
    gate = told.run.gate
    if gate is None:
        return int(ends["fail"] + ends["xpass"] > 0)
    if gate.verdict is GateVerdict.NOT_ENOUGH_EVIDENCE:
        return 2
    return int(gate.verdict is GateVerdict.REGRESSED or ends["xpass"] > 0)


@lean
@given(suites())
def test_exit_code_and_totals_and_cost_follow_from_the_results(
    tmp_path_factory: pytest.TempPathFactory, document: Document
) -> None:
    with machinery() as seen:
        told = begun(tmp_path_factory.getbasetemp() / "told", document, seen)
        hold_to_the_bill(told, seen)
    assert told.run.exit_code == expected_exit(told)
    summary, ends = told.run.summary, Counter(case.status.value for case in told.cases)
    counted = (
        summary.passed,
        summary.failed,
        summary.errored,
        summary.skipped,
        summary.xfailed,
        summary.xpassed,
    )
    assert counted == tuple(ends[name] for name in ("pass", "fail", "error", "skip", "xfail", "xpass"))
    assert summary.total == len(told.cases)


@lean
@given(suites())
def test_run_from_kept_answers_finds_the_same_and_pays_nothing_twice(
    tmp_path_factory: pytest.TempPathFactory, document: Document
) -> None:
    folder = tmp_path_factory.getbasetemp() / "kept"
    with machinery() as seen:
        cold = begun(folder, document, seen)
        before = Counter(seen.bill_usd)
        warm = executed(folder)
        hold_to_the_bill(warm, seen, before)
        calls = seen.total
        executed(folder, cache_only=True)
        assert seen.total == calls
    assert verdicts(warm) == verdicts(cold)
    assert found(warm.run.summary) == found(cold.run.summary)
    assert warm.run.exit_code == cold.run.exit_code


@lean
@given(
    suites(),
    st.integers(1, 6),
    st.sampled_from(["interrupt_after", "max_failures", "max_cost_usd"]),
    st.booleans(),
)
def test_run_that_was_cut_off_and_resumed_equals_one_that_was_not(
    tmp_path_factory: pytest.TempPathFactory, document: Document, after: int, how: str, no_cache: bool
) -> None:
    folder = tmp_path_factory.getbasetemp() / "resumed"
    with machinery() as seen:
        whole = begun(folder, document, seen, no_cache=no_cache)
        calls = seen.total
    with machinery() as seen:
        limit = after * 0.002 if how == "max_cost_usd" else after
        told = begun(folder, document, seen, no_cache=no_cache, **{how: limit})
        run_id = told.run.run_id
        while told.run.status is not RunStatus.FINISHED:
            told = executed(folder, resume=True, no_cache=no_cache)
        assert told.run.run_id == run_id
        if how != "interrupt_after":  # what was in flight then is asked again
            assert seen.total == calls
            hold_to_the_bill(told, seen)
    assert verdicts(told) == verdicts(whole)
    assert found(told.run.summary) == found(whole.run.summary)
    assert told.run.exit_code == whole.run.exit_code


@lean
@given(suites())
def test_stored_answers_are_judged_again_as_before_for_nothing(
    tmp_path_factory: pytest.TempPathFactory, document: Document
) -> None:
    folder = tmp_path_factory.getbasetemp() / "rescored"
    with machinery() as seen:
        told = begun(folder, document, seen)
        before = Counter(seen.bill_usd)
        again = executed(folder, rescore=told.run.run_id)
        hold_to_the_bill(again, seen, before)
        assert all(seen.bill_usd[role] == before[role] for role in SYSTEMS)
    assert verdicts(again) == verdicts(told)
    assert found(again.run.summary) == found(told.run.summary)
    assert again.run.exit_code == told.run.exit_code


@lean
@given(suites())
def test_order_and_concurrency_and_the_cache_change_no_verdict(
    tmp_path_factory: pytest.TempPathFactory, document: Document
) -> None:
    folder = tmp_path_factory.getbasetemp() / "ordered"
    alone = {**document, "runner": {**document["runner"], "concurrency": 1}}
    crowd = {
        **document,
        "runner": {**document["runner"], "concurrency": 16},
        "tests": document["tests"][::-1],
    }
    with machinery() as seen:
        one = begun(folder, alone, seen, no_cache=True)
        hold_to_the_bill(one, seen)
    with machinery() as seen:
        many = begun(folder, crowd, seen)
        hold_to_the_bill(many, seen)
    without_place = {key: (*v[:8], *v[9:]) for key, v in verdicts(one).items()}
    assert without_place == {key: (*v[:8], *v[9:]) for key, v in verdicts(many).items()}
    assert one.run.exit_code == many.run.exit_code


def questions(document: Document, cases: Iterable[CaseResult]) -> set[tuple[str, str, int]]:
    """What must be asked: each repeat, or the question once where fewer repeats may decide it."""
    open_ended = {test["id"] for test in document["tests"] if isinstance(test.get("repeat"), dict)}
    return {
        (cell.provider_id, cell.test_id, 0 if cell.test_id in open_ended else cell.repeat)
        for cell in (case.cell for case in cases)
    }


@lean
@given(suites(), st.integers(0, 3))
def test_outage_of_the_judge_is_an_error_and_only_what_is_missing_is_paid_for_later(
    tmp_path_factory: pytest.TempPathFactory, document: Document, verdicts_until_then: int
) -> None:
    folder = tmp_path_factory.getbasetemp() / "outage"
    with machinery() as seen:
        seen.judge_is_down_after = verdicts_until_then
        told = begun(folder, document, seen)
        hold_to_the_bill(told, seen)
        assert told.run.exit_code == expected_exit(told)
        missing = questions(document, [c for c in told.cases if c.error_class == "grader_unavailable"])
        assert not missing or told.run.exit_code == ExitCode.HARNESS
        if not missing:
            return
        seen.judge_is_down_after = None
        before = Counter(seen.bill_usd)
        mended = executed(folder, failed=True)
        hold_to_the_bill(mended, seen, before)
    assert missing <= questions(document, mended.cases)
    assert not any(case.error_class == "grader_unavailable" for case in mended.cases)


def tallies_of_json(text: str) -> Counter[str]:
    return Counter(case["status"] for case in json.loads(text)["cases"])


def tallies_of_lines(text: str) -> Counter[str]:
    lines = [json.loads(line) for line in text.splitlines()]
    return Counter(line["status"] for line in lines if "cell" in line)


def tallies_of_rows(text: str) -> Counter[str]:
    return Counter(row["status"] for row in csv.DictReader(io.StringIO(text)))


READERS: dict[str, Callable[[str], Counter[str]]] = {
    "json": tallies_of_json, "jsonl": tallies_of_lines, "csv": tallies_of_rows,
}  # fmt: skip


@lean
@given(suites())
def test_every_report_has_every_case_and_a_document_that_is_taken_in_is_the_run(
    tmp_path_factory: pytest.TempPathFactory, document: Document
) -> None:
    folder = tmp_path_factory.getbasetemp() / "reported"
    with machinery() as seen:
        told = begun(folder, document, seen)
    run, summary = told.run, told.run.summary
    with open_store(store_path(folder / ".evenhand")) as store:

        def reported(name: str) -> str:
            out = io.StringIO()
            REPORTS[name].render(run, lambda **chosen: store.results(run.run_id, **chosen), out)
            return out.getvalue()

        ends = Counter(case.status.value for case in told.cases)
        assert {name: read(reported(name)) for name, read in READERS.items()} == dict.fromkeys(READERS, ends)
        counts = (summary.passed, summary.failed, summary.errored, summary.skipped)
        tally = "{} passed, {} failed, {} errored, {} skipped".format(*counts)
        assert [name for name in ("table", "md", "github") if tally not in reported(name)] == []
        tests = ET.fromstring(reported("junit"))
        assert len({(t.get("classname"), t.get("name")) for t in tests.iter("testcase")}) == summary.total
        outcomes = {tag: len(list(tests.iter(tag))) for tag in ("failure", "error", "skipped")}
        assert outcomes == {
            "failure": summary.failed + summary.xpassed,
            "error": summary.errored,
            "skipped": summary.skipped + summary.xfailed,
        }
        file = folder / "run.json"
        file.write_text(reported("json"), encoding="utf-8")
        taken, other = read_run_file(file)
        with other:
            assert taken == run
            assert [plain(c) for c in other.results(run.run_id)] == [
                plain(c) for c in store.results(run.run_id)
            ]
            same = compared(Reference(run.run_id, (run,), store), Reference(str(file), (taken,), other))
        assert (same.newly_failing, same.newly_passing, same.added, same.removed) == (0, 0, 0, 0)
