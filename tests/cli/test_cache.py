"""`evenhand cache`, on the answers of real runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evenhand.cache.database import cache_file
from evenhand.cli.main import main
from support.suites_on_disk import write_suite

SUITE = """\
version: 1
providers: [{id: app, type: exec, command: [sh, app.sh]}]
prompts: [{id: ask, template: "say {{ word }}"}]
tests:
  - id: one
    vars: {word: Paris}
    assert:
      - {type: contains, value: Paris}
      - {type: exec, command: [sh, -c, "cat > /dev/null; echo '{\\"pass\\": true}'"]}
  - id: timed
    vars: {word: now}
    assert: [{type: latency, max: 60000}]
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVENHAND_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("EVENHAND_CACHE_DIR", raising=False)
    write_suite(SUITE)
    (tmp_path / "app.sh").write_text(
        'cat > /dev/null; echo >> calls.txt; echo \'{"output": "Paris"}\'\n', encoding="utf-8"
    )
    return tmp_path


def calls(folder: Path) -> int:
    path = folder / "calls.txt"
    return len(path.read_text(encoding="utf-8")) if path.exists() else 0


def run(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    capsys.readouterr()
    assert main([*words]) == code
    return capsys.readouterr().out


def summary(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, Any]:
    out = run(capsys, "run", "--no-progress", "--format", "json", *words, code=code)
    found: dict[str, Any] = json.loads(out)["summary"]
    return found


def test_modes_of_a_run(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = summary(capsys)
    assert (first["cache_hits"], first["cache_misses"], calls(here)) == (0, 1, 2)
    second = summary(capsys)
    assert (second["cache_hits"], second["cache_misses"], calls(here)) == (1, 0, 3)
    fresh = summary(capsys, "--no-cache")
    assert (fresh["cache_hits"], fresh["cache_misses"], calls(here)) == (0, 0, 5)
    offline = summary(capsys, "--cache-only", code=3)
    assert (offline["passed"], offline["error_counts"], calls(here)) == (1, {"cache_miss": 1}, 5)
    assert summary(capsys, "--cache-only", "--filter", "one")["passed"] == 1
    elsewhere = summary(capsys, "--cache-dir", "elsewhere", "--filter", "one")
    assert (elsewhere["cache_misses"], calls(here)) == (1, 6)
    assert cache_file(here / "elsewhere").is_file()


def test_contradicting_modes_are_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for other in ("--no-cache", "--no-grader-cache"):
        assert main(["run", "--cache-only", other]) == 2
        assert "contradicts" in capsys.readouterr().err


def test_folder_is_printed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "cache", "path") == f"{here / 'state' / 'cache'}\n"
    assert run(capsys, "cache", "path", "--cache-dir", "x") == f"{here / 'x'}\n"


def test_answers_are_counted_listed_shown_and_thrown_away(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "0 answers" in run(capsys, "cache", "stats")
    run(capsys, "run", "--no-progress")
    assert json.loads(run(capsys, "cache", "stats", "--json"))["answers"] == 2
    listed = json.loads(run(capsys, "cache", "ls", "--json"))
    assert {item["provider"] for item in listed} == {"app", "sh"}
    assert len(run(capsys, "cache", "ls", "--provider", "app").splitlines()) == 2
    key = next(item["key"] for item in listed if item["provider"] == "app")
    shown = json.loads(run(capsys, "cache", "show", key))
    assert shown["answer"]["output"] == "Paris"
    assert shown["question"]["request"]["stdin"]["prompt"] == {"text": "say Paris"}
    run(capsys, "cache", "show", "zzz", code=2)
    run(capsys, "cache", "gc", code=2)
    assert run(capsys, "cache", "gc", "--unused-for", "1d", "--max-size", "1G").startswith(
        "deleted 0 answers"
    )
    assert run(capsys, "cache", "clear") == "deleted 2 answers\n"
    assert run(capsys, "cache", "ls") == ""


def test_case_is_explained(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "run", "--no-progress")
    before = calls(here)
    hit = run(capsys, "cache", "explain", "one")
    assert hit.count("hit  ") == 2
    write_suite(SUITE.replace("say {{", "tell {{"))
    miss = run(capsys, "cache", "explain", "one")
    assert "miss  app: sha256:" in miss
    assert 'request.stdin.prompt.text: "tell Paris" here, "say Paris" there' in miss
    found = json.loads(run(capsys, "cache", "explain", "one", "--json"))[0]["questions"][0]
    assert (found["hit"], found["nearest"]["count"]) == (False, 1)
    assert "has to be a fresh one" in run(capsys, "cache", "explain", "timed")
    run(capsys, "cache", "explain", "onne", code=2)
    assert calls(here) == before


def test_explaining_shows_no_secret(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "tok-secret-12345")
    write_suite(SUITE.replace("say {{ word }}", "say {{ env.SHOP_TOKEN }}"))
    out = run(capsys, "cache", "explain", "one") + run(capsys, "cache", "explain", "one", "--json")
    assert "[redacted]" in out
    assert "tok-secret" not in out
