"""Loading a suite for a command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

SUITE = """
version: 1
providers: [{id: app, type: python, target: "file://app.py:answer"}]
tests: [{generator: "file://cases.py:make"}]
"""
APP = """
print("loading")

def answer(request):
    print("answering")
    return request.vars["q"]
"""
CASES = """
def make():
    print("making")
    yield {"vars": {"q": "yes"}, "assert": [{"type": "equals", "value": "yes"}]}
"""


def test_what_the_suites_own_code_prints_leaves_the_report_whole(evenhand: Callable[..., Any]) -> None:
    Path("evenhand.yaml").write_text(SUITE, encoding="utf-8")
    Path("app.py").write_text(APP, encoding="utf-8")
    Path("cases.py").write_text(CASES, encoding="utf-8")
    done = evenhand("run", "--format", "json")
    assert done.code == 0, done.err
    assert [case["output"] for case in json.loads(done.out)["cases"]] == ["yes"]
    assert [word for word in ("making", "loading", "answering") if word in done.err.split()] == [
        "making",
        "loading",
        "answering",
    ]


def test_a_wrong_case_of_a_generator_is_named_in_a_file_that_stays(
    evenhand: Callable[..., Any], tmp_path: Path
) -> None:
    Path("evenhand.yaml").write_text(SUITE, encoding="utf-8")
    Path("app.py").write_text(APP, encoding="utf-8")
    Path("cases.py").write_text("def make():\n    yield {'vras': {}}\n", encoding="utf-8")
    done = evenhand("run")
    assert done.code == 2
    assert "unknown key 'vras'; did you mean 'vars'?" in done.err
    (kept,) = (tmp_path / "state" / "generated").glob("*.jsonl")
    assert f"{kept.name}:1:" in done.err
    assert (tmp_path / "state" / ".gitignore").is_file()
