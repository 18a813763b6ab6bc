"""LiteLLM's proxy, which answers in the dialects of both vendors without any model behind it.

It lives in an environment of its own, whose `litellm` is named by `EVENHAND_LITELLM_PROXY`; `make test-proxy` makes it.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from running import dialects, ran

PROXY = os.environ.get("EVENHAND_LITELLM_PROXY", "")
KEY = "sk-proxy-0123456789"
CONFIG = """\
model_list:
  - model_name: stand-in
    litellm_params: {model: openai/gpt-4o-mini, api_key: none, mock_response: "The capital is Paris."}
  - model_name: crowded
    litellm_params: {model: openai/gpt-4o-mini, api_key: none, mock_response: "litellm.RateLimitError"}
general_settings: {master_key: %s}
router_settings: {num_retries: 0}
"""
START_S = 120


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def proxy_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("proxy")
    (folder / "config.yaml").write_text(CONFIG % KEY, encoding="utf-8")
    port = free_port()
    quiet = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_OFFLINE_MODE": "true", "NO_DOCS": "True"}
    command = [
        PROXY,
        "--config",
        "config.yaml",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--telemetry",
        "False",
    ]
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(command, cwd=folder, env={**os.environ, **quiet}, stdout=log, stderr=log) as proxy,
    ):
        try:
            url = f"http://127.0.0.1:{port}"
            wait_for(f"{url}/health/liveliness", proxy, folder / "log")
            yield url
        finally:
            proxy.terminate()


def wait_for(url: str, proxy: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and proxy.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.3)
    pytest.fail(f"the proxy did not start:\n{log.read_text(encoding='utf-8', errors='replace')[-2_000:]}")


def asked(url: str, model: str, folder: Path) -> tuple[Any, list[Any]]:
    return ran(
        folder,
        {
            "providers": dialects(url, model),
            "prompts": [{"id": "p", "template": "What is the capital of France?"}],
            "runner": {"retries": {"max": 1, "initial_ms": 1, "max_ms": 1}},
            "tests": [{"id": "t", "assert": [{"type": "contains", "value": "Paris"}]}],
        },
    )


@pytest.fixture(autouse=True)
def _proxy_key(_keys: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, KEY)


def test_the_proxy_is_understood_in_every_dialect(proxy_url: str, tmp_path: Path) -> None:
    run, cases = asked(proxy_url, "stand-in", tmp_path)
    assert (run.exit_code, run.summary.passed) == (0, 4), [(c.cell.provider_id, c.error) for c in cases]
    for case in cases:
        assert case.usage is not None
        assert case.usage.total > 0


def test_a_rate_limit_of_the_proxy_is_one(proxy_url: str, tmp_path: Path) -> None:
    run, cases = asked(proxy_url, "crowded", tmp_path)
    assert run.exit_code == 3
    found = {case.cell.provider_id: (case.error_class, case.attempts, case.output) for case in cases}
    del found["responses"]  # There the proxy puts the name of its error into an answer.
    limited = ("provider_rate_limit", 2, None)
    assert found == {"chat": limited, "messages": limited, "litellm": limited}
