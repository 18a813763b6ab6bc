"""What a run would ask and cost, before anything is asked."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from evenhand.api import estimate_run, run_suite
from evenhand.errors import SuiteError, UsageError
from evenhand.model.exchange import Request, Response, Usage
from evenhand.model.provider import Provider
from evenhand.providers.anthropic import Anthropic
from evenhand.providers.openai import OpenAI
from evenhand.run.estimate import ANSWER_TOKENS, Estimate, estimate
from evenhand.run.options import RunOptions
from evenhand.run.plan import Cell, Plan
from support.crossed import chat
from support.machinery import machinery
from support.written import load

MODEL = {"id": "sut", "type": "openai", "model": "gpt-5-mini"}
JUDGE = {"provider": {"id": "judge", "type": "anthropic", "model": "claude-haiku-4-5"}}
VECTORS = {"id": "vec", "type": "embeddings", "model": "text-embedding-3-small"}
PROGRAM = {
    "id": "program",
    "type": "exec",
    "command": [sys.executable, "-c", 'import json, sys; json.load(sys.stdin); print(\'{"output": "x"}\')'],
}
ASK = [{"id": "p", "template": "{{ q }}"}]


def document(*asserts: dict[str, Any], **fields: Any) -> dict[str, Any]:
    tests = [{"id": f"c{n}", "vars": {"q": "x" * 400}, "assert": list(asserts)} for n in range(3)]
    return {"providers": [MODEL, {"id": "own", "type": "echo"}], "prompts": ASK, "tests": tests, **fields}


def rows(found: Estimate) -> dict[tuple[str, str], tuple[int, int, int, float | None]]:
    return {
        (row.role, row.provider_id): (row.calls, row.input_tokens, row.output_tokens, row.cost_usd)
        for row in found.calls
    }


def test_calls_and_tokens_are_counted_by_provider_and_priced(tmp_path: Path) -> None:
    found = estimate_run(load(tmp_path, document({"type": "contains", "value": "x"})), RunOptions(repeat=2))
    assert found.cells == 12
    assert rows(found) == {
        ("system", "sut"): (6, 6 * 104, 6 * ANSWER_TOKENS, pytest.approx(6 * (104 * 0.25 + 300 * 2) / 1e6)),
        ("system", "own"): (6, 6 * 104, 6 * ANSWER_TOKENS, None),
    }
    assert (found.unpriced_calls, found.cost_usd) == (6, pytest.approx(0.003756))


def test_graders_are_counted_as_if_never_skipped(tmp_path: Path) -> None:
    suite = document(
        {"type": "llm-rubric", "value": "is kind"}, {"type": "similar", "value": "x"}, grader=JUDGE
    )
    suite["providers"].append(VECTORS)
    found = rows(estimate_run(load(tmp_path, suite), RunOptions(providers=("sut",))))
    assert {name: row[0] for name, row in found.items()} == {
        ("system", "sut"): 3,
        ("grader", "judge"): 3,
        ("grader", "vec"): 6,
    }
    assert all(row[3] for row in found.values())


def test_parameters_that_keep_answers_short_are_heeded() -> None:
    models: list[Provider] = [
        OpenAI(id="a", model="m", params={"max_completion_tokens": 20}),
        Anthropic(id="b", model="m", params={"max_tokens": 5_000}),
        OpenAI(id="c", model="m", params={"max_tokens": "many"}),
    ]
    assert [model.answer_tokens(300) for model in models] == [20, 300, 300]


def test_a_question_that_does_not_render_is_no_call(tmp_path: Path) -> None:
    suite = document({"type": "is-json"}, prompts=[{"id": "p", "template": "{{ q.missing.deep }}"}])
    found = estimate_run(load(tmp_path, suite))
    assert (found.cells, found.cells_without_question, found.calls) == (6, 6, ())


def test_answers_that_are_known_cost_nothing(tmp_path: Path) -> None:
    def known(cell: Cell, _: Request) -> Response | None:
        usage = Usage(input_tokens=1, output_tokens=1)
        return None if cell.case.id == "c0" else Response(output="x", usage=usage, cost_usd=9.0)

    suite = load(tmp_path, document({"type": "llm-rubric", "value": "is kind"}, grader=JUDGE))
    found = estimate(Plan(suite), known)
    systems = {row.provider_id: (row.calls, row.known) for row in found.calls if row.role == "system"}
    assert systems == {"sut": (1, 2), "own": (1, 2)}
    assert [(row.calls, row.known) for row in found.calls if row.role == "grader"] == [(6, 0)]


def test_what_would_refuse_a_run_refuses_its_estimate(tmp_path: Path) -> None:
    suite = load(tmp_path, document({"type": "llm-rubric", "value": "is kind"}))
    with pytest.raises(SuiteError, match="needs a grader"):
        estimate_run(suite)
    with pytest.raises(UsageError, match="no provider"):
        estimate_run(suite, RunOptions(providers=("nobody",)))


def test_answers_that_an_earlier_run_kept_are_known(tmp_path: Path) -> None:
    check = {"type": "contains", "value": "x"}
    tests = [{"id": f"c{n}", "vars": {"q": str(n)}, "assert": [check]} for n in range(3)]
    suite = load(tmp_path, document(providers=[PROGRAM], tests=tests))
    assert estimate_run(suite).calls[0].known == 0
    assert not (tmp_path / ".evenhand").exists()
    run_suite(suite, RunOptions(filters=("c0", "c1")))
    (row,) = estimate_run(suite).calls
    assert (row.calls, row.known) == (1, 2)
    (row,) = estimate_run(suite, RunOptions(no_cache=True)).calls
    assert (row.calls, row.known) == (3, 0)


def test_answers_of_a_twin_at_another_address_are_not_taken_for_known(tmp_path: Path) -> None:
    with machinery() as one, machinery() as two:
        twins = [chat(name, seen.url, model="same") for name, seen in (("one", one), ("two", two))]
        check = {"type": "contains", "value": "blue"}
        tests = [{"id": "c", "vars": {"q": "[say blue]"}, "assert": [check]}]
        suite = load(tmp_path, document(providers=twins, tests=tests))
        run_suite(suite, RunOptions(providers=("one",)))
    assert [(row.calls, row.known) for row in estimate_run(suite).calls] == [(0, 1), (1, 0)]
