"""A run from request to record: interrupted, resumed, repeated, stored."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evenhand import RunOptions, StoreError, UsageError, load_suite, run_suite
from evenhand.io.fake import FakeSession
from evenhand.model.result import CaseResult, Run, RunStatus
from evenhand.model.suite import Suite
from evenhand.session.execution import execute_run
from evenhand.store.state import store_path
from evenhand.store.store import open_store
from support.programs import is_gone
from support.signals import heed_interrupts

SUITE = """
version: 1
suite: numbers
providers: [{{id: app, type: {provider}}}]
prompts: [{{id: ask, template: "number {{{{ n }}}}"}}]
defaults: {{assert: [{{type: contains, value: "number"}}, {{type: not-contains, value: "7"}}]}}
tests: ["file://cases.jsonl"]
"""


def write_suite(folder: Path, *, cases: int = 20, provider: str = "echo") -> Path:
    (folder / "evenhand.yaml").write_text(SUITE.format(provider=provider), encoding="utf-8")
    rows = [json.dumps({"id": f"case-{n}", "vars": {"n": n}}) for n in range(cases)]
    (folder / "cases.jsonl").write_text("\n".join(rows), encoding="utf-8")
    return folder


def results(folder: Path, run: Run) -> list[CaseResult]:
    with open_store(store_path(folder / ".evenhand")) as store:
        return list(store.results(run.run_id))


def test_run_is_stored_and_counted(tmp_path: Path) -> None:
    finished = run_suite(load_suite(write_suite(tmp_path)))
    assert (finished.summary.total, finished.summary.passed, finished.summary.failed) == (20, 18, 2)
    assert finished.exit_code == 1
    assert not finished.passed
    assert [case.cell.test_id for case in finished.cases(statuses=["fail"])] == ["case-7", "case-17"]
    assert len(results(tmp_path, finished.run)) == 20


def test_run_keeps_the_suite_as_it_was_put_together(tmp_path: Path) -> None:
    write_suite(tmp_path)
    snapshots = []
    for value in ("7", "7", "8"):
        path = tmp_path / "evenhand.yaml"
        path.write_text(path.read_text(encoding="utf-8").replace('"7"', f'"{value}"'), encoding="utf-8")
        run = run_suite(load_suite(tmp_path), RunOptions(filters=("case-1",))).run
        with open_store(store_path(tmp_path / ".evenhand")) as store:
            snapshots.append((store.find(run.run_id).config_snapshot, run.config_digest))
    (first, digest), again, (changed, other) = snapshots
    assert again == (first, digest)
    assert first["prompts"] == [{"id": "ask", "template": "number {{ n }}"}]
    assert first["tests"] == ["file://cases.jsonl"]
    assert first["defaults"] != changed["defaults"]
    assert digest.startswith("sha256:")
    assert digest != other


def test_snapshot_of_a_suite_holds_no_secret_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVICE_TOKEN", "very-secret-value")
    write_suite(tmp_path)
    path = tmp_path / "evenhand.yaml"
    text = path.read_text(encoding="utf-8").replace("id: app", 'id: app, label: "${env:SERVICE_TOKEN}"')
    path.write_text(text + "description: very-secret-value\n", encoding="utf-8")
    run = run_suite(load_suite(tmp_path)).run
    with open_store(store_path(tmp_path / ".evenhand")) as store:
        snapshot = store.find(run.run_id).config_snapshot
    assert snapshot["providers"] == [{"id": "app", "label": "${env:SERVICE_TOKEN}", "type": "echo"}]
    assert snapshot["description"] == "[redacted]"


def test_credentials_written_in_a_suite_are_neither_stored_nor_handed_to_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVICE_TOKEN", "from-the-environment")
    write_suite(tmp_path)
    path = tmp_path / "evenhand.yaml"
    text = path.read_text(encoding="utf-8").replace(
        "providers: [",
        """providers:
  [{id: asked-by-nobody, type: http, url: "https://a.example", headers: {Authorization: "Bearer written-secret"}},
  {id: program, type: exec, command: [cat], env: {SERVICE_TOKEN: other-secret}},
  {id: named, type: exec, command: [cat], env: {A_TOKEN: "${env:SERVICE_TOKEN}", B_TOKEN: "${env:NONE:-third-secret}"}},
  """,
    )
    path.write_text(text, encoding="utf-8")
    run = run_suite(load_suite(tmp_path), RunOptions(providers=("app",))).run
    with open_store(store_path(tmp_path / ".evenhand")) as store:
        kept = store.find(run.run_id)
    for found in (run, kept):
        assert found.config_snapshot["providers"][0]["headers"] == {"Authorization": "Bearer [redacted]"}
        assert found.config_snapshot["providers"][1]["env"] == {"SERVICE_TOKEN": "[redacted]"}
        assert found.config_snapshot["providers"][2]["env"] == {
            "A_TOKEN": "${env:SERVICE_TOKEN}",
            "B_TOKEN": "${env:NONE:-[redacted]}",
        }


def test_run_that_is_not_saved_leaves_nothing_on_disk(tmp_path: Path) -> None:
    finished = run_suite(load_suite(write_suite(tmp_path)), save=False)
    assert finished.summary.total == len(list(finished.cases())) == 20
    assert not (tmp_path / ".evenhand").exists()


def test_run_works_inside_a_running_event_loop(tmp_path: Path) -> None:
    async def notebook() -> int:
        return run_suite(load_suite(write_suite(tmp_path)), save=False).summary.total

    assert asyncio.run(notebook()) == 20


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"concurrency": 0}, "concurrency: expected a whole number >= 1, found 0"),
        ({"concurrency": 10**9}, "concurrency: expected a whole number <= 10000, found 1000000000"),
        ({"repeat": "3"}, "repeat: expected a whole number, found '3'"),
        ({"timeout_ms": float("nan")}, "timeout ms: expected a number > 0.0, found nan"),
        ({"tags": "smoke"}, "tags: expected a tuple, found 'smoke'"),
    ],
)
def test_options_out_of_bounds_are_refused(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        run_suite(load_suite(write_suite(tmp_path)), RunOptions(**options), save=False)
    assert str(caught.value) == message


def test_secrets_that_the_code_under_test_loads_itself_are_not_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LATE_API_KEY", "")
    write_suite(tmp_path, cases=3, provider="python, target: 'file://app.py:answer'")
    source = """
import os
def answer(request):
    os.environ["LATE_API_KEY"] = "late-secret-0123"
    return "number " + os.environ["LATE_API_KEY"]
"""
    (tmp_path / "app.py").write_text(source, encoding="utf-8")
    finished = run_suite(load_suite(tmp_path))
    assert {case.output for case in finished.cases()} == {"number [redacted]"}
    for file in (tmp_path / ".evenhand").iterdir():
        assert b"late-secret-0123" not in file.read_bytes()


def test_failed_cells_of_the_last_run_are_asked_again(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path))
    first = run_suite(suite)
    again = run_suite(suite, RunOptions(failed=True))
    assert again.summary.total == 2
    assert again.run.filters.failed_of == first.run.run_id
    assert {case.cell.test_id for case in again.cases()} == {"case-7", "case-17"}


def test_run_is_found_again_whatever_its_path_was_typed_like(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_suite(load_suite(write_suite(tmp_path)), RunOptions(max_failures=1, concurrency=1))
    monkeypatch.chdir(tmp_path.parent)
    typed = f"./{tmp_path.name}/../{tmp_path.name}"
    assert run_suite(load_suite(typed), RunOptions(failed=True)).summary.total == 1
    assert run_suite(load_suite(f"{typed}/evenhand.yaml"), RunOptions(resume=True)).run.status == "finished"


def test_failed_without_any_failure_says_so(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path, cases=3))
    run_suite(suite)
    with pytest.raises(UsageError, match="nothing failed in the last run"):
        run_suite(suite, RunOptions(failed=True))


def test_run_ends_early_at_so_many_failures_and_can_be_resumed(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path))
    stopped = run_suite(suite, RunOptions(max_failures=1, concurrency=1))
    assert (stopped.run.status, stopped.summary.total) == ("stopped", 8)
    resumed = run_suite(suite, RunOptions(resume=True, concurrency=1))
    assert resumed.run.run_id == stopped.run.run_id
    assert (resumed.run.status, resumed.summary.total, resumed.summary.failed) == ("finished", 20, 2)
    assert Counter(r.case_key for r in results(tmp_path, resumed.run)).most_common(1)[0][1] == 1


@pytest.mark.parametrize("changed", ["prompt", "case", "assertion", "provider"])
def test_resuming_is_refused_when_the_question_changed(changed: str, tmp_path: Path) -> None:
    run_suite(load_suite(write_suite(tmp_path)), RunOptions(max_failures=1, concurrency=1))
    edits = {
        "prompt": ("number {{ n }}", "numero {{ n }}"),
        "case": ("case-19", "case-twenty"),
        "assertion": ('value: "7"', 'value: "8"'),
        "provider": ("id: app", "id: other"),
    }
    for path in (tmp_path / "evenhand.yaml", tmp_path / "cases.jsonl"):
        path.write_text(path.read_text(encoding="utf-8").replace(*edits[changed]), encoding="utf-8")
    with pytest.raises(UsageError, match="cannot be resumed"):
        run_suite(load_suite(tmp_path), RunOptions(resume=True))


def test_resuming_goes_on_when_only_the_pace_changed(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path))
    run_suite(suite, RunOptions(max_failures=1, concurrency=1))
    path = tmp_path / "evenhand.yaml"
    path.write_text(path.read_text(encoding="utf-8") + "runner: {concurrency: 2}\n", encoding="utf-8")
    assert run_suite(load_suite(tmp_path), RunOptions(resume=True)).summary.total == 20


def test_nothing_to_resume_says_so(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path))
    run_suite(suite)
    with pytest.raises(UsageError, match="no unfinished run"):
        run_suite(suite, RunOptions(resume=True))


def test_store_that_breaks_in_the_middle_ends_the_run_with_its_reason(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path, cases=2_000))

    async def work() -> None:
        store = open_store(tmp_path / "other.db")

        def answer(_: object) -> str:
            store.close()
            return "number"

        with pytest.raises(StoreError):
            await execute_run(suite, RunOptions(), store=store, sessions={"app": FakeSession(answer)})

    asyncio.run(work())


STUCK_APP = """
import asyncio
from pathlib import Path

GO = Path(__file__).with_name("go")
answered = 0

async def answer(request):
    global answered
    answered += 1
    while answered > 30 and not GO.exists():
        await asyncio.sleep(0.01)
    return request.prompt
"""
"""Answers thirty questions and then none until the file `go` is there: the run cannot end before it is stopped."""


def start(folder: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "evenhand", "run", str(folder), "--no-progress", "-j", "2", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, "EVENHAND_HOME": str(folder / ".evenhand")},
        preexec_fn=heed_interrupts,
    )


def wait_for_results(folder: Path, count: int) -> None:
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline:
        if store_path(folder / ".evenhand").exists():
            with open_store(store_path(folder / ".evenhand")) as store:
                if any(len(store.finished_keys(run.run_id)) >= count for run in store.runs()):
                    return
        time.sleep(0.05)
    raise AssertionError("no result came")


@pytest.fixture
def stuck_suite(tmp_path: Path) -> Path:
    (tmp_path / "app.py").write_text(STUCK_APP, encoding="utf-8")
    provider = "python, target: 'file://app.py:answer'"
    return write_suite(tmp_path, cases=100, provider=provider)


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_run_says_so_and_resumes_exactly_what_is_missing(
    stop: signal.Signals, stuck_suite: Path
) -> None:
    child = start(stuck_suite)
    wait_for_results(stuck_suite, 5)
    child.send_signal(stop)
    _, errors = child.communicate(timeout=180)
    assert child.returncode == 130, errors
    assert "Traceback" not in errors
    with open_store(store_path(stuck_suite / ".evenhand")) as store:
        run = next(store.runs())
        before = len(store.finished_keys(run.run_id))
        assert run.status == "interrupted"
        assert 5 <= before < 100
        assert run.summary.total == before
    (stuck_suite / "go").touch()
    done = start(stuck_suite, "--resume")
    done.communicate(timeout=180)
    with open_store(store_path(stuck_suite / ".evenhand")) as store:
        resumed = store.find(run.run_id)
        assert (resumed.status, resumed.summary.total) == ("finished", 100)
        assert len(store.finished_keys(run.run_id)) == 100


@pytest.mark.parametrize("block", ["generator", "server"])
def test_a_run_that_is_ended_before_its_first_call_says_so_and_leaves_nothing_running(
    block: str, tmp_path: Path
) -> None:
    program = "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(600)"
    command = json.dumps([sys.executable, "-c", program])
    blocks = {
        "generator": f"tests: [{{generator: {{command: {command}, timeout_ms: 600000}}}}]",
        "server": f"tests: [{{assert: [{{type: is-json}}]}}]\nservers: [{{command: {command}, url: 'http://127.0.0.1:9'}}]",
    }
    (tmp_path / "evenhand.yaml").write_text(f"version: 1\nproviders: [{{type: echo}}]\n{blocks[block]}\n")
    child = start(tmp_path)
    pid = tmp_path / "pid"
    for _ in range(1_800):
        if pid.exists() and pid.read_text():
            break
        time.sleep(0.05)
    child.send_signal(signal.SIGTERM)
    _, errors = child.communicate(timeout=180)
    assert (child.returncode, errors.splitlines()[-1]) == (130, "interrupted")
    assert "Traceback" not in errors
    assert is_gone(int(pid.read_text()))


def test_killed_run_loses_nothing_that_was_committed(stuck_suite: Path) -> None:
    child = start(stuck_suite)
    wait_for_results(stuck_suite, 20)
    child.kill()
    child.communicate(timeout=180)
    with open_store(store_path(stuck_suite / ".evenhand")) as store:
        run = next(store.runs())
        assert run.status == "running"
        assert len(list(store.results(run.run_id))) >= 20
    (stuck_suite / "go").touch()
    done = start(stuck_suite, "--resume")
    done.communicate(timeout=180)
    with open_store(store_path(stuck_suite / ".evenhand")) as store:
        assert store.find(run.run_id).summary.total == 100


DEAR = """
from evenhand import Response

def answer(request):
    return Response(output=request.prompt, cost_usd=0.1)
"""


def write_dear_suite(folder: Path) -> Path:
    write_suite(folder, provider="python, target: 'file://dear.py:answer'")
    (folder / "dear.py").write_text(DEAR, encoding="utf-8")
    return folder


def test_a_run_ends_before_it_costs_more_and_can_go_on(tmp_path: Path) -> None:
    suite = load_suite(write_dear_suite(tmp_path))
    first = run_suite(suite, RunOptions(max_cost_usd=0.55, filters=("case-[0-6]",))).run
    assert (first.status, first.exit_code, first.summary.total) == ("stopped", 3, 5)
    assert first.spending is not None
    assert (first.spending.spent_usd, first.spending.is_reached) == (0.5, True)
    again = run_suite(suite, RunOptions(resume=True, max_cost_usd=0.55)).run
    assert (again.run_id, again.summary.total, again.exit_code) == (first.run_id, 5, 3)
    rest = run_suite(suite, RunOptions(resume=True, max_cost_usd=1.0)).run
    assert (rest.run_id, rest.status, rest.exit_code, rest.summary.total) == (first.run_id, "finished", 0, 7)
    assert rest.summary.cost_usd == 0.7
    assert rest.spending is not None
    assert rest.spending.spent_usd == 0.7


SCRIPTED = """
version: 1
providers: [{id: app, type: echo}]
prompts: [{id: ask, template: "{{ n }}"}]
defaults: {assert: [{type: javascript, value: "output !== '0'"}]}
tests: [{id: zero, vars: {n: 0}}, {id: one, vars: {n: 1}}, {id: two, vars: {n: 2}}]
"""


def test_safe_mode_of_a_run_holds_when_it_is_resumed_without_it(tmp_path: Path) -> None:
    (tmp_path / "evenhand.yaml").write_text(SCRIPTED, encoding="utf-8")
    suite = load_suite(tmp_path)
    run_suite(suite, RunOptions(safe_mode=True, max_failures=1, concurrency=1))
    resumed = run_suite(suite, RunOptions(resume=True))
    assert resumed.run.terms.safe_mode
    assert [case.status for case in resumed.cases()] == ["fail", "fail", "fail"]
    assert all("safe mode" in case.asserts[0].reason for case in resumed.cases())


def test_what_counts_as_checked_holds_when_a_run_is_resumed(tmp_path: Path) -> None:
    (tmp_path / "evenhand.yaml").write_text(
        SCRIPTED.replace("defaults:", "x-none:").replace('"{{ n }}"', '"{{ [1][n] }}"'), encoding="utf-8"
    )
    suite = load_suite(tmp_path)
    begun = run_suite(suite, RunOptions(allow_unchecked=True, no_cache=True, max_failures=1, concurrency=1))
    assert begun.run.status is RunStatus.STOPPED
    resumed = run_suite(suite, RunOptions(resume=True))
    assert resumed.run.terms == begun.run.terms
    with pytest.raises(UsageError, match="contradicts"):
        run_suite(suite, RunOptions(resume_run=stopped(suite, no_cache=True), cache_only=True))


def stopped(suite: Suite, **options: Any) -> str:
    """The id of a run that ended at its first failure."""
    return run_suite(suite, RunOptions(max_failures=1, concurrency=1, **options)).run.run_id


@pytest.mark.parametrize(
    ("option", "value"),
    [("tags", ("x",)), ("filters", ("on*",)), ("providers", ("app",)), ("prompts", ("ask",)), ("repeat", 2)],
)
def test_run_is_not_resumed_in_another_part_of_its_suite(tmp_path: Path, option: str, value: Any) -> None:
    (tmp_path / "evenhand.yaml").write_text(SCRIPTED, encoding="utf-8")
    suite = load_suite(tmp_path)
    run_id = stopped(suite)
    with pytest.raises(UsageError, match=f"begun with other {option}"):
        run_suite(suite, RunOptions(resume=True, **{option: value}))
    assert run_suite(suite, RunOptions(resume_run=run_id)).run.status is RunStatus.FINISHED


def test_run_of_a_part_is_resumed_with_the_same_words(tmp_path: Path) -> None:
    (tmp_path / "evenhand.yaml").write_text(SCRIPTED, encoding="utf-8")
    suite = load_suite(tmp_path)
    stopped(suite, filters=("*o*",), repeat=2)
    resumed = run_suite(suite, RunOptions(filters=("*o*",), repeat=2, resume=True))
    assert resumed.summary.total == 6


LAST_FAILS = """
version: 1
gate: {min_pass_rate: 0.1}
providers: [{id: app, type: echo}]
prompts: [{id: ask, template: "{{ n }}"}]
defaults: {assert: [{type: not-contains, value: "9"}]}
tests: [{id: t, matrix: {n: [1, 2, 3, 4, 5, 6, 7, 8, 9]}}]
"""


@pytest.mark.parametrize("repeat", ["1", "{until_decided: true, max: 20, alpha: 0.9}"])
def test_run_whose_last_cell_is_one_failure_too_many_was_not_cut_off(tmp_path: Path, repeat: str) -> None:
    text = LAST_FAILS.replace("matrix:", f"repeat: {repeat}, matrix:")
    (tmp_path / "evenhand.yaml").write_text(text, encoding="utf-8")
    suite = load_suite(tmp_path)
    whole = run_suite(suite, RunOptions(concurrency=1))
    failures = whole.summary.failed
    assert (whole.exit_code, failures > 0) == (0, True)
    ended = run_suite(suite, RunOptions(concurrency=1, max_failures=failures))
    assert (ended.run.status, ended.run.gate, ended.exit_code) == (RunStatus.FINISHED, whole.run.gate, 0)
    if failures > 1:
        cut = run_suite(suite, RunOptions(concurrency=1, max_failures=failures - 1))
        assert (cut.run.status, cut.exit_code) == (RunStatus.STOPPED, 1)
