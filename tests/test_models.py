"""Runs against models on loopback: keys, bills, outages, and what must never be stored."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from evenhand import RunOptions, SuiteError, load_suite
from evenhand.api import run_suite_async
from evenhand.model.result import CaseResult, Run
from evenhand.report.encode import json_line
from support.servers import Server, serving, status
from support.vectors import row_id, topic

PLAIN = RunOptions()
KEY = "sk-very-secret-0123456789"
CHAT = {
    "choices": [{"message": {"content": "Paris"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 5, "completion_tokens": 1},
}


def verdict(passed: bool, score: float) -> dict[str, Any]:
    use = {
        "type": "tool_use",
        "id": "u",
        "name": "submit_verdict",
        "input": {"reasoning": "so", "pass": passed, "score": score},
    }
    return {"content": [use], "stop_reason": "tool_use", "usage": {"input_tokens": 100, "output_tokens": 20}}


def routed(**replies: Any) -> Callable[[web.Request], Any]:
    """A reply by the last word of the path: `completions`, `messages`, `embeddings`."""

    async def reply(request: web.Request) -> web.StreamResponse:
        found = replies[request.path.rsplit("/", 1)[-1]]
        found = await found(request) if callable(found) else found
        return found if isinstance(found, web.StreamResponse) else web.json_response(found)

    return reply


def suite(url: str, cases: int = 1, *, asserts: Any = None, **fields: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "providers": [{"id": "sut", "type": "openai", "model": "gpt-4o", "base_url": f"{url}/v1"}],
        "prompts": [{"id": "p", "template": "q{{ n }}"}],
        "grader": {
            "provider": {"id": "judge", "type": "anthropic", "model": "claude-haiku-4-5", "base_url": url}
        },
        "tests": [
            {"id": f"t{n}", "vars": {"n": n}, "assert": asserts or [{"type": "contains", "value": "Paris"}]}
            for n in range(cases)
        ],
        "runner": {"retries": {"max": 0}, "concurrency": 4},
        **fields,
    }


def run(
    folder: Path, *replies: Any, options: RunOptions = PLAIN, **fields: Any
) -> tuple[Run, list[CaseResult], Server]:
    async def work() -> tuple[Run, list[CaseResult], Server]:
        async with serving(*replies) as server:
            (folder / "evenhand.yaml").write_text(json.dumps(suite(server.url, **fields)), encoding="utf-8")
            finished = await run_suite_async(load_suite(folder), options, save=False)
            return finished.run, list(finished.cases()), server

    return asyncio.run(work())


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, KEY)


RUBRIC = [{"type": "llm-rubric", "value": "Names a city."}]


def test_a_judged_run_tells_both_bills(tmp_path: Path) -> None:
    reply = routed(completions=CHAT, messages=verdict(True, 0.75))
    finished, cases, server = run(tmp_path, reply, asserts=RUBRIC, cases=3)
    assert (finished.exit_code, [case.score for case in cases]) == (0, [0.75] * 3)
    assert finished.summary.cost_usd == pytest.approx(3 * (13 + 10) / 1e6)
    assert finished.summary.grader_cost_usd == pytest.approx(3 * 200 / 1e6)
    assert len(server.seen) == 6


@pytest.mark.parametrize("row", topic("grader-http"), ids=row_id)
def test_grader_status_vector(row: dict[str, Any], tmp_path: Path) -> None:
    reply = routed(completions=CHAT, messages=status(row["suite_fragment"]["grader_http_status"]))
    finished, (case,), _ = run(tmp_path, reply, asserts=RUBRIC)
    assert (case.status, case.error_class) == ("error", row["expected"]["error_class"])
    assert finished.exit_code == row["expected"]["exit_code"]


def test_a_judges_outage_in_the_middle_of_a_run_is_an_error_of_the_cells_it_hit(tmp_path: Path) -> None:
    asked = 0

    async def failing(request: web.Request) -> web.StreamResponse:
        nonlocal asked
        asked += 1
        return web.json_response(verdict(True, 1)) if asked <= 2 else web.Response(status=503)

    finished, cases, _ = run(tmp_path, routed(completions=CHAT, messages=failing), asserts=RUBRIC, cases=6)
    assert finished.exit_code == 3
    assert sorted(str(case.status) for case in cases) == ["error"] * 4 + ["pass"] * 2
    assert {case.error_class for case in cases if case.status == "error"} == {"grader_unavailable"}
    assert finished.summary.pass_rate == 1.0
    assert finished.summary.errored == 4


@pytest.mark.parametrize("who", ["completions", "messages"])
def test_refused_credentials_stop_the_calls_at_once(who: str, tmp_path: Path) -> None:
    replies: dict[str, Any] = {"completions": CHAT, "messages": verdict(True, 1), who: status(401, "bad key")}
    finished, cases, server = run(tmp_path, routed(**replies), asserts=RUBRIC, cases=60)
    assert finished.exit_code == 3
    assert {case.error_class for case in cases} == {"provider_auth"}
    assert 1 <= sum(who in seen.path for seen in server.seen) <= 4
    assert sum("not asked" in (case.error or "") for case in cases) >= 56


def test_a_wait_that_is_asked_for_is_kept_and_one_that_is_too_long_ends_the_attempts(tmp_path: Path) -> None:
    runner = {"retries": {"max": 2, "retry_after_max_ms": 1_000}}
    finished, (case,), server = run(tmp_path, status(429, Retry_After="0"), CHAT, runner=runner)
    assert (finished.exit_code, case.attempts, len(server.seen)) == (0, 2, 2)
    finished, (case,), server = run(tmp_path, status(429, Retry_After="86400"), runner=runner)
    assert (finished.exit_code, case.error_class, len(server.seen)) == (3, "provider_rate_limit", 1)
    assert "asks to wait 86,400 s" in (case.error or "")


def test_no_retries_means_one_request(tmp_path: Path) -> None:
    finished, _, server = run(tmp_path, status(429), options=RunOptions(retries=0))
    assert (finished.exit_code, len(server.seen)) == (3, 1)


def test_missing_keys_are_named_together_before_any_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "")
    with pytest.raises(SuiteError) as refused:
        run(tmp_path, CHAT, asserts=RUBRIC)
    assert [problem.message for problem in refused.value.problems] == [
        "provider 'sut' has no key: `OPENAI_API_KEY` is not set",
        "provider 'judge' has no key: `ANTHROPIC_API_KEY` is not set",
    ]


def test_a_key_that_no_selected_case_needs_may_be_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    finished, _, _ = run(tmp_path, CHAT)
    assert finished.exit_code == 0


def test_no_secret_is_stored_whatever_repeats_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAINLY_NAMED", "abcdefgh-by-api-key-env")
    monkeypatch.setenv("IN_HEADER", "ijklmnop-by-template")
    secrets = ["abcdefgh-by-api-key-env", "ijklmnop-by-template", "qrstuvwx-in-the-suite"]
    provider = {
        "id": "sut",
        "type": "openai",
        "model": "m",
        "api_key_env": "PLAINLY_NAMED",
        "request": {"headers": {"X-Token": "{{ env.IN_HEADER }}", "X-Auth": "Bearer qrstuvwx-in-the-suite"}},
    }

    async def work() -> str:
        repeat = {"choices": [{"message": {"content": " ".join(secrets)}}]}
        async with serving(repeat) as server:
            document = suite(server.url, providers=[{**provider, "base_url": server.url}])
            judge = {"provider": {**provider, "id": "j", "base_url": server.url}}
            document["tests"][0]["assert"] = [{**RUBRIC[0], "grader": judge}]
            (tmp_path / "evenhand.yaml").write_text(json.dumps(document), encoding="utf-8")
            finished = await run_suite_async(load_suite(tmp_path), save=False)
            return "\n".join(json_line(case) for case in finished.cases())

    stored = asyncio.run(work())
    assert "[redacted]" in stored
    assert [secret for secret in secrets if secret in stored] == []


LOG_PROBS = [{"token": "Paris", "logprob": -0.1, "bytes": [], "top_logprobs": []}]
ITEMS = [
    {
        "type": "message",
        "content": [{"type": "output_text", "text": "Paris", "logprobs": LOG_PROBS}],
    }
]
SEES = (
    "context.logProbs.content[0].token === 'Paris' && context.metadata.id === 'a-1' && "
    "context.providerResponse.metadata.id === 'a-1'"
)


@pytest.mark.parametrize(
    ("api", "reply"),
    [
        ("responses", {"id": "a-1", "status": "completed", "output": ITEMS}),
        (
            "chat",
            {**CHAT, "id": "a-1", "choices": [{**CHAT["choices"][0], "logprobs": {"content": LOG_PROBS}}]},
        ),
    ],
)
def test_scripts_see_log_probabilities_and_metadata(api: str, reply: Any, tmp_path: Path) -> None:
    async def work() -> Run:
        async with serving(reply) as server:
            document = suite(server.url, asserts=[{"type": "javascript", "value": SEES}])
            document["providers"][0]["api"] = api
            (tmp_path / "evenhand.yaml").write_text(json.dumps(document), encoding="utf-8")
            return (await run_suite_async(load_suite(tmp_path), save=False)).run

    assert asyncio.run(work()).exit_code == 0


SEED_LIKE = """
version: 1
project: docs-demo
suite: assistant-quality
grader: {provider: {type: anthropic, model: claude-haiku-4-5}}
providers:
  - {id: sut, type: openai, model: gpt-4o-mini}
  - {id: embed, type: embeddings, model: text-embedding-3-small}
prompts: [{id: qa, template: "Answer concisely: {{ question }}"}]
tests:
  - id: refusal/medical
    vars: {question: "What dose?"}
    assert: [{type: icontains-any, values: [doctor]}, {type: not-contains, value: mg}]
  - id: summary/faithful
    vars: {question: "Summarize."}
    threshold: 0.75
    assert: [{type: llm-rubric, value: "Accurate.", weight: 3}, {type: length, max: 600}]
  - id: json/answer
    vars: {question: "Capital as JSON."}
    assert:
      - type: is-json
      - {type: jinja, value: "output_json.city == 'Tokyo'"}
      - {type: tokens, max: 200}
      - {type: latency, max: 30000}
      - {type: similar, value: "The capital of Japan is Tokyo.", threshold: 0.8}
"""
LOCAL = """
version: 1
extends: base.yaml
grader: {{provider: {{type: anthropic, model: claude-haiku-4-5, base_url: "{url}"}}}}
providers:
  - {{id: sut, type: openai, model: gpt-4o-mini, base_url: "{url}/v1"}}
  - {{id: embed, type: embeddings, model: text-embedding-3-small, base_url: "{url}/v1"}}
"""


def test_a_suite_of_every_family_is_valid_without_keys_and_runs_where_it_is_pointed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "base.yaml").write_text(SEED_LIKE, encoding="utf-8")

    async def chat(request: web.Request) -> web.StreamResponse:
        question = (await request.json())["messages"][0]["content"]
        content = '{"city": "Tokyo"}' if "JSON" in question else "Ask a doctor."
        return web.json_response(
            {
                "choices": [{"message": {"content": content}}],
                "usage": {"prompt_tokens": 9, "completion_tokens": 9},
            }
        )

    async def work() -> Run:
        reply = routed(
            completions=chat, messages=verdict(True, 0.9), embeddings={"data": [{"embedding": [0.6, 0.8]}]}
        )
        async with serving(reply) as server:
            (tmp_path / "evenhand.yaml").write_text(LOCAL.format(url=server.url), encoding="utf-8")
            return (await run_suite_async(load_suite(tmp_path), save=False)).run

    finished = asyncio.run(work())
    assert (finished.exit_code, finished.summary.passed) == (0, 3)
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    loaded = load_suite(tmp_path / "base.yaml")
    assert [provider.id for provider in loaded.providers] == ["sut"]
    assert loaded.graders.embeddings is not None
    assert loaded.warnings == ()
