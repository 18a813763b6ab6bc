"""Runs of small suites."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from evenhand import load_suite, run_suite
from evenhand.api import FinishedRun
from evenhand.model.result import CaseResult


def ran(folder: Path, document: dict[str, Any]) -> tuple[FinishedRun, list[CaseResult]]:
    """The run of a suite, and its results."""
    (folder / "evenhand.yaml").write_text(json.dumps({"version": 1, **document}), encoding="utf-8")
    run = run_suite(load_suite(folder), save=False)
    return run, list(run.cases())


def dialects(url: str, model: str) -> list[dict[str, Any]]:
    """One provider for each API that a server at this address speaks."""
    common = {"model": model}
    return [
        {"id": "chat", "type": "openai", "base_url": f"{url}/v1", "params": {"temperature": 0}, **common},
        {
            "id": "responses",
            "type": "openai",
            "api": "responses",
            "base_url": f"{url}/v1",
            "params": {"temperature": 0},
            **common,
        },
        {"id": "messages", "type": "anthropic", "base_url": url, "params": {"temperature": 0}, **common},
        {
            "id": "litellm",
            "type": "litellm",
            "model": f"openai/{model}",
            "api_key_env": "OPENAI_API_KEY",
            "base_url": f"{url}/v1",
            "params": {"temperature": 0},
        },
    ]
