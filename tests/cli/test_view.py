from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from support.signals import heed_interrupts
from support.suites_on_disk import PASSING, SUITE, write_suite

MATRIX = """\
version: 1
providers: [{id: parrot, type: echo}]
prompts: [{id: say, template: "{{ n }}"}]
tests:
  - {id: sum, matrix: {n: ["1", "2"]}, assert: [{type: equals, value: "1"}]}
"""


@pytest.fixture
def ran(evenhand):
    """The command line after a run of the suite with failures."""
    write_suite(SUITE)
    assert evenhand("run").code == 1
    return evenhand


def test_the_latest_run_is_shown_as_it_was_and_exits_0(ran) -> None:
    done = ran("view")
    assert (done.code, done.err) == (0, "")
    assert "FAILED wrong/spain" in done.out
    assert "2 passed, 4 failed" in done.out


def test_a_run_is_found_by_the_beginning_of_its_id(ran) -> None:
    run_id = json.loads(ran("view", "--format", "json").out)["run_id"]
    write_suite(PASSING, Path("other"))
    ran("run", "other")
    assert "PASSED  1 passed" in ran("view").out
    assert "2 passed, 4 failed" in ran("view", run_id).out
    assert json.loads(ran("view", run_id, "--format", "json").out)["run_id"] == run_id


def test_an_unknown_run_exits_2(ran) -> None:
    done = ran("view", "01XXXXXXXX")
    assert done.code == 2
    assert done.err.startswith("error: there is no run '01XXXXXXXX'; ")


def test_failed_shows_every_failure_in_turn(ran) -> None:
    assert ran("view", "--failed").out.count("FAILED wrong/spain") == 4


def test_failed_narrows_documents_and_their_counts(ran) -> None:
    document = json.loads(ran("view", "--failed", "--format", "json").out)
    assert {case["status"] for case in document["cases"]} == {"fail"}
    assert (document["summary"]["total"], document["summary"]["failed"]) == (4, 4)
    suite = ET.fromstring(ran("view", "--failed", "--format", "junit").out)[0]
    assert (suite.get("tests"), len(suite.findall("testcase"))) == ("4", 4)


def test_failed_of_a_passing_run_says_that_nothing_failed(evenhand) -> None:
    write_suite(PASSING)
    evenhand("run")
    done = evenhand("view", "--failed")
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("nothing failed or errored in run ")


@pytest.mark.parametrize("selector", ["wrong/spain", "wrong/*", "*spain"])
def test_a_case_is_shown_in_full(ran, selector: str) -> None:
    done = ran("view", "--case", selector)
    assert done.out.count("FAILED wrong/spain") == 4
    assert "output\n│ Barcelona [red]x[/red] \\x1b[2J\n" in done.out
    assert "vars\n│ answer: Barcelona" in done.out


def test_a_case_is_found_by_its_key(ran) -> None:
    key = json.loads(ran("view", "--format", "jsonl").out.splitlines()[-1])["case_key"]
    assert ran("view", "--case", key).out.count("FAILED wrong/spain") == 1
    [line] = ran("view", "--case", key, "--format", "jsonl").out.splitlines()
    assert json.loads(line)["case_key"] == key


def test_an_id_with_brackets_is_no_glob(evenhand) -> None:
    write_suite(MATRIX)
    evenhand("run")
    done = evenhand("view", "--case", "sum[n=2]", "--format", "jsonl")
    assert [json.loads(line)["cell"]["test_id"] for line in done.out.splitlines()] == ["sum[n=2]"]


def test_an_unknown_case_exits_2_with_the_nearest_id(ran) -> None:
    done = ran("view", "--case", "wrong/spian")
    assert done.code == 2
    assert "has no case 'wrong/spian'; did you mean 'wrong/spain'?" in done.err
    assert ran("view", "--case", "0" * 16).code == 2


def test_case_and_failed_together_are_both_meant(ran) -> None:
    done = ran("view", "--case", "right/*", "--failed", "--format", "jsonl")
    assert (done.code, done.out) == (0, "")


def test_a_stored_run_can_be_written_in_any_format_again(ran) -> None:
    assert ran("view", "--out", "junit=report.xml", "--out", "md=report.md").code == 0
    assert ET.parse("report.xml").getroot().tag == "testsuites"
    assert Path("report.md").read_text().startswith("## ❌ FAILED: `capitals`")


def test_runs_of_a_suite_elsewhere_are_found_with_suite(
    evenhand, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("EVENHAND_HOME")
    folder = tmp_path / "else where"
    write_suite(PASSING, folder)
    done = evenhand("run", folder)
    command = done.out.splitlines()[-1]
    assert command.startswith("view    evenhand view ")
    assert command.endswith(f" --suite '{folder}'")
    assert (folder / ".evenhand").is_dir()
    assert evenhand("view").code == 2
    assert "PASSED" in evenhand("view", "--suite", folder).out


def test_the_viewer_serves_the_runs_until_it_is_interrupted(ran, tmp_path: Path) -> None:
    ran("view")
    child = subprocess.Popen(
        [sys.executable, "-m", "evenhand", "view", "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        preexec_fn=heed_interrupts,
    )
    line = child.stderr.readline()
    address = re.search(r"http://127\.0\.0\.1:\d+/", line)[0]
    with urllib.request.urlopen(f"{address}runs.json", timeout=60) as answer:
        assert json.load(answer)["rows"]
    child.send_signal(signal.SIGINT)
    assert child.wait(timeout=60) == 0
    assert child.stderr.read() == ""
    child.stderr.close()


def test_a_viewer_that_is_there_first_shows_the_first_run(evenhand, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.delenv("EVENHAND_HOME")
    folder = tmp_path / "new"
    write_suite(PASSING, folder)
    child = subprocess.Popen(
        [sys.executable, "-m", "evenhand", "view", "--port", "0", "--suite", str(folder)],
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        preexec_fn=heed_interrupts,
    )
    address = re.search(r"http://127\.0\.0\.1:\d+/", child.stderr.readline())[0]
    evenhand("run", folder)
    with urllib.request.urlopen(f"{address}runs.json", timeout=60) as answer:
        assert [row["word"] for row in json.load(answer)["rows"]] == ["PASSED"]
    child.send_signal(signal.SIGINT)
    assert child.wait(timeout=60) == 0
    child.stderr.close()


def test_serving_and_printing_are_two_things(evenhand) -> None:
    done = evenhand("view", "--port", "0", "--failed")
    assert done.code == 2
    assert "--port serves pages; it cannot be combined" in done.err


def test_pages_follow_a_run_and_stay_until_they_are_interrupted(evenhand) -> None:
    write_suite(SUITE)
    child = subprocess.Popen(
        [sys.executable, "-m", "evenhand", "run", "--view", "--no-progress"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        preexec_fn=heed_interrupts,
    )
    lines = []
    while not lines or "stay until Ctrl-C" not in lines[-1]:
        lines.append(child.stderr.readline())
        assert lines[-1], lines
    address = next(found[0] for line in lines if (found := re.search(r"http://127\.0\.0\.1:\d+/", line)))
    with urllib.request.urlopen(f"{address}runs.json", timeout=60) as answer:
        (run,) = json.load(answer)["rows"]
    assert run["word"] == "FAILED"
    child.send_signal(signal.SIGINT)
    out, errors = child.communicate(timeout=60)
    assert (child.returncode, errors) == (1, "")
    assert "FAILED" in out


def test_a_case_is_shown_with_what_its_output_lost_and_gained_since_the_run_before(evenhand) -> None:
    suite = (
        "version: 1\nproviders: [{id: parrot, type: echo}]\nprompts: [{id: say, template: 'It is CITY.'}]\n"
    )
    suite += "tests: [{id: a, assert: [{type: contains, value: Paris}]}]\n"
    Path("evenhand.yaml").write_text(suite.replace("CITY", "Paris"), encoding="utf-8")
    evenhand("run")
    assert "before" not in evenhand("view", "--case", "a").out
    Path("evenhand.yaml").write_text(suite.replace("CITY", "Lyon"), encoding="utf-8")
    evenhand("run")
    shown = evenhand("view", "--case", "a").out
    assert "pass, score 1 in run " in shown
    assert "It is [-Paris-]{+Lyon+}." in shown
    evenhand("run")
    assert "with the same output" in evenhand("view", "--case", "a").out


@pytest.mark.parametrize(
    ("environment", "opens"),
    [
        ({}, True),
        ({"CI": "true"}, False),
        ({"BROWSER": ""}, False),
    ],
)
@pytest.mark.parametrize("command", [["view", "--port", "0"], ["run", "--view"]])
def test_pages_open_in_the_browser_of_a_person_before_a_terminal(
    evenhand, tmp_path: Path, command: list[str], environment: dict[str, str], opens: bool
) -> None:
    write_suite(SUITE)
    evenhand("run")
    opened = tmp_path / "opened"
    browser = f"{sys.executable} -c 'import sys; open(sys.argv[1], chr(119)).write(sys.argv[2])' {opened} %s"
    inherited = {name: value for name, value in os.environ.items() if name not in ("CI", "DISPLAY")}
    outer, inner = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "evenhand", *command],
        stdout=subprocess.DEVNULL,
        stderr=inner,
        env={**inherited, "BROWSER": browser, **environment},
        preexec_fn=heed_interrupts,
    )
    os.close(inner)
    last = b"the pages stay" if command[0] == "run" else b"Ctrl-C ends this"
    seen = b""
    while last not in seen:
        seen += os.read(outer, 65_536)
    address = re.search(rb"http://127\.0\.0\.1:\d+/", seen)
    assert address is not None
    with urllib.request.urlopen(f"{address[0].decode()}runs.json", timeout=60) as answer:
        assert json.load(answer)["rows"]
    end = time.monotonic() + 60
    while opens and not (opened.exists() and opened.read_text(encoding="utf-8")) and time.monotonic() < end:
        time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    child.wait(timeout=60)
    os.close(outer)
    assert opened.exists() is opens
    if opens:
        assert opened.read_text(encoding="utf-8") == address[0].decode()
