"""Servers that misbehave, seen from the results of a run: what is tried again, what is an error, and of which class."""

from __future__ import annotations

import asyncio
import email.utils
import gzip
import json
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from evenhand.io.fake import FakeClock
from evenhand.model.result import CaseResult, Run
from evenhand.model.suite import Suite
from evenhand.run.cell import run_cell
from evenhand.run.options import RunOptions
from evenhand.run.plan import Plan
from evenhand.run.services import Services
from evenhand.session.execution import execute_run
from evenhand.store.store import open_store
from support.servers import Server, serving, status
from support.written import load


def answer(text: str) -> dict[str, Any]:
    message = {"content": text}
    return {
        "choices": [{"message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5},
    }


GOOD = answer("good")
LONG = answer("good " * 2_000_000)


async def half(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Length": "1000"})
    await response.prepare(request)
    await response.write(b'{"choices": [')
    assert request.transport is not None
    request.transport.close()
    return response


async def reset(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


async def hang(_: web.Request) -> web.StreamResponse:
    await asyncio.sleep(60)
    return web.Response()


def page(
    body: str | bytes, content_type: str = "application/json", **headers: str
) -> Callable[[web.Request], Any]:
    """A success with that body, whatever it is."""
    data = body.encode() if isinstance(body, str) else body
    named = {name.replace("_", "-"): value for name, value in headers.items()}

    async def reply(_: web.Request) -> web.Response:
        return web.Response(body=data, content_type=content_type, headers=named)

    return reply


def document(url: str, *, timeout_ms: int = 30_000, **fields: Any) -> dict[str, Any]:
    provider = {
        "id": "sut",
        "type": "openai",
        "model": "gpt-5-mini",
        "base_url": url,
        "request": {"auth": "none"},
        "timeout_ms": timeout_ms,
    }
    return {
        "providers": [provider],
        "prompts": [{"id": "p", "template": "x"}],
        "runner": {
            "retries": {"max": 2, "initial_ms": 100, "max_ms": 1_000, "jitter": False},
            "concurrency": 1,
        },
        "tests": [{"id": "c", "assert": [{"type": "contains", "value": "good"}]}],
        **fields,
    }


def result_of(folder: Path, *replies: Any) -> tuple[CaseResult, FakeClock, Server]:
    """The result of one cell whose calls get these replies in turn, and how long it waited between them."""

    async def work() -> tuple[CaseResult, FakeClock, Server]:
        clock = FakeClock()
        async with serving(*replies) as server:
            # Only a server that never answers needs an end that comes soon.
            timeout_ms = 300 if hang in replies else 30_000
            suite = load(folder, document(server.url, timeout_ms=timeout_ms))
            async with Services(suite, suite.providers, clock=clock) as services:
                return await run_cell(next(Plan(suite).cells()), services), clock, server

    return asyncio.run(asyncio.wait_for(work(), 60))


@pytest.mark.parametrize(
    ("fault", "wait_s"),
    [
        (status(500, "broken"), 0.1),
        (status(529, "overloaded"), 0.1),
        (status(429, "slow down"), 0.1),
        (status(429, "slow down", Retry_After="7"), 7.0),
        (status(503, "back soon", Retry_After="3"), 3.0),
        (half, 0.1),
        (reset, 0.1),
        (hang, 0.1),
        ({"error": {"code": 503, "message": "upstream"}}, 0.1),
        ({"error": {"type": "rate_limit_error", "message": "slow"}}, 0.1),
    ],
)
def test_a_fault_that_may_pass_is_tried_again(tmp_path: Path, fault: Any, wait_s: float) -> None:
    result, clock, server = result_of(tmp_path, fault, GOOD)
    assert (result.status, result.attempts, len(server.seen)) == ("pass", 2, 2)
    assert max(clock.slept) == pytest.approx(wait_s, abs=1e-6)


def test_a_date_to_come_back_at_is_waited_for(tmp_path: Path) -> None:
    moment = email.utils.formatdate(time.time() + 100, usegmt=True)
    result, clock, _ = result_of(tmp_path, status(429, "", Retry_After=moment), GOOD)
    assert result.status == "pass"
    assert 60 < max(clock.slept) <= 100


def test_a_wait_beyond_the_cap_ends_the_attempts_and_says_so(tmp_path: Path) -> None:
    result, _, server = result_of(tmp_path, status(429, "", Retry_After="9999"), GOOD)
    assert (result.status, result.error_class, len(server.seen)) == ("error", "provider_rate_limit", 1)
    assert "9,999 s" in (result.error or "")


@pytest.mark.parametrize(
    ("fault", "error_class"),
    [
        (page("<html>hello</html>", "text/html"), "provider_protocol"),
        (page('{"choices": ['), "provider_protocol"),
        (page("[1, 2]"), "provider_protocol"),
        (page(""), "provider_protocol"),
        (page(b"\xff\xfe\x00"), "provider_protocol"),
        (page(b"not gzip", Content_Encoding="gzip"), "provider_protocol"),
        ({"choices": []}, "provider_protocol"),
        ({"error": {"message": "bad model"}}, "provider_protocol"),
        (status(400, "no such model"), "provider_request"),
        (status(404, "no such path"), "provider_request"),
        (status(401, "who are you"), "provider_auth"),
        (status(302, "", Location="http://elsewhere.example/"), "provider_request"),
    ],
)
def test_a_fault_that_stays_is_an_error_at_once(tmp_path: Path, fault: Any, error_class: str) -> None:
    result, _, server = result_of(tmp_path, fault, GOOD)
    assert (result.status, result.error_class, len(server.seen)) == ("error", error_class, 1)
    assert result.score is None


@pytest.mark.parametrize(
    "reply",
    [
        page(json.dumps(GOOD), "text/plain"),
        page(json.dumps(LONG)),
        page(gzip.compress(json.dumps(LONG).encode()), Content_Encoding="gzip"),
    ],
)
def test_an_unusual_answer_is_an_answer(tmp_path: Path, reply: Any) -> None:
    result, _, _ = result_of(tmp_path, reply)
    assert (result.status, result.attempts) == ("pass", 1)


class JudgedServer:
    """A system under test and its judge behind one address; the judge breaks down after so many verdicts."""

    def __init__(self, verdicts: int) -> None:
        self.verdicts = verdicts
        self.systems: Counter[str] = Counter()
        self.judged: Counter[str] = Counter()

    async def answer(self, request: web.Request) -> web.Response:
        body = await request.json()
        text = body["messages"][-1]["content"]
        if body["model"] != "gpt-4o":
            self.systems[text] += 1
            return web.json_response(answer(f"good {text}"))
        if self.verdicts <= 0:
            return web.Response(status=503, text="the judge is down")
        self.verdicts -= 1
        self.judged["verdicts"] += 1
        verdict = {"reasoning": "fine", "pass": True, "score": 1.0}
        return web.json_response(answer(json.dumps(verdict)))


def judged_suite(folder: Path, url: str) -> Suite:
    """Ten cells of one system, each judged by a rubric."""
    judge = {"id": "judge", "type": "openai", "model": "gpt-4o", "base_url": url, "request": {"auth": "none"}}
    rubric = {"type": "llm-rubric", "value": "is kind"}
    fields = {
        "grader": {"provider": judge},
        "prompts": [{"id": "p", "template": "{{ n }}"}],
        "tests": [{"id": f"c{n}", "vars": {"n": f"q{n}"}, "assert": [rubric]} for n in range(10)],
        "runner": {"retries": 0, "concurrency": 1},
    }
    return load(folder, document(url, **fields))


def test_after_a_judges_outage_only_what_is_missing_is_paid_for(tmp_path: Path) -> None:
    async def work() -> tuple[list[Run], list[list[CaseResult]], JudgedServer]:
        behind = JudgedServer(verdicts=4)
        runs: list[Run] = []
        async with serving(behind.answer) as server:
            suite = judged_suite(tmp_path, server.url)
            with open_store(None) as store:
                runs.append(await execute_run(suite, RunOptions(), store=store))
                behind.verdicts = 100
                runs.append(await execute_run(suite, RunOptions(failed=True), store=store))
                results = [list(store.results(run.run_id)) for run in runs]
        return runs, results, behind

    runs, (first, second), behind = asyncio.run(asyncio.wait_for(work(), 60))
    assert [run.exit_code for run in runs] == [3, 0]
    assert Counter(result.status for result in first) == {"pass": 4, "error": 6}
    assert {r.error_class for r in first if r.status == "error"} == {"grader_unavailable"}
    assert (runs[0].summary.failed, runs[0].summary.judged) == (0, 4)
    assert {result.cell.test_id for result in second} == {f"c{n}" for n in range(4, 10)}
    assert behind.judged["verdicts"] == 10
    assert all(behind.systems[f"q{n}"] == 1 for n in range(4))


def test_a_run_that_ends_at_an_outage_is_resumed_without_paying_twice(tmp_path: Path) -> None:
    async def work() -> tuple[list[Run], JudgedServer]:
        behind = JudgedServer(verdicts=4)
        async with serving(behind.answer) as server:
            suite = judged_suite(tmp_path, server.url)
            with open_store(None) as store:
                first = await execute_run(suite, RunOptions(max_failures=1), store=store)
                behind.verdicts = 100
                second = await execute_run(suite, RunOptions(resume=True), store=store)
        return [first, second], behind

    (first, second), behind = asyncio.run(asyncio.wait_for(work(), 60))
    assert (first.status, first.exit_code, first.summary.total) == ("stopped", 3, 5)
    assert (second.run_id, second.summary.total, second.summary.passed) == (first.run_id, 10, 9)
    assert all(count == 1 for count in behind.systems.values())
