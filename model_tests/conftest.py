"""A real small model behind a real server, once for all tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
MODEL = "smollm2"


@pytest.fixture(scope="session")
def model_url() -> Iterator[str]:
    """The address of a server that speaks OpenAI's chat completions and Responses and Anthropic's messages."""
    with subprocess.Popen(
        [sys.executable, str(HERE / "serve_model.py"), MODEL],
        stdout=subprocess.PIPE,
        stdin=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:"), "the model's server did not start"
            yield address
        finally:
            server.kill()


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_BASE_URL", "_PROXY", "_proxy")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-openai-0123456789")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-anthropic-0123456789")
