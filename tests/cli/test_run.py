from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest

from evenhand.cli.run import run_options
from evenhand.errors import UsageError
from evenhand.model.result import RunDocument
from support.signals import heed_interrupts
from support.suites_on_disk import BROKEN, PASSING, SUITE, write_suite

HANG_S = 180

SLOW = """\
version: 1
suite: slow
providers:
  - id: sleeper
    type: exec
    command: [{python}, -c, "import time; open('begun', 'w').close(); time.sleep(600)"]
prompts: [{{id: say, template: x}}]
tests: [{{id: waits, assert: [{{type: contains, value: x}}]}}]
"""


def test_failing_suite_exits_1_and_leads_with_the_failures(evenhand) -> None:
    write_suite(SUITE)
    done = evenhand("run")
    assert done.code == 1
    assert "FAILED wrong/spain" in done.out
    assert done.out.index("FAILED wrong/spain") < done.out.index("2 passed, 4 failed, 0 errored, 0 skipped")
    assert "over 6 judged cases; 0 errored" in done.out
    assert "[red]x[/red] \\x1b[2J" in done.out
    assert "evenhand view " in done.out


def test_passing_suite_exits_0_and_says_nothing_on_the_standard_error(evenhand) -> None:
    done = evenhand("run", write_suite(PASSING))
    assert (done.code, done.err) == (0, "")
    assert "PASSED  1 passed, 0 failed" in done.out


def test_document_goes_to_the_standard_output_and_one_line_to_the_standard_error(evenhand) -> None:
    write_suite(SUITE)
    done = evenhand("run", "--format", "json")
    document = msgspec.json.decode(done.out, type=RunDocument)
    assert (document.exit_code, document.summary.failed, len(document.cases)) == (1, 4, 6)
    assert done.err.startswith("FAILED: 2 passed, 4 failed, 0 errored, 0 skipped in ")
    assert done.err.endswith(f"; run {document.run_id}\n")


def test_several_reports_of_one_run(evenhand) -> None:
    write_suite(SUITE)
    done = evenhand("run", "--format", "table", "--out", "json=out/run.json", "--out", "junit=out/run.xml")
    assert done.code == 1
    assert "FAILED wrong/spain" in done.out
    names = [case.get("name") for case in ET.parse("out/run.xml").iter("testcase")]
    assert len(set(names)) == 6
    cases = json.loads(Path("out/run.json").read_text())["cases"]
    assert [case["cell"]["test_id"] for case in cases] == ["right/france"] * 2 + ["wrong/spain"] * 4
    assert sorted(os.listdir("out")) == ["run.json", "run.xml"]


def test_selection_reaches_the_engine(evenhand) -> None:
    write_suite(SUITE)
    options = (
        "--tag",
        "smoke",
        "--filter",
        "right/*",
        "--provider",
        "parrot",
        "--prompt",
        "turns",
        "--repeat",
        "2",
    )
    done = evenhand("run", *options, "--format", "jsonl")
    cells = [json.loads(line)["cell"] for line in done.out.splitlines()]
    assert [(cell["test_id"], cell["prompt_id"], cell.get("repeat", 0)) for cell in cells] == [
        ("right/france", "turns", 0),
        ("right/france", "turns", 1),
    ]
    assert done.code == 0


def test_a_filter_that_leaves_nothing_is_refused_and_leaves_the_last_run_alone(evenhand) -> None:
    write_suite(SUITE)
    evenhand("run")
    done = evenhand("run", "--tag", "smok")
    assert (done.code, done.out) == (2, "")
    assert done.err == "error: no case has the tag 'smok'; did you mean 'smoke'?\n"
    assert evenhand("run", "--failed").code == 1
    assert evenhand("run", "--tag", "smok", "--allow-empty").code == 0


def test_fail_fast_ends_the_run_early_and_says_so(evenhand) -> None:
    write_suite(SUITE)
    done = evenhand("run", "--fail-fast", "-j", "1")
    assert done.code == 1
    assert "the run was ended early by its limit on failures" in done.out
    assert "3 of 6 planned cells ran" in done.out


def test_failed_runs_only_what_failed(evenhand) -> None:
    write_suite(SUITE)
    evenhand("run")
    done = evenhand("run", "--failed", "--format", "jsonl")
    assert {json.loads(line)["cell"]["test_id"] for line in done.out.splitlines()} == {"wrong/spain"}


def test_broken_suite_exits_2_with_every_problem_and_no_traceback(evenhand) -> None:
    write_suite(BROKEN)
    done = evenhand("run", "--out", "json=run.json")
    assert done.code == 2
    assert done.out == ""
    assert "did you mean 'echo'?" in done.err
    assert "did you mean 'assert'?" in done.err
    assert done.err.endswith("error: 2 problems found\n")
    assert "Traceback" not in done.err
    assert not Path("run.json").exists()


def test_warnings_are_errors_where_strict(evenhand) -> None:
    write_suite(PASSING.replace("assert: [{type: contains, value: Paris}]", "threshold: 0"))
    assert evenhand("run", "--allow-unchecked").err.startswith("warning: ")
    done = evenhand("run", "--strict")
    assert done.code == 2
    assert done.out == ""
    assert "found\n" in done.err


def test_an_output_that_cannot_be_written_is_found_before_the_run(evenhand) -> None:
    write_suite(PASSING)
    Path("folder").mkdir()
    done = evenhand("run", "--format", "json", "--out", "folder")
    assert done.code == 2
    assert done.err == "error: --out 'folder' cannot be written: folder is a folder\n"
    assert evenhand("runs").err == (
        "there are no runs of this project yet; start one with `evenhand run`, or say whose are meant with "
        "`--suite PATH`\n"
    )


def test_a_report_is_never_written_over_the_suite(evenhand) -> None:
    suite = write_suite(PASSING)
    before = suite.read_bytes()
    done = evenhand("run", suite, "--format", "json", "--out", Path("..") / Path.cwd().name / suite.name)
    assert done.code == 2
    assert "is the suite itself; name another file" in done.err
    assert suite.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--provider", "parot"], "no provider 'parot' in the suite; did you mean 'parrot'?"),
        (["--fail-fast", "--max-failures", "3"], "--fail-fast means --max-failures 1"),
        (["--no-retries", "--retries", "2"], "--no-retries contradicts --retries 2"),
        (["--format", "xml"], "'xml' is not one of"),
        (["--repeat", "0"], "0 is not in the range"),
        (["--timeout-ms", "0"], "0.0 is not in the range"),
        (["--concurrency", "10001"], "concurrency: expected a whole number <= 10000, found 10001"),
        (["--resume-run", ""], "there is no run ''"),
        (["--fialed"], "--failed"),
        (["a", "b"], "unexpected extra argument"),
    ],
)
def test_wrong_options_exit_2_and_say_what_to_do(evenhand, arguments: list[str], message: str) -> None:
    write_suite(PASSING)
    done = evenhand("run", *([] if arguments[0] == "a" else ["."]), *arguments)
    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1


def test_options_of_the_command_line_become_those_of_the_library() -> None:
    options = run_options(
        tags=("a",), fail_fast=True, no_retries=True, resume_run="01J", repeat=3, timeout_ms=5.0
    )
    assert (options.tags, options.max_failures, options.retries) == (("a",), 1, 0)
    assert (options.resume, options.resume_run, options.repeat, options.timeout_ms) == (True, "01J", 3, 5.0)
    assert run_options(retries=0, no_retries=True).retries == 0
    assert run_options().retries is None
    with pytest.raises(UsageError):
        run_options(fail_fast=True, max_failures=2)


def process(*arguments: str, **options: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "evenhand", *arguments]
    return subprocess.Popen(command, preexec_fn=heed_interrupts, **options)  # type: ignore[call-overload]


def test_an_interrupted_run_ends_with_130_and_a_partial_report(evenhand, tmp_path: Path) -> None:
    write_suite(SLOW.format(python=json.dumps(sys.executable)))
    running = process("run", "--format", "json", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline_s = time.monotonic() + HANG_S
    while not Path("begun").exists() and time.monotonic() < deadline_s:
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=HANG_S)
    assert running.returncode == 130
    assert json.loads(out)["status"] == "interrupted"


NOISY = """
import os, sys, threading, time
print("loading")
def chatter():
    while True:
        os.write(1, b"late\\n")
        print("later")
        time.sleep(0.001)
def answer(request):
    print("printed")
    sys.__stdout__.write("kept in a buffer")
    os.write(1, b"written\\n")
    os.system("echo from a child")
    {mischief}
    return "hi"
"""

NOISY_SUITE = """
version: 1
providers: [{type: python, target: "file://app.py:answer"}]
prompts: [{id: say, template: x}]
tests: [{id: a, assert: [{type: contains, value: hi}]}]
"""


@pytest.mark.parametrize(
    "mischief",
    [
        "pass",
        "threading.Thread(target=chatter, daemon=True).start()",
        "os.close(1)",
        "os.close(1); os.close(2)",
        "sys.stdout = sys.stderr = None",
        "sys.stdout.close()",
    ],
)
def test_a_report_on_the_standard_output_survives_the_code_under_test(evenhand, mischief: str) -> None:
    write_suite(NOISY_SUITE)
    Path("app.py").write_text(NOISY.replace("{mischief}", mischief), encoding="utf-8")
    running = process("run", "--format", "json", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = running.communicate(timeout=HANG_S)
    assert json.loads(out)["summary"]["passed"] == 1
    assert b"Traceback" not in err
    assert running.returncode == 0


def test_a_current_folder_that_was_removed_is_said_to_be_gone(evenhand, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = 'cd "$1" && rmdir "$1" && exec "$2" -m evenhand run .'
    done = subprocess.run(["sh", "-c", script, "sh", gone, sys.executable], capture_output=True, check=False)
    assert done.returncode == 2
    assert done.stderr.decode().startswith("error: the current folder cannot be used: ")
    assert done.stderr.count(b"\n") == 1


def test_a_terminal_sees_progress_on_the_standard_error_only(evenhand, tmp_path: Path) -> None:
    write_suite(PASSING)
    outer, inner = pty.openpty()
    running = process("run", "--format", "json", stdout=subprocess.PIPE, stderr=inner)
    out, _ = running.communicate(timeout=HANG_S)
    os.close(inner)
    seen = b""
    with contextlib.suppress(OSError):  # Linux says EIO at the end of a terminal's output.
        while chunk := os.read(outer, 65_536):
            seen += chunk
    os.close(outer)
    assert json.loads(out)["exit_code"] == 0
    assert b"\r\x1b[K" in seen
    assert b"PASSED: 1 passed" in seen


def test_no_progress_is_drawn_where_nobody_wants_it(evenhand, tmp_path: Path) -> None:
    write_suite(PASSING)
    outer, inner = pty.openpty()
    running = process("run", "--no-progress", "--format", "json", stdout=subprocess.PIPE, stderr=inner)
    running.communicate(timeout=HANG_S)
    assert b"\r\x1b[K" not in os.read(outer, 65_536)
    os.close(inner)
    os.close(outer)


def test_a_reader_that_goes_away_does_not_change_the_verdict(evenhand) -> None:
    write_suite(PASSING)
    reading, writing = os.pipe()
    os.close(reading)
    running = process("run", "--format", "json", stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    _, err = running.communicate(timeout=HANG_S)
    assert running.returncode == 0
    assert b"Traceback" not in err


def test_a_full_disk_at_the_end_is_3_and_names_the_way_back(evenhand) -> None:
    write_suite(PASSING)
    with open("/dev/full", "wb") as full:
        running = process("run", "--format", "json", stdout=full, stderr=subprocess.PIPE)
        _, err = running.communicate(timeout=HANG_S)
    assert running.returncode == 3
    assert (
        b"error: the standard output cannot be written: No space left on device; the run is stored: `evenhand view"
        in err
    )
    assert b"Traceback" not in err


def test_more_is_told_on_the_standard_error_where_it_is_asked_for(evenhand) -> None:
    write_suite(PASSING)
    done = evenhand("-v", "run")
    assert "evenhand: loaded evenhand.yaml in " in done.err
    assert "evenhand: results go to " in done.err


GENERATED = """\
version: 1
providers:
  - id: app
    type: exec
    command: [python3, -c, "print('{\\"output\\": \\"x\\"}')"]
    env: {APP_TOKEN: "${env:APP_TOKEN}"}
defaults: {assert: [{type: equals, value: x}]}
tests:
  - generator: {command: [python3, -c, "print('{\\"id\\": \\"made\\"}')"]}
"""


def test_generated_cases_stay_where_results_name_them_and_settings_are_stored_as_written(
    evenhand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("APP_TOKEN", "s3cret-0123456789")
    write_suite(GENERATED)
    done = evenhand("run", "--format", "json")
    assert done.code == 0, done.err
    document = json.loads(done.out)
    (case,) = document["cases"]
    place, _, _ = case["location"].partition(":")
    assert Path(place).parent.name == "generated"
    assert json.loads(Path(place).read_text(encoding="utf-8")) == {"id": "made"}
    assert document["config_snapshot"]["providers"][0]["env"] == {"APP_TOKEN": "${env:APP_TOKEN}"}
    assert "s3cret" not in done.out


def test_dry_run_asks_nothing_and_keeps_nothing(evenhand) -> None:
    write_suite(PASSING)
    done = evenhand("run", "--dry-run")
    assert done.code == 0
    assert "call" in done.out
    assert not Path(".evenhand").exists()
    as_json = evenhand("run", "--dry-run", "--format", "json")
    assert json.loads(as_json.out)["cells"] > 0


@pytest.mark.parametrize(
    "words", [("--format", "junit"), ("--out", "run.json"), ("--format", "json", "--format", "table")]
)
def test_dry_run_has_no_other_reports(evenhand, words: tuple[str, ...]) -> None:
    write_suite(PASSING)
    assert evenhand("run", "--dry-run", *words).code == 2


def test_a_limit_on_the_cost_says_what_was_spent_and_how_to_go_on(evenhand) -> None:
    Path("app.py").write_text(
        "from evenhand import Response\n\n\ndef answer(request):\n    return Response(output='x', cost_usd=0.25)\n",
        encoding="utf-8",
    )
    write_suite(
        "version: 1\nproviders: [{type: python, target: 'file://app.py:answer'}]\n"
        "prompts: [{id: p, template: x}]\nrunner: {max_cost_usd: 0.5}\n"
        "tests: [{matrix: {n: [1, 2, 3]}, assert: [{type: contains, value: x}]}]\n"
    )
    done = evenhand("run", "-j", "1")
    assert done.code == 3
    text = " ".join(done.out.split())
    assert "$0.500 of $0.500 are spent" in text
    assert "--resume-run" in text
    assert evenhand("run", "--resume", "--max-cost", "5").code == 0


REFUSING = """\
version: 1
providers:
  - {id: main, type: python, target: 'file://app.py:refuse', fallback: [spare]}
  - {id: spare, type: python, target: 'file://app.py:answer', fallback_only: true}
prompts: [{id: p, template: x}]
tests: [{id: one, assert: [{type: contains, value: x}]}, {id: two, assert: [{type: equals, value: ''}]}]
"""


def test_fallbacks_can_be_left_out_of_a_run(evenhand, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("app.py").write_text(
        "from evenhand import Response\n\n\n"
        "def refuse(request):\n    return Response(output='', stop_reason='refusal')\n\n\n"
        "def answer(request):\n    return request.prompt\n",
        encoding="utf-8",
    )
    write_suite(REFUSING)

    def answered(*words: str) -> tuple[int, list[str]]:
        done = evenhand("run", "--format", "jsonl", *words)
        return done.code, [json.loads(line)["status"] for line in done.out.splitlines()]

    assert answered() == (2, ["pass", "fail"])  # nothing is known of `main`
    assert answered("--no-fallback") == (1, ["fail", "pass"])
    assert answered("--fallback-on-empty-reason", "blank") == (1, ["fail", "pass"])
    monkeypatch.setenv("EVENHAND_NO_FALLBACK", "1")
    assert answered() == (1, ["fail", "pass"])
    assert evenhand("run", "--provider", "spare").code == 2
