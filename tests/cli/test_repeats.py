"""Repeated cases from suite to report."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

APP = """
import pathlib
def answer(request):
    log = pathlib.Path(__file__).with_name("calls.txt")
    with log.open("a") as out:
        out.write(f"{request.test.id} {request.repeat}\\n")
    if request.test.id == "coin":
        return "yes" if request.repeat % 2 else "no"
    if request.test.id == "stops" and request.repeat == 3 and pathlib.Path("stop").exists():
        raise SystemExit(1)
    return "no" if request.test.id == "wrong" else "yes"
"""

SUITE = """\
version: 1
suite: repeated
{head}
providers: [{{id: app, type: python, target: "file://app.py:answer"}}]
tests:
{tests}
"""


def write(tests: dict[str, str], head: str = "") -> None:
    Path("app.py").write_text(APP, encoding="utf-8")
    lines = "".join(
        f"  - {{id: {name}, {repeat} assert: [{{type: equals, value: 'yes'}}]}}\n"
        for name, repeat in tests.items()
    )
    Path("evenhand.yaml").write_text(SUITE.format(head=head, tests=lines), encoding="utf-8")


def calls() -> list[str]:
    return Path("calls.txt").read_text(encoding="utf-8").splitlines()


def document(evenhand, *words: str) -> tuple[int, dict]:
    done = evenhand("run", "--format", "json", *words)
    return done.code, json.loads(done.out)


def test_a_case_says_how_often_it_is_asked(evenhand) -> None:
    write({"steady": "repeat: 3,", "once": ""})
    code, run = document(evenhand)
    assert code == 0
    assert [(c["cell"]["test_id"], c["cell"]["repeat"], c.get("index", 0)) for c in run["cases"]] == [
        ("steady", 0, 0), ("steady", 1, 1), ("steady", 2, 2), ("once", 0, 3),
    ]  # fmt: skip
    assert run["planned_cells"] == 4
    assert run["summary"]["repeats"]["cases"] == 1


def test_defaults_repeat_every_case_and_the_command_line_overrides_them(evenhand) -> None:
    write({"a": "", "b": "repeat: 1,"}, head="defaults: {repeat: 2}")
    assert document(evenhand)[1]["summary"]["total"] == 3
    assert document(evenhand, "--repeat", "4")[1]["summary"]["total"] == 8
    assert document(evenhand, "--repeat", "1")[1]["summary"]["total"] == 2


def test_flaky_cases_are_named_in_the_reports(evenhand) -> None:
    write({"coin": "repeat: 4,", "steady": "repeat: 4,"})
    done = evenhand("run", "--out", "r.md", "--out", "r.xml")
    assert done.code == 1
    assert re.search(
        r"1 flaky case: coin \[app\] passed 2 of 4 \(15\.0% to 85\.0%\)", " ".join(done.out.split())
    )
    assert "all pass 50.0% (pass^4)" in done.out
    assert "1 flaky case: coin" in Path("r.md").read_text()
    assert "1 flaky case: coin" in Path("r.xml").read_text()


def test_repeats_end_when_the_case_is_decided(evenhand) -> None:
    until = "repeat: {until_decided: true, max: 20},"
    write({"steady": until, "wrong": until, "coin": until})
    code, run = document(evenhand)
    found = run["summary"]["repeats"]
    assert code == 1
    assert (found["passing"], found["failing"], found["undecided"]) == (1, 1, 1)
    assert found["calls_saved"] == 24
    assert len(calls()) == 8 + 8 + 20
    last = [c for c in run["cases"] if "decision" in c]
    assert {c["cell"]["test_id"]: c["decision"]["verdict"] for c in last} == {
        "steady": "passing", "wrong": "failing", "coin": "undecided",
    }  # fmt: skip
    # Each case keeps room for all of its repeats, so that places do not depend on decisions.
    assert [c.get("index", 0) for c in run["cases"] if c["cell"]["repeat"] == 0] == [0, 20, 40]
    assert "repeated until decided: 1 passing, 1 failing, 1 undecided; 24 calls saved" in " ".join(
        evenhand("view", "latest").out.split()
    )


def test_a_stopped_run_goes_on_where_it_was_and_asks_nothing_twice(evenhand) -> None:
    until = "repeat: {until_decided: true, max: 20},"
    write({"steady": until, "wrong": until, "last": until})
    _, run = document(evenhand, "-j", "1", "--max-failures", "3")
    assert run["status"] == "stopped"
    assert len(calls()) == 8 + 3
    _, run = document(evenhand, "--resume")
    assert len(calls()) == len(set(calls())) == 8 + 8 + 8
    found = run["summary"]["repeats"]
    assert (found["passing"], found["failing"], found["calls_saved"]) == (2, 1, 36)


def test_a_changed_repeat_rule_keeps_a_run_from_being_resumed(evenhand) -> None:
    write({"wrong": "repeat: {until_decided: true, max: 20},"})
    document(evenhand, "-j", "1", "--fail-fast")
    write({"wrong": "repeat: {until_decided: true, max: 30},"})
    done = evenhand("run", "--resume")
    assert done.code == 2
    assert "cannot be resumed" in done.err


def test_failed_asks_the_whole_case_again(evenhand) -> None:
    write(
        {"steady": "repeat: {until_decided: true, max: 9},", "coin": "repeat: {until_decided: true, max: 9},"}
    )
    document(evenhand)
    _, run = document(evenhand, "--failed")
    assert {c["cell"]["test_id"] for c in run["cases"]} == {"coin"}
    assert len(run["cases"]) == 9


@pytest.mark.parametrize(
    "repeat",
    ["0", "-1", "1.5", "often", "{max: 0}", "{until_decided: true}", "{max: 3, alpha: 0}", "{max: 3, alpha: 0.1}",
     "{max: 3, until: true}", "{max: 3, until_decided: true, pass_rate: 1}", "200000"],
)  # fmt: skip
def test_a_wrong_repeat_is_found_at_load(evenhand, repeat: str) -> None:
    write({"a": f"repeat: {repeat},"})
    done = evenhand("validate")
    assert done.code == 2
    assert "evenhand.yaml:6" in done.err
    assert "repeat" in done.err


def test_repeats_in_which_nothing_was_judged_decide_nothing_after_a_resume_either(evenhand) -> None:
    write({"bare": "repeat: {until_decided: true, max: 12, alpha: 0.4}, expect_fail: true,"})
    text = Path("evenhand.yaml").read_text(encoding="utf-8").replace("{type: equals, value: 'yes'}", "")
    Path("evenhand.yaml").write_text(text, encoding="utf-8")
    _, run = document(evenhand, "--max-failures", "5")
    assert (run["status"], len(calls())) == ("stopped", 5)
    _, run = document(evenhand, "--resume")
    assert len(calls()) == 12
    assert run["summary"]["repeats"]["undecided"] == 1
