"""`exec`: a program of the suite's author judges, in a process of its own."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from evenhand.assertions.checker import reply_of
from evenhand.errors import BrokenAssertion
from evenhand.model.exchange import Request, TestInfo
from evenhand.model.grading import Graders
from support.assertions import build, evidence
from support.graded import graded

VECTORS = Path(__file__).parents[1] / "data" / "vectors" / "assertions.jsonl"
ROWS = [json.loads(line) for line in VECTORS.read_text(encoding="utf-8").splitlines()]

REPEAT = """
import json, os, sys
asked = json.load(sys.stdin)
print(json.dumps({"pass": True, "details": {"asked": asked, "protocol": os.environ["DOMARINN_PROTOCOL"]}}))
"""


def check(program: str, output: Any = "x", **options: Any) -> Any:
    outcome, _ = graded(
        {"type": "exec", "command": [sys.executable, "-c", program], **options}, evidence(output)
    )
    return outcome


@pytest.mark.parametrize("record", [r for r in ROWS if r["topic"] == "exec-assert"], ids=lambda r: r["id"])
def test_exec_assert_vector(record: dict[str, Any]) -> None:
    reply, expected = json.dumps(record["suite_fragment"]["response"]), record["expected"]
    outcome = check(f"print({reply!r})")
    assert outcome.status == expected["status"], outcome.reason
    assert outcome.score == (None if outcome.status == "error" else expected["score"])
    assert outcome.error_class == expected.get("error_class")


def test_a_checker_is_told_what_was_asked_and_answered() -> None:
    seen = evidence({"city": "Paris"}, vars={"q": "capital?"})
    seen.request = Request(text="The capital?", vars=seen.vars, test=TestInfo(id="t", tags=("smoke",)))
    seen.provider_id = "app"
    outcome, _ = graded({"type": "exec", "command": [sys.executable, "-c", REPEAT], "config": {"a": 1}}, seen)
    assert outcome.details["protocol"] == "1"
    assert outcome.details["asked"] == {
        "domarinn": {"protocol": 1, "kind": "assert"},
        "output": {"city": "Paris"},
        "test": {"id": "t", "tags": ["smoke"]},
        "prompt": {"text": "The capital?"},
        "provider": {"id": "app"},
        "config": {"a": 1},
        "vars": {"q": "capital?"},
    }


def test_config_is_null_where_unset_and_tool_calls_are_there_where_made() -> None:
    seen = evidence("", response={"tool_calls": [{"name": "book", "arguments": {"seat": 1}}]})
    outcome, _ = graded({"type": "exec", "command": [sys.executable, "-c", REPEAT]}, seen)
    asked = outcome.details["asked"]
    assert asked["config"] is None
    assert asked["tool_calls"] == [{"name": "book", "arguments": {"seat": 1}}]


@pytest.mark.parametrize(
    ("program", "found"),
    [
        ("import sys; sys.exit(4)", "exited with"),
        ("raise ValueError('schema missing')", "schema missing"),
        ("print('fine')", "one JSON document"),
        ("pass", "found nothing"),
        ("print('[]')", "found a list"),
        ("""print('{"score": 1}')""", "`pass` must be true or false, found no such key"),
        ("""print('{"pass": true, "score": 1.5}')""", "between 0 and 1, found 1.5"),
        ("""print('{"pass": true, "score": -0.1}')""", "between 0 and 1"),
        ("""print('{"pass": true, "score": NaN}')""", "one JSON document"),
        ("""print('{"pass": true, "score": "1"}')""", "between 0 and 1"),
        ("""print('{"pass": true, "reason": 3}')""", "must be text"),
        ("""print('{"error": {"message": "no model file"}}')""", "no model file"),
        ("print('x' * 9_000_000)", "more than"),
    ],
)
def test_a_checker_that_breaks_is_never_a_verdict(program: str, found: str) -> None:
    for kind in ("exec", "not-exec"):
        outcome, _ = graded({"type": kind, "command": [sys.executable, "-c", program]}, evidence("x"))
        assert (outcome.status, outcome.error_class) == ("error", "checker_failed"), outcome.reason
    assert found in outcome.reason


def test_a_checker_that_hangs_is_ended_and_errors() -> None:
    outcome = check("import time; time.sleep(60)", timeout_ms=300)
    assert (outcome.status, outcome.error_class) == ("error", "checker_failed")


def test_a_checker_that_is_not_there_errors() -> None:
    outcome, _ = graded({"type": "exec", "command": ["./no-such-checker"]}, evidence("x"), graders=Graders())
    assert (outcome.status, outcome.error_class) == ("error", "checker_failed")
    assert "no-such-checker" in outcome.reason


def test_a_reason_and_details_are_kept_as_they_are() -> None:
    reply = {"pass": False, "score": 0.25, "reason": "too \u0007 long", "details": {"n": 3}}
    outcome = check(f"print({json.dumps(reply)!r})")
    assert (outcome.status, outcome.score, outcome.reason) == ("fail", 0.25, "too \x07 long")
    assert outcome.details == {"n": 3}


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(BrokenAssertion, match="UTF-8"):
        reply_of(b'{"pass": true, "reason": "\xff"}')


@pytest.mark.parametrize("command", [[], [""], ["x\0y"]])
def test_a_command_that_cannot_be_one_is_refused(command: list[str]) -> None:
    assert isinstance(build({"type": "exec", "command": command}), list)
