"""Ten ways in which a known tool turns nothing into a verdict. Here each is found, and the exit code says who acts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

HEAD = "version: 1\nproviders: [{id: echo, type: echo}]\nprompts: [{id: p, template: 'say {{ word }}'}]\n"


def run(folder: Path, suite: str, **environment: str) -> tuple[int, str, list[dict[str, Any]]]:
    """The exit code, what was said on stderr, and the cases of the run, none where it was refused."""
    (folder / "evenhand.yaml").write_text(suite, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "evenhand", "run", str(folder), "--no-progress", "--format", "json"],
        capture_output=True,
        text=True,
        timeout=180,
        env={**os.environ, "EVENHAND_HOME": str(folder / ".evenhand"), **environment},
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr, json.loads(done.stdout)["cases"] if done.stdout else []


def test_asserts_typed_for_assert_is_refused(tmp_path: Path) -> None:
    suite = HEAD + "tests: [{vars: {word: hi}, asserts: [{type: contains, value: absent}]}]\n"
    code, said, cases = run(tmp_path, suite)
    assert (code, cases) == (2, [])
    assert "unknown key 'asserts'; did you mean 'assert'?" in said


def test_undefined_template_variable_is_refused(tmp_path: Path) -> None:
    suite = HEAD + "tests: [{vars: {wrod: hi}, assert: [{type: contains, value: say}]}]\n"
    code, said, cases = run(tmp_path, suite)
    assert (code, cases) == (2, [])
    assert "word" in said


def test_unknown_assertion_type_is_refused(tmp_path: Path) -> None:
    suite = HEAD + "tests: [{vars: {word: hi}, assert: [{type: containz, value: hi}]}]\n"
    code, said, cases = run(tmp_path, suite)
    assert (code, cases) == (2, [])
    assert "did you mean 'contains'?" in said


def test_error_in_half_the_cases_stands_beside_the_headline_and_decides_the_exit_code(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(
        "def answer(request):\n    if request.vars['n'] % 2:\n        raise RuntimeError('gone')\n    return 'fine'\n",
        encoding="utf-8",
    )
    tests = ", ".join(f"{{vars: {{n: {n}}}, assert: [{{type: equals, value: fine}}]}}" for n in range(10))
    suite = f"version: 1\nproviders: [{{type: python, target: 'file://app.py:answer'}}]\ntests: [{tests}]\n"
    code, said, cases = run(tmp_path, suite)
    assert code == 3
    assert [case["status"] for case in cases] == ["pass", "error"] * 5
    assert "5 errored" in said


def test_case_id_used_twice_is_refused(tmp_path: Path) -> None:
    test = "{id: same, vars: {word: hi}, assert: [{type: contains, value: hi}]}"
    code, said, cases = run(tmp_path, HEAD + f"tests: [{test}, {test}]\n")
    assert (code, cases) == (2, [])
    assert "duplicate case id 'same'" in said


@contextmanager
def judge(status: int, message: dict[str, Any], finish_reason: str = "stop") -> Iterator[str]:
    """The address of an OpenAI-compatible endpoint that always answers like this."""
    body = json.dumps(
        {"choices": [{"message": message, "finish_reason": finish_reason}], "usage": {}}
        if status == 200
        else message
    ).encode()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return None

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def run_judged(folder: Path, base_url: str) -> tuple[int, list[dict[str, Any]]]:
    suite = (
        HEAD
        + f"grader: {{provider: {{type: openai, model: judge, base_url: '{base_url}'}}}}\n"
        + "runner: {retries: 0}\n"
        + "tests: [{vars: {word: hi}, assert: [{type: llm-rubric, value: is polite}]}]\n"
    )
    code, _, cases = run(folder, suite, OPENAI_API_KEY="sk-test-not-a-key")
    return code, cases


def verdict(**fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": json.dumps(fields)}


@pytest.mark.parametrize(
    ("status", "message", "finish_reason", "error_class"),
    [
        pytest.param(200, verdict(score=0, reasoning="bad"), "stop", "grader_failed", id="without-a-verdict"),
        pytest.param(
            200,
            verdict(**{"pass": True, "score": 0, "reasoning": ""}),
            "stop",
            "grader_failed",
            id="pass-at-0",
        ),
        pytest.param(503, {"error": {"message": "overloaded"}}, "stop", "grader_unavailable", id="outage"),
        pytest.param(200, {"content": '{"pass": tr'}, "length", "grader_failed", id="truncated"),
    ],
)
def test_judge_without_a_trustworthy_verdict_is_an_error_and_no_verdict(
    status: int, message: dict[str, Any], finish_reason: str, error_class: str, tmp_path: Path
) -> None:
    with judge(status, message, finish_reason) as base_url:
        code, cases = run_judged(tmp_path, base_url)
    assert (code, cases[0]["status"], cases[0]["error_class"]) == (3, "error", error_class)


def test_endless_loop_in_a_script_ends_and_leaves_the_other_cases_alone(tmp_path: Path) -> None:
    suite = (
        HEAD
        + "tests:\n"
        + "  - {id: loop, vars: {word: hi}, assert: [{type: javascript, value: 'while (true) {}', timeout_ms: 500}]}\n"
        + "  - {id: fine, vars: {word: hi}, assert: [{type: javascript, value: 'output.length > 0'}]}\n"
    )
    code, _, cases = run(tmp_path, suite)
    assert code == 2
    assert [case["status"] for case in cases] == ["error", "pass"]
