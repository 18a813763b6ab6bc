"""Suites from strangers, loaded and run as such."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from evenhand.api import load_suite, run_suite
from evenhand.errors import SuiteError
from evenhand.model.result import CaseResult

CHECK = {"type": "contains", "value": "hello"}
SCRIPT = {"type": "javascript", "value": "file://check.js"}


def written(folder: Path, **keys: Any) -> Path:
    """A folder with a suite that has these keys."""
    suite = {
        "providers": [{"type": "echo"}],
        "prompts": [{"id": "p", "template": "hello"}],
        "tests": [{"id": "one", "assert": [CHECK]}],
        **keys,
    }
    folder.mkdir(exist_ok=True)
    (folder / "evenhand.yaml").write_text(yaml.safe_dump(suite), encoding="utf-8")
    return folder


def refusals(folder: Path, options: dict[str, Any] | None = None, **keys: Any) -> str:
    """Why such a suite of a stranger is not loaded."""
    with pytest.raises(SuiteError) as caught:
        load_suite(written(folder, **keys), confined=True, **(options or {}))
    return "\n".join(str(problem) for problem in caught.value.problems)


def case_with(*asserts: dict[str, Any], **keys: Any) -> list[dict[str, Any]]:
    """The only case of a suite."""
    return [{"id": "one", "assert": list(asserts), **keys}]


def run(folder: Path, **options: Any) -> list[CaseResult]:
    """The results of a suite of a stranger."""
    return list(run_suite(load_suite(folder, confined=True, **options), save=False).cases())
