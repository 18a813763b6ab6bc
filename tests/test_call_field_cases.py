"""Failures of calls that other tools handled wrongly, played by a server on loopback."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from evenhand import load_suite
from evenhand.api import run_suite_async
from evenhand.model.exchange import Usage
from evenhand.model.result import CaseResult, Run
from support.servers import Server, serving
from support.vectors import rows

ROWS = {row["id"]: row for row in rows("field-cases")}
ANSWER = {"choices": [{"message": {"content": "Paris"}, "finish_reason": "stop"}]}


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")


def run(folder: Path, *replies: Any, cases: int = 1, **runner: Any) -> tuple[Run, list[CaseResult], Server]:
    async def work() -> tuple[Run, list[CaseResult], Server]:
        async with serving(*replies) as server:
            document = {
                "version": 1,
                "providers": [{"type": "openai", "model": "m", "base_url": server.url}],
                "prompts": [{"id": "p", "template": "{{ n }}"}],
                "tests": [
                    {"id": f"t{n}", "vars": {"n": n}, "assert": [{"type": "contains", "value": "Paris"}]}
                    for n in range(cases)
                ],
                "runner": {"retries": {"max": 2, "initial_ms": 1, "max_ms": 1}, **runner},
            }
            (folder / "evenhand.yaml").write_text(json.dumps(document), encoding="utf-8")
            finished = await run_suite_async(load_suite(folder), save=False)
            return finished.run, list(finished.cases()), server

    return asyncio.run(work())


def played(reply: Any) -> Any:
    """A reply as the table writes it: a status, or a status with headers and a body."""
    fields = {"status": reply} if isinstance(reply, int) else dict(reply)
    code, body = fields.pop("status"), fields.pop("body", ANSWER)

    async def answer(_: web.Request) -> web.Response:
        return web.json_response(body if code == 200 else {}, status=code, headers=fields)

    return answer


def test_no_retries_mean_one_request(tmp_path: Path) -> None:
    row = ROWS["retry-zero"]
    finished, (case,), server = run(
        tmp_path, *map(played, row["input"]["http"]), retries=row["input"]["retries"]
    )
    expected = row["expected"]
    assert (case.status, len(server.seen), finished.exit_code) == (
        expected["status"],
        expected["requests"],
        expected["exit"],
    )


def test_a_wait_of_a_day_ends_the_attempts_with_a_clear_message(tmp_path: Path) -> None:
    row = ROWS["retry-after-capped"]
    _, (case,), server = run(tmp_path, *map(played, row["input"]["http"]))
    assert (case.status, len(server.seen)) == (row["expected"]["status"], 1)
    assert "asks to wait 86,400 s" in (case.error or "")


def test_a_wait_beside_a_success_holds_nobody_up(tmp_path: Path) -> None:
    row = ROWS["retry-after-on-200"]
    finished, _, server = run(tmp_path, *map(played, row["input"]["http"]), cases=2, concurrency=1)
    assert (finished.summary.passed, len(server.seen)) == (2, 2)
    assert finished.summary.wall_ms is not None
    assert finished.summary.wall_ms < row["expected"]["max_seconds"] * 1_000


def test_an_error_inside_a_success_is_never_an_output(tmp_path: Path) -> None:
    replies = [played(reply) for reply in ROWS["retry-wrapped-200-error"]["input"]["http"]]
    _, (case,), server = run(tmp_path, *replies)
    assert (case.status, case.attempts, len(server.seen)) == ("pass", 2, 2)
    _, (case,), _ = run(tmp_path, *replies, retries=0)
    assert (case.status, case.error_class, case.output) == ("error", "provider_rate_limit", None)


def test_a_late_answer_neither_doubles_nor_replaces_a_result(tmp_path: Path) -> None:
    row = ROWS["timeout-late-result"]

    async def late(_: web.Request) -> web.Response:
        await asyncio.sleep(row["input"]["provider_delay_ms"] / 1_000)
        return web.json_response(ANSWER)

    _, cases, _ = run(tmp_path, late, retries=0, timeout_ms=row["input"]["timeout_ms"])
    assert [case.status for case in cases] == [row["expected"]["status"]] * row["expected"]["rows_per_case"]
    assert cases[0].error_class == "provider_timeout"


def test_one_stuck_call_among_many_ends_with_its_time(tmp_path: Path) -> None:
    row = ROWS["hang-at-end"]
    count = row["input"]["suite_cases"]

    async def stuck_at_last(request: web.Request) -> web.Response:
        if (await request.json())["messages"][0]["content"] == str(count - 1):
            await asyncio.sleep(60)
        return web.json_response(ANSWER)

    finished, cases, _ = run(tmp_path, stuck_at_last, cases=count, retries=0, timeout_ms=1_500)
    assert finished.summary.errored == row["expected"]["errors"]
    assert len(cases) == count
    assert finished.summary.wall_ms is not None
    assert finished.summary.wall_ms < row["expected"]["max_seconds"] * 1_000


def test_tokens_of_a_whole_are_not_added_to_those_of_its_parts(tmp_path: Path) -> None:
    """An answer has one usage, that of the exchange; what a gateway lists beside it is not added up."""
    row = ROWS["tokens-double-counted"]
    parts = row["input"]["provider_usage"]
    total = next(part["total"] for part in parts if part["scope"] == "run")
    reply = {
        **ANSWER,
        "usage": {
            "prompt_tokens": total - 20,
            "completion_tokens": 20,
            "total_tokens": total,
            "parts": parts,
        },
    }
    _, (case,), _ = run(tmp_path, reply)
    assert case.usage == Usage(input_tokens=total - 20, output_tokens=20)
    assert case.usage.total == row["expected"]["tokens"]
