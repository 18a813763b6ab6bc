"""`evenhand rescore`."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import msgspec
import pytest

from evenhand.model.result import RunStatus
from evenhand.store.store import open_store

EXAMPLES = Path(__file__).parents[2] / "examples"

APP = """
import pathlib
from evenhand import Response
def answer(request):
    with pathlib.Path(__file__).with_name("calls.txt").open("a") as out:
        out.write("call\\n")
    if request.test.id == "down":
        raise OSError("down")
    return Response(output=f"The answer to {request.vars['n']} is 42.", log_probs=[0.5], metadata={"m": 1},
                    stop_reason="stop", reasoning="because", model="m-1")
"""

SUITE = """\
version: 1
suite: again
providers: [{{id: app, type: python, target: "file://app.py:answer"{provider}}}]
prompts: [{{id: ask, template: "{prompt}"}}]
{tools}tests:
{tests}
"""

CHECK = "{type: contains, value: '42'}"


def write(
    check: str = CHECK,
    *,
    prompt: str = "What of {{ n }}?",
    first: str = "1",
    third: str = "",
    tools: str = "",
    provider: str = "",
) -> None:
    Path("app.py").write_text(APP, encoding="utf-8")
    tests = f"  - {{id: one, vars: {{n: {first}}}, assert: [{check}]}}\n"
    tests += f"  - {{id: two, vars: {{n: 2}}, assert: [{check}]}}\n{third}"
    Path("evenhand.yaml").write_text(
        SUITE.format(prompt=prompt, tests=tests, tools=tools, provider=provider), encoding="utf-8"
    )


def calls() -> int:
    return len(Path("calls.txt").read_text(encoding="utf-8").splitlines())


def run(evenhand, *words: str) -> dict:
    return json.loads(evenhand("run", "--format", "json", *words).out)


def rescored(evenhand, *words: str) -> tuple[int, dict]:
    done = evenhand("rescore", *words, "--format", "json")
    return done.code, json.loads(done.out)


def test_changed_assertions_are_applied_to_stored_answers_without_a_call(evenhand) -> None:
    write()
    origin = run(evenhand)
    asked = calls()
    write("{type: contains, value: 'to 1'}")
    code, again = rescored(evenhand)
    assert calls() == asked
    assert code == 1
    assert [case["status"] for case in again["cases"]] == ["pass", "fail"]
    assert again["origin"] == origin["run_id"]
    assert again["run_id"] != origin["run_id"]
    kept = (
        "output",
        "stop_reason",
        "reasoning",
        "model",
        "latency_ms",
        "metadata",
        "log_probs",
        "prompt",
        "case_key",
    )
    for before, after in zip(origin["cases"], again["cases"], strict=True):
        assert {name: after[name] for name in kept} == {name: before[name] for name in kept}


def test_the_verdicts_that_changed_are_shown(evenhand) -> None:
    write()
    evenhand("run")
    write("{type: contains, value: 'to 1'}")
    done = evenhand("rescore")
    assert done.code == 1
    assert "newly failing (1)\n  two" in done.out
    assert "pass → fail; differs: assertions" in done.out
    assert "FAILED: 1 passed, 1 failed" in done.err


def test_scripts_see_what_the_provider_reported(evenhand) -> None:
    write()
    evenhand("run")
    write(
        "{type: python, value: \"context['providerResponse']['logProbs'] == [0.5] and "
        "context['providerResponse']['metadata'] == {'m': 1}\"}"
    )
    code, again = rescored(evenhand)
    assert (code, [case["status"] for case in again["cases"]]) == (0, ["pass", "pass"])


@pytest.mark.parametrize(
    ("change", "what", "statuses"),
    [
        ({"prompt": "And {{ n }}?"}, "its prompt changed since", ["error", "error"]),
        ({"first": "7"}, "its vars and prompt changed since", ["error", "pass"]),
        ({"tools": "tools: [{name: search}]\n"}, "the tools of the suite changed since", ["error", "error"]),
    ],
    ids=["prompt", "vars", "tools"],
)
def test_an_answer_to_another_question_is_not_judged(
    evenhand, change: dict[str, str], what: str, statuses: list[str]
) -> None:
    write()
    evenhand("run")
    asked = calls()
    write(**change)
    code, again = rescored(evenhand)
    assert (code, calls()) == (3, asked)
    assert [case["status"] for case in again["cases"]] == statuses
    assert what in again["cases"][0]["error"]
    assert again["cases"][0]["error_class"] == "cache_miss"


def test_what_a_provider_is_called_is_no_part_of_the_question_but_its_program_is(evenhand) -> None:
    write()
    evenhand("run")
    write(provider=", label: other")
    assert rescored(evenhand)[0] == 0
    write()
    Path("other.py").write_text(APP, encoding="utf-8")
    text = Path("evenhand.yaml").read_text(encoding="utf-8").replace("app.py:answer", "other.py:answer")
    Path("evenhand.yaml").write_text(text, encoding="utf-8")
    code, again = rescored(evenhand)
    assert code == 3
    assert "its provider changed since" in again["cases"][0]["error"]


def test_a_case_that_the_run_does_not_have_says_so(evenhand) -> None:
    write()
    evenhand("run")
    write(third=f"  - {{id: three, vars: {{n: 3}}, assert: [{CHECK}]}}\n")
    code, again = rescored(evenhand)
    assert code == 3
    assert [case["status"] for case in again["cases"]] == ["pass", "pass", "error"]
    assert "the run has no answer to it" in again["cases"][2]["error"]


def test_what_was_an_error_of_the_call_stays_one(evenhand) -> None:
    write(third=f"  - {{id: down, vars: {{n: 3}}, assert: [{CHECK}]}}\n")
    origin = run(evenhand)
    code, again = rescored(evenhand)
    before, after = origin["cases"][2], again["cases"][2]
    assert code == 3
    assert before["error"] == after["error"]
    assert before["error_class"] == after["error_class"]


def test_a_mended_assertion_turns_its_error_into_a_verdict(evenhand) -> None:
    write("{type: exec, command: ['false']}")
    assert evenhand("run").code == 2
    write("{type: regex, value: '42'}")
    code, again = rescored(evenhand)
    assert (code, [case["status"] for case in again["cases"]]) == (0, ["pass", "pass"])


def test_a_part_of_a_suite_is_judged_in_that_part(evenhand) -> None:
    write()
    evenhand("run", "--filter", "two", "--repeat", "2")
    code, again = rescored(evenhand)
    assert code == 0
    assert [(c["cell"]["test_id"], c["cell"]["repeat"]) for c in again["cases"]] == [("two", 0), ("two", 1)]


def test_repeats_that_were_not_needed_are_not_missed(evenhand) -> None:
    third = (
        f"  - {{id: three, vars: {{n: 3}}, repeat: {{until_decided: true, max: 20}}, assert: [{CHECK}]}}\n"
    )
    write(third=third)
    assert run(evenhand)["summary"]["total"] == 10
    code, again = rescored(evenhand)
    assert (code, again["summary"]["total"]) == (0, 10)


def test_a_rescored_run_can_be_rescored_and_compared(evenhand) -> None:
    write()
    evenhand("run")
    write("{type: contains, value: 'to 1'}")
    evenhand("rescore")
    write()
    code, again = rescored(evenhand, "latest", "--against", "latest")
    assert code == 0
    assert again["comparison"]["newly_passing"] == 1


def test_a_rescored_run_that_was_cut_off_goes_on_without_a_call(evenhand) -> None:
    write()
    evenhand("run")
    asked = calls()
    evenhand("rescore")
    # As an interruption would leave it: one result short, and not at its end.
    state = Path("../state/runs.sqlite")
    with open_store(state) as store:
        run = next(store.runs())
        store.reopen(run.run_id).finish(msgspec.structs.replace(run, status=RunStatus.INTERRUPTED))
    connection = sqlite3.connect(state)
    connection.execute("DELETE FROM results WHERE run = (SELECT max(number) FROM runs) AND position = 1")
    connection.commit()
    connection.close()
    done = evenhand("run", "--resume", "--format", "json")
    again = json.loads(done.out)
    assert (done.code, calls()) == (0, asked)
    assert [case["status"] for case in again["cases"]] == ["pass", "pass"]
    assert again["run_id"] == run.run_id


def test_a_changed_threshold_is_a_changed_demand(evenhand) -> None:
    write()
    evenhand("run")
    text = Path("evenhand.yaml").read_text(encoding="utf-8")
    Path("evenhand.yaml").write_text(
        text.replace("{id: one,", "{id: one, expect_fail: true,"), encoding="utf-8"
    )
    done = evenhand("rescore", "--full")
    assert done.code == 1
    evenhand("rescore")
    document = json.loads(evenhand("diff", "latest", "--diffs", "all", "--format", "json").out)
    assert document["comparison"]["newly_failing"] == 0


JUDGE = """
import json, pathlib, sys
pathlib.Path(__file__).with_name("judged.txt").open("a").write("x")
json.dump({"output": {"reasoning": "r", "pass": True, "score": 0.7}}, sys.stdout)
"""


def test_a_judge_is_asked_only_where_its_question_changed(evenhand) -> None:
    def judged(check: str) -> int:
        write(check)
        text = Path("evenhand.yaml").read_text(encoding="utf-8")
        grader = "grader: {provider: {id: j, type: exec, command: [python3, judge.py]}}\ntests:"
        Path("evenhand.yaml").write_text(text.replace("tests:", grader), encoding="utf-8")
        Path("judge.py").write_text(JUDGE, encoding="utf-8")
        Path("judged.txt").touch()
        return len(Path("judged.txt").read_text())

    judged("{type: llm-rubric, value: Is fine.}")
    assert evenhand("run").code == 0
    assert judged("{type: llm-rubric, value: Is fine., threshold: 0.8}") == 2
    code, again = rescored(evenhand)
    assert (code, [case["status"] for case in again["cases"]]) == (1, ["fail", "fail"])
    assert judged("{type: llm-rubric, value: Is kind.}") == 2
    assert rescored(evenhand)[0] == 0
    assert judged("{type: llm-rubric, value: Is kind.}") == 4


def test_a_run_that_goes_on_or_is_unknown_is_refused(evenhand) -> None:
    write()
    done = evenhand("rescore")
    assert done.code == 2
    assert "there is no run" in done.err
    assert evenhand("rescore", "01ZZZZZZ").code == 2


def test_spans_that_were_received_are_judged_again(evenhand) -> None:
    shutil.copytree(EXAMPLES / "58-traces", Path(), dirs_exist_ok=True)
    before = run(evenhand)
    code, document = rescored(evenhand)
    assert code == 0
    assert [case["trace"] for case in document["cases"]] == [case["trace"] for case in before["cases"]]
    assert all(case["trace"]["spans"] for case in before["cases"])


def test_what_repeats_have_shown_is_found_again(evenhand) -> None:
    third = "  - {{id: three, vars: {{n: 3}}, repeat: {{until_decided: true, max: 20}}, assert: [{}]}}\n"
    write(third=third.format(CHECK))
    origin = run(evenhand)
    _, again = rescored(evenhand)
    assert again["summary"]["repeats"] == origin["summary"]["repeats"]
    assert [c.get("decision") for c in again["cases"]] == [c.get("decision") for c in origin["cases"]]
    write(third=third.format("{type: contains, value: nowhere}"))
    _, again = rescored(evenhand, origin["run_id"])
    assert (again["summary"]["total"], again["summary"]["repeats"]["failing"]) == (10, 1)


PAID = """
from evenhand import Response
def answer(request):
    return Response(output="42", cost_usd=0.25, empty_reason="refusal" if request.test.id == "two" else None)
"""


def write_with(runner: str) -> None:
    write()
    Path("app.py").write_text(PAID, encoding="utf-8")
    text = Path("evenhand.yaml").read_text(encoding="utf-8")
    Path("evenhand.yaml").write_text(f"{text}runner: {runner}\n", encoding="utf-8")


def test_answers_are_not_paid_for_again(evenhand) -> None:
    write_with("{}")
    assert run(evenhand)["summary"]["cost_usd"] == 0.5
    write_with("{max_cost_usd: 0.01}")
    code, again = rescored(evenhand)
    assert (code, again["status"]) == (0, "finished")
    assert (again["summary"]["cost_usd"], again["summary"]["cache_savings_usd"]) == (None, 0.5)
    assert again["spending"]["spent_usd"] == 0


def test_reason_for_emptiness_that_the_provider_gave_beside_a_text_still_counts(evenhand) -> None:
    write_with("{skip_on_empty_reason: [refusal]}")
    assert [case["status"] for case in run(evenhand)["cases"]] == ["pass", "skip"]
    assert [case["status"] for case in rescored(evenhand)[1]["cases"]] == ["pass", "skip"]
