"""Runs that are compared with a baseline, and gates."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from evenhand.api import RunOptions, execute_run, load_suite
from evenhand.model.result import Run
from evenhand.store.store import open_store

CASES = 10


def write(wrong: int = 0, head: str = "", cases: int = CASES) -> None:
    """A suite of which the first `wrong` cases fail."""
    lines = ["version: 1", "suite: gated", *head.splitlines(), "providers: [{id: parrot, type: echo}]"]
    lines += ['prompts: [{id: say, template: "{{ a }} {{ n }}"}]', "tests:"]
    for i in range(cases):
        answer = "no" if i < wrong else "yes"
        lines.append(
            f'  - {{id: "t{i}", vars: {{a: "{answer}", n: {i}}}, assert: [{{type: contains, value: "yes"}}]}}'
        )
    Path("evenhand.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def document(evenhand, *words: str) -> tuple[int, dict]:
    done = evenhand("run", "--format", "json", *words)
    return done.code, json.loads(done.out)


def git(*words: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=n", "-c", "user.email=e@x", *words], check=True, capture_output=True
    )


def test_a_regression_against_a_run_fails_also_where_it_is_no_failure(evenhand) -> None:
    write()
    _, base = document(evenhand)
    text = (
        Path("evenhand.yaml").read_text(encoding="utf-8").replace('{id: "t0"', '{id: "t0", expect_fail: true')
    )
    Path("evenhand.yaml").write_text(text.replace('a: "yes"', 'a: "no"', 1), encoding="utf-8")
    assert evenhand("run").code == 0
    code, run = document(evenhand, "--against", base["run_id"])
    assert code == 1
    assert run["comparison"]["newly_failing"] == 1
    assert run["baseline"] == base["run_id"]


def test_without_a_gate_known_failures_still_fail(evenhand) -> None:
    write(wrong=2)
    evenhand("run")
    code, run = document(evenhand, "--against", "latest")
    assert (code, run["comparison"]["newly_failing"], "gate" in run) == (1, 0, False)


def test_a_gate_tolerates_known_failures_and_no_new_one(evenhand) -> None:
    write(wrong=2, head="gate: {mode: any}\n")
    assert evenhand("run").code == 1
    done = evenhand("run", "--against", "latest")
    assert done.code == 0
    assert "PASSED  8 passed, 2 failed" in done.out
    assert "gate: not regressed; 0 newly failing, 0 allowed, against " in done.out
    write(wrong=3, head="gate: {mode: any}\n")
    done = evenhand("run", "--against", "latest")
    assert done.code == 1
    assert "gate: regressed; 1 newly failing" in done.out


def test_too_little_evidence_ends_with_2_and_says_so_in_every_report(evenhand) -> None:
    head = "gate: {mode: significant}\n"
    write(head=head)
    evenhand("run")
    write(wrong=2, head=head)
    reports = [f"{form}=r.{form}" for form in ("json", "junit", "md")]
    done = evenhand("run", "--against", "latest", *(w for r in reports for w in ("--out", r)))
    sentence = "gate: not enough evidence; 2 worse and 0 better of 10 cases"
    assert done.code == 2
    assert "NOT ENOUGH EVIDENCE" in done.out
    assert sentence in done.out
    assert json.loads(Path("r.json").read_text())["gate"]["verdict"] == "not_enough_evidence"
    assert sentence in Path("r.md").read_text()
    lines = [p.get("value") for p in ET.parse("r.junit").iter("property") if p.get("name") == "comparison"]
    assert lines[0].startswith(sentence)
    write(wrong=2, head="gate: {mode: significant, on_inconclusive: pass}\n")
    done = evenhand("run", "--against", "latest")
    assert done.code == 0


def test_a_significant_drop_regresses(evenhand) -> None:
    head = "gate: {mode: significant}\n"
    write(head=head)
    evenhand("run")
    write(wrong=8, head=head)
    assert evenhand("run", "--against", "latest").code == 1


def test_a_baseline_that_is_not_there_ends_with_2_before_anything_runs(evenhand) -> None:
    write()
    evenhand("run")
    Path("half.json").write_text('{\n "schema_version": 1,\n "run_id": "01AA",\n', encoding="utf-8")
    for reference in ("01ZZZZZZ", "none.json", "half.json", "branch:"):
        done = evenhand("run", "--against", reference)
        assert done.code == 2
        assert done.err.startswith("error: ")
    assert len(json.loads(evenhand("runs", "list", "--json").out)) == 1


def test_a_baseline_that_is_nothing_yet_lets_the_run_go_on_and_says_so(evenhand) -> None:
    write(head="gate: {mode: any}\nbaseline: {branch: main}\n")
    code, run = document(evenhand)
    assert code == 0
    assert "no finished run on branch 'main' yet" in run["baseline_note"]
    assert (
        "not compared with latest: there is no run of this suite yet"
        not in evenhand("run", "--against", "none").out
    )
    write(wrong=1, head="gate: {mode: any}\nbaseline: {branch: main}\n")
    done = evenhand("run")
    assert done.code == 1
    assert "not compared with branch:main" in done.out


def test_a_branch_is_the_newest_result_of_each_case(evenhand) -> None:
    git("init", "-b", "main")
    write(head="baseline: {branch: main}\n")
    git("add", ".")
    git("commit", "-m", "suite")
    assert evenhand("run").code == 0
    git("checkout", "-b", "feature")
    write(wrong=1, head="baseline: {branch: main}\n")
    code, run = document(evenhand)
    assert (code, run["comparison"]["base"], run["comparison"]["newly_failing"]) == (1, "branch:main", 1)
    git("checkout", "main")
    write(wrong=1, head="baseline: {branch: main}\n")
    evenhand("run", "--filter", "t0")
    git("checkout", "feature")
    _, run = document(evenhand)
    assert run["comparison"]["newly_failing"] == 0
    assert len(run["comparison"]["base_runs"]) == 2
    _, run = document(evenhand, "--against", "none")
    assert "comparison" not in run


def test_what_a_part_of_the_suite_leaves_out_does_not_count_as_removed(evenhand) -> None:
    write()
    evenhand("run")
    _, run = document(evenhand, "--against", "latest", "--filter", "t[12]")
    assert (run["comparison"]["unchanged"], run["comparison"]["removed"]) == (2, 0)
    write(cases=CASES - 3)
    _, run = document(evenhand, "--against", run["comparison"]["base"])
    assert run["comparison"]["removed"] == 3


def test_a_resumed_run_is_compared_as_it_was_to_be(evenhand) -> None:
    write()
    evenhand("run")
    write(wrong=3)
    _, stopped = document(evenhand, "--against", "latest", "--fail-fast", "-j", "1")
    assert stopped["status"] == "stopped"
    assert "comparison" not in stopped
    code, run = document(evenhand, "--resume")
    assert (code, run["comparison"]["newly_failing"], run["comparison"]["unchanged"]) == (1, 3, 7)


def test_a_named_baseline_is_kept_until_it_is_cleared(evenhand) -> None:
    write()
    done = evenhand("baseline", "show")
    assert (done.code, done.out) == (1, "")
    _, base = document(evenhand)
    done = evenhand("baseline", "set", "latest")
    assert done.out.strip() == base["run_id"]
    write(wrong=1)
    evenhand("run")
    assert evenhand("baseline", "show").out.strip() == base["run_id"]
    _, run = document(evenhand, "--against", "baseline")
    assert run["comparison"]["newly_failing"] == 1
    assert evenhand("diff", "baseline").code == 1
    assert evenhand("baseline", "clear").code == 0
    _, run = document(evenhand, "--against", "baseline")
    assert "no baseline is named" in run["baseline_note"]
    assert evenhand("baseline", "set", "01ZZZZZZ").code == 2


def test_a_named_baseline_that_was_deleted_ends_with_2(evenhand) -> None:
    write()
    _, base = document(evenhand)
    evenhand("baseline", "set", base["run_id"])
    evenhand("runs", "delete", base["run_id"])
    assert evenhand("run", "--against", "baseline").code == 2


def test_a_baseline_that_goes_away_meanwhile_ends_with_2(evenhand, tmp_path: Path) -> None:
    write()
    _, base = document(evenhand)

    class Deleting:
        def started(self, run: Run, total: int | None) -> None:
            with open_store(tmp_path / "state" / "runs.sqlite") as other:
                other.delete(base["run_id"])

        def finished_cell(self, result: object) -> None: ...

        def ended(self, run: Run) -> None: ...

    with open_store(tmp_path / "state" / "runs.sqlite") as store:
        options = RunOptions(against=base["run_id"])
        run = asyncio.run(execute_run(load_suite(Path.cwd()), options, store=store, observer=Deleting()))
    assert run.exit_code == 2
    assert run.baseline_note is not None
    assert "went away while the suite ran" in run.baseline_note
    assert "the baseline could not be compared with" in evenhand("view", "latest").out


def test_two_runs_at_once_are_no_baseline_of_each_other(evenhand, tmp_path: Path) -> None:
    write(head="baseline: {branch: main}\n")
    git("init", "-b", "main")
    git("add", ".")
    git("commit", "-m", "suite")
    _, base = document(evenhand)
    suite = load_suite(Path.cwd())

    async def both() -> list[Run]:
        with open_store(tmp_path / "state" / "runs.sqlite") as one, open_store(one.path) as two:
            return await asyncio.gather(
                execute_run(suite, RunOptions(against="latest"), store=one),
                execute_run(suite, RunOptions(), store=two),
            )

    for run in asyncio.run(both()):
        assert run.comparison is not None
        assert run.comparison.base_runs == (base["run_id"],)


@pytest.mark.parametrize(
    "gate",
    [
        "{mode: never}",
        "{alpha: 1}",
        "{max_regressions: 3}",
        "{min_pass_rate: 2}",
        "{mod: any}",
        "{on_inconclusive: maybe}",
    ],
)
def test_a_wrong_gate_is_found_at_load(evenhand, gate: str) -> None:
    write(head=f"gate: {gate}\n")
    done = evenhand("validate")
    assert done.code == 2
    assert "evenhand.yaml:3" in done.err
