"""Right answers for suites with scripts, groups and transforms, each suite run as a whole by both engines.

A row of tests/data/script-cases.jsonl is a case: its assertions, what the system under test answers, and what comes of
it. Rows with `engines` are run with `engine: node` on their inline code too. Files of a row have a folder of their own.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evenhand import load_suite, run_suite
from evenhand.errors import SuiteError
from evenhand.model.outcome import Status
from evenhand.model.result import CaseResult

TABLE = Path(__file__).parents[1] / "data" / "script-cases.jsonl"
ROWS = [json.loads(line) for line in TABLE.read_text(encoding="utf-8").splitlines()]

PROGRAM = """
import json
from pathlib import Path
from evenhand import Response, ToolCall, Usage

ROWS = json.loads((Path(__file__).parent / "rows.json").read_text())


def answer(request):
    output, more = ROWS[request.test.id]
    if isinstance(output, dict) and "$int" in output:
        output = int(output["$int"])
    if "usage" in more:
        more["usage"] = Usage(**more["usage"])
    if "tool_calls" in more:
        more["tool_calls"] = tuple(ToolCall(**call) for call in more["tool_calls"])
    return Response(output=output, **more)
"""

Case = tuple[str, dict[str, Any]]


def is_refused(row: dict[str, Any]) -> bool:
    return bool(row["expected"].get("status") == "load_error")


def cases() -> Iterator[Case]:
    """Every row that can be run, with each engine that it is for."""
    for row in ROWS:
        if not is_refused(row):
            for engine in row.get("engines", ["quickjs"]):
                yield engine, row


def assertion_of(options: Any, row: dict[str, Any], engine: str) -> Any:
    """An assertion as written, its files in the folder of the row and its inline code for the engine."""
    if not isinstance(options, dict):
        return options
    made = {name: placed(value, row) for name, value in options.items()}
    if isinstance(made.get("assert"), list):
        made["assert"] = [assertion_of(member, row, engine) for member in made["assert"]]
    is_inline = not str(made.get("value")).startswith("file://")
    if engine == "node" and str(made.get("type")).endswith("javascript") and is_inline:
        made.setdefault("engine", "node")
    return made


def placed(value: Any, row: dict[str, Any]) -> Any:
    if isinstance(value, str) and value.startswith("file://"):
        return value.replace("file://", f"file://{row['id']}/", 1)
    return value


def write(folder: Path, rows: list[dict[str, Any]], engine: str) -> Path:
    """A suite of these rows."""
    (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
    answers = {row["id"]: [row.get("output", "Hello world"), row.get("response", {})] for row in rows}
    (folder / "rows.json").write_text(json.dumps(answers), encoding="utf-8")
    tests = []
    for row in rows:
        for name, text in row.get("files", {}).items():
            file = folder / row["id"] / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="")
        tests.append(
            {
                "id": row["id"],
                "vars": row.get("vars", {}),
                "assert": [assertion_of(options, row, engine) for options in row["assert"]],
                **{name: placed(value, row) for name, value in row.get("case", {}).items()},
            }
        )
    suite = {
        "version": 1,
        "providers": [{"id": "sut", "type": "python", "target": "file://program.py:answer"}],
        "prompts": [{"id": "p", "template": "Prompt for {{ 'Ada' }}"}],
        "tests": tests,
        "runner": {"concurrency": 4},
    }
    (folder / "evenhand.yaml").write_text(json.dumps(suite, ensure_ascii=False), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What came of all rows under an engine."""

    @functools.cache
    def run(engine: str) -> dict[str, CaseResult]:
        rows = [row for runs_in, row in cases() if runs_in == engine]
        suite = load_suite(write(tmp_path_factory.mktemp(engine), rows, engine))
        return {case.cell.test_id: case for case in run_suite(suite, save=False).cases()}

    return run


def near(value: Any) -> Any:
    """Something that equals what a number, or mapping of numbers, may have become by adding."""
    return None if value is None else pytest.approx(value, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("case", list(cases()), ids=lambda case: f"{case[0]}-{case[1]['id']}")
def test_case_ends_as_the_table_says(case: Case, results: Any) -> None:
    engine, row = case
    result, expected = results(engine)[row["id"]], row["expected"]
    if "case_status" in expected:
        assert result.status == expected["case_status"], result
    if "case_score" in expected:
        assert result.score == near(expected["case_score"])
    if "named_scores" in expected:
        assert result.named_scores == near(expected["named_scores"])
    if "statuses" in expected:
        assert [outcome.status for outcome in result.asserts] == [Status(s) for s in expected["statuses"]]
    if "status" in expected:
        first = result.asserts[0]
        assert first.status == expected["status"], first.reason
        if "score" in expected:
            assert first.score == near(expected["score"]), first.reason
        assert first.reason == expected.get("reason", first.reason)
        assert [part for part in expected.get("reason_contains", ()) if part not in first.reason] == []
        assert first.error_class == expected.get("error_class", first.error_class)


AT_ONCE = 60
"""Rows of one suite that is refused; no more than a hundred problems are listed."""


@pytest.mark.parametrize("start", range(0, sum(map(is_refused, ROWS)), AT_ONCE))
def test_everything_that_cannot_run_is_refused_at_once(start: int, tmp_path: Path) -> None:
    rows = [row for row in ROWS if is_refused(row)][start : start + AT_ONCE]
    with pytest.raises(SuiteError) as caught:
        load_suite(write(tmp_path, rows, "quickjs"))
    named = {int(index) for index in re.findall(r"tests\[(\d+)\]", str(caught.value))}
    assert [row["id"] for index, row in enumerate(rows) if index not in named] == []
