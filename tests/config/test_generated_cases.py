"""Cases that programs and functions make when a suite is loaded."""

from __future__ import annotations

import gc
import tempfile
from pathlib import Path

import pytest

from evenhand.errors import ExitCode, GeneratorError
from support.written import load, messages

MAKE = """
import json, sys
config = json.load(sys.stdin)["config"]
open("ran", "a").write("x")
for n in range(config["count"]):
    print(json.dumps({"vars": {"n": n}, "assert": [{"type": "not-contains", "value": "x"}]}))
"""
GENERATOR = {"generator": {"command": ["python3", "make.py"], "config": {"count": 3}}}
FILES = {"make.py": MAKE}


def test_generated_cases_come_last_and_are_like_any_other(tmp_path: Path) -> None:
    document = {"defaults": {"tags": ["all"]}, "tests": [GENERATOR, {"id": "own"}]}
    suite = load(tmp_path, document, FILES)
    assert [case.id for case in suite.cases] == ["own", "python3/0", "python3/1", "python3/2"]
    assert {case.tags for case in suite.cases} == {("all",)}
    assert [case.id for case in suite.cases] == ["own", "python3/0", "python3/1", "python3/2"]
    assert (tmp_path / "ran").read_text() == "x"


def test_a_function_makes_cases_in_process(tmp_path: Path) -> None:
    files = {"cases.py": "def make():\n    yield {'id': 'a'}\n    yield {'id': 'b'}\n"}
    suite = load(tmp_path, {"tests": [{"generator": "file://cases.py:make"}]}, files)
    assert [case.id for case in suite.cases] == ["a", "b"]


def test_nothing_is_run_where_nobody_asked_for_it(tmp_path: Path) -> None:
    assert len(load(tmp_path, {"tests": [GENERATOR]}, FILES, generators=False).cases) == 0
    assert not (tmp_path / "ran").exists()


def test_nothing_is_run_for_a_suite_that_is_known_to_be_wrong(tmp_path: Path) -> None:
    assert "unknown key 'nope'" in messages(tmp_path, {"tests": [GENERATOR], "nope": 1}, FILES)[0]
    assert not (tmp_path / "ran").exists()


def test_a_wrong_generator_is_refused_at_its_entry(tmp_path: Path) -> None:
    document = {"tests": [{"generator": {"comand": ["x"]}}, {**GENERATOR, "id": "x"}]}
    assert [message.partition(": ")[2] for message in messages(tmp_path, document, FILES)] == [
        "tests[0].generator: key 'command' is missing; the program and its arguments, run in the suite's folder",
        "tests[0].generator.comand: unknown key 'comand'; did you mean 'command'?",
        "tests[1].id: unknown key 'id'; it takes generator and template",
    ]


def test_a_wrong_generated_case_is_named_with_its_line(tmp_path: Path) -> None:
    files = {"make.py": "print('{}'); print('{\"asserts\": []}')"}
    document = {"tests": [{"generator": {"command": ["python3", "make.py"]}}]}
    (found,) = messages(tmp_path, document, files, spool_folder=lambda: tmp_path / "spool")
    assert ":2:" in found
    assert "unknown key 'asserts'; did you mean 'assert'?" in found


def test_a_generator_that_fails_is_a_fault_of_the_machinery(tmp_path: Path) -> None:
    files = {"make.py": "import sys; sys.exit('no registry')"}
    with pytest.raises(
        GeneratorError, match=r"evenhand.yaml:1:\d+: tests\[0\]: generator .*no registry"
    ) as caught:
        load(tmp_path, {"tests": [GENERATOR]}, files)
    assert caught.value.exit_code is ExitCode.HARNESS


def test_generated_cases_are_kept_where_they_are_wanted(tmp_path: Path) -> None:
    load(tmp_path, {"tests": [GENERATOR]}, FILES, spool_folder=lambda: tmp_path / "state")
    assert len(list((tmp_path / "state").glob("*.jsonl"))) == 1


def test_a_temporary_folder_lives_as_long_as_the_suite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    suite = load(tmp_path, {"tests": [GENERATOR]}, FILES)
    assert len(list(suite.cases)) == 3
    del suite
    gc.collect()
    assert list((tmp_path / "tmp").iterdir()) == []
