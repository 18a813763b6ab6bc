"""`evenhand calibrate`, and what it does to later runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

JUDGE = """
import json, pathlib

def judge(request):
    # The mark of a section is no part of the material, so only what people labelled decides.
    text = request.prompt
    asked = pathlib.Path(__file__).with_name("asked.txt")
    with asked.open("a") as out:
        out.write("x")
    if "unusable" in text:
        return "no verdict"
    held = "good" in text or "tricky" in text
    if "moody" in text:
        mood = pathlib.Path(__file__).with_name("mood.txt")
        held = not mood.exists()
        mood.touch()
    return json.dumps({"reasoning": "r", "pass": held, "score": 0.9 if held else 0.1})

def answer(request):
    return request.vars["a"]
"""

SUITE = """\
version: 1
suite: judged
grader: {{provider: {{id: judge, type: python, target: "file://judge.py:judge"}}{grader}}}
providers: [{{id: app, type: python, target: "file://judge.py:answer"}}]
tests:
  - {{id: a, vars: {{a: a good answer}}, assert: [{{type: llm-rubric, value: Is fine.}}]}}
  - {{id: b, vars: {{a: a tricky answer}}, assert: [{{type: llm-rubric, value: Is fine.}}]}}
  - {{id: c, vars: {{a: a bad answer}}, assert: [{{type: not-llm-rubric, value: Is fine.}}]}}
"""

ROWS = (
    [("a good one", "pass")] * 6
    + [("a bad one", "fail")] * 3
    + [("a tricky one, and a long one", "fail")] * 3
)


def write(rows=ROWS, grader: str = "") -> None:
    Path("judge.py").write_text(JUDGE, encoding="utf-8")
    Path("evenhand.yaml").write_text(SUITE.format(grader=grader), encoding="utf-8")
    lines = "".join(f'"{output}",{label}\n' for output, label in rows)
    Path("labels.csv").write_text(f"output,label\n{lines}", encoding="utf-8")


def calibrated(evenhand, *words: str) -> dict:
    done = evenhand("calibrate", "labels.csv", "--rubric", "Is fine.", "--json", *words)
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_the_judge_is_asked_about_every_answer_and_compared_with_people(evenhand) -> None:
    write()
    found = calibrated(evenhand, "--repeat", "2")
    assert (found["right_pass"], found["wrong_pass"], found["right_fail"], found["wrong_fail"]) == (
        12,
        6,
        6,
        0,
    )
    assert (found["sensitivity"], found["specificity"]) == (1, 0.5)
    assert found["agreement"]["value"] == 0.75
    assert found["kappa"]["value"] == pytest.approx(0.5)
    assert found["kappa"]["low"] < 0.5 < found["kappa"]["high"]
    assert found["self_consistency"] == 1
    assert (found["position_flips"], found["position_shift"]) == (0, 0)
    # Twelve answers, twice each and once with the answer first.
    assert len(Path("asked.txt").read_text()) == 36
    # What the judge passes wrongly are the long ones.
    assert found["length_bias"]["value"] == pytest.approx(0.5)


def test_the_figures_are_told_in_words(evenhand) -> None:
    write()
    done = evenhand("calibrate", "labels.csv", "--rubric", "Is fine.")
    assert done.code == 0
    assert "agreement with people 75.0%, 95% interval" in done.out
    assert "people fail: judge passes 9, fails 9 (50.0% right)" in done.out


def test_a_run_shows_the_rate_that_the_judges_verdicts_stand_for(evenhand) -> None:
    write()
    done = evenhand("run")
    assert "corrected" not in done.out
    calibrated(evenhand)
    done = evenhand("run", "--out", "json=run.json")
    run = json.loads(Path("run.json").read_text())["corrected"]
    # The judge passes two of three, the negated one as it gave it; (2/3 + 1/2 - 1) / (1 + 1/2 - 1) = 1/3.
    assert (run["passed"], run["judged"], run["rate"]) == (2, 3, pytest.approx(1 / 3))
    assert (
        "judge passes 66.7% of 3 verdicts; corrected for its errors on 12 labelled answers: 33.3%"
        in " ".join(done.out.split())
    )


def test_another_judge_is_not_corrected_by_the_calibration_of_this_one(evenhand) -> None:
    write()
    calibrated(evenhand)
    write(grader=", include_prompt: true")
    done = evenhand("run")
    assert "corrected" not in done.out


def test_verdicts_are_kept_and_used_again(evenhand) -> None:
    write()
    program = "import json,sys,pathlib; pathlib.Path('asked.txt').open('a').write('x'); json.dump({'output': "
    program += "{'reasoning': '', 'pass': 'good' in sys.stdin.read(), 'score': 0.5}}, sys.stdout)"
    Path("judge_program.py").write_text(program)
    text = Path("evenhand.yaml").read_text().splitlines()
    text[2] = "grader: {provider: {id: judge, type: exec, command: [python3, judge_program.py]}}"
    Path("evenhand.yaml").write_text("\n".join(text))
    Path("labels.csv").write_text("output,label\na good one,pass\na bad one,fail\n")
    first = calibrated(evenhand, "--repeat", "2")
    asked = Path("asked.txt").read_text()
    again = calibrated(evenhand, "--repeat", "2")
    assert len(asked) == 6
    assert Path("asked.txt").read_text() == asked
    assert {**first, "calibrated_at": ""} == {**again, "calibrated_at": ""}
    calibrated(evenhand, "--repeat", "2", "--no-cache")
    assert len(Path("asked.txt").read_text()) == 12


def test_a_moody_judge_shows_in_its_self_consistency(evenhand) -> None:
    write([("a good moody one", "pass"), ("a bad one", "fail")])
    found = calibrated(evenhand, "--repeat", "2", "-j", "1")
    assert found["self_consistency"] == 0.5


def test_verdicts_that_are_not_given_are_counted_and_never_guessed(evenhand) -> None:
    write([("a good one", "pass"), ("unusable", "fail"), ("a bad one", "fail")])
    found = calibrated(evenhand, "--repeat", "1")
    assert (found["items"], found["unusable"]) == (2, 1)


def test_several_people_label_one_answer(evenhand) -> None:
    write()
    rows = [
        ("x", "a good one", True),
        ("x", "a good one", True),
        ("y", "a bad one", False),
        ("y", "a bad one", True),
    ]
    rows += [("z", "a bad one, too", False), ("z", "a bad one, too", False)]
    Path("labels.jsonl").write_text(
        "".join(
            json.dumps({"id": i, "output": o, "label": label, "rubric": "Is fine."}) + "\n"
            for i, o, label in rows
        )
    )
    done = evenhand("calibrate", "labels.jsonl", "--json", "--repeat", "1")
    found = json.loads(done.out)
    assert (found["items"], found["ties"]) == (2, 1)
    assert found["human_alpha"] is not None
    assert found["agreement"]["value"] == 1


def test_labels_of_one_kind_alone_correct_nothing_and_say_so(evenhand) -> None:
    write([("a good one", "pass")] * 3)
    done = evenhand("calibrate", "labels.csv", "--rubric", "Is fine.")
    assert "nothing can be corrected" in done.out
    assert "corrected" not in evenhand("run").out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("output,label\nx,maybe\n", "labels.csv:2: `label` is neither pass nor fail, found 'maybe'"),
        (
            "output,verdict\nx,pass\ny,pass\n",
            "labels.csv:1: unknown column 'verdict'; columns are id, output, label",
        ),
        ("output,lable\nx,pass\n", "labels.csv:1: unknown column 'lable'; did you mean 'label'?"),
        ("output,label\nx,pass,more\n", "labels.csv:2: more cells than the header has columns"),
        ("label\npass\n", "`output` is missing"),
        ("output,label\n", "no labels"),
        ("", "no labels"),
    ],
)
def test_wrong_labels_are_refused_with_their_place(evenhand, content: str, message: str) -> None:
    write()
    Path("labels.csv").write_text(content, encoding="utf-8")
    done = evenhand("calibrate", "labels.csv", "--rubric", "Is fine.")
    assert done.code == 2
    assert message in done.err


@pytest.mark.parametrize("content", ["{", "[1]", "\x00", '{"output": 1, "label": true}'])
def test_wrong_json_lines_are_refused(evenhand, content: str) -> None:
    write()
    Path("labels.jsonl").write_text(content, encoding="utf-8")
    done = evenhand("calibrate", "labels.jsonl", "--rubric", "Is fine.")
    assert done.code == 2
    assert "labels.jsonl" in done.err


def test_without_a_rubric_or_a_judge_nothing_is_asked(evenhand) -> None:
    write()
    done = evenhand("calibrate", "labels.csv")
    assert (done.code, Path("asked.txt").exists()) == (2, False)
    assert "no rubric" in done.err
    text = Path("evenhand.yaml").read_text()
    Path("evenhand.yaml").write_text("\n".join(line for line in text.splitlines() if "grader" not in line))
    assert "no `grader`" in evenhand("calibrate", "labels.csv", "--rubric", "x").err
    assert evenhand("calibrate", "none.csv", "--rubric", "x").code == 2


def test_calibrations_of_a_newer_version_are_refused_by_name(evenhand, tmp_path: Path) -> None:
    write()
    calibrated(evenhand)
    path = tmp_path / "state" / "calibrations.json"
    path.write_text(path.read_text().replace('"schema_version": 1', '"schema_version": 2'))
    done = evenhand("calibrate", "labels.csv", "--rubric", "Is fine.")
    assert done.code == 3
    assert "written by a newer evenhand" in done.err


def test_a_calibration_leaves_no_run_behind(evenhand) -> None:
    write()
    calibrated(evenhand)
    assert json.loads(evenhand("runs", "list", "--json").out) == []
