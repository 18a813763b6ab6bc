"""Safe mode inside a run: inline code is rejected, scripts in files run, and nothing switches it off."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenhand.api import RunOptions, load_suite, run_suite
from evenhand.model.result import CaseResult

SUITE = """\
providers: [{type: echo}]
prompts: [{id: p, template: hello}]
runner: {safe_mode: %s}
tests:
  - id: inline
    assert:
      - {type: javascript, value: "true"}
      - {type: not-javascript, value: "false"}
      - {type: python, value: "True"}
      - {type: javascript, value: "true", engine: node}
      - {type: python, value: "True", isolate: false}
      - {type: javascript, value: "file://check.js"}
      - {type: contains, value: hello}
  - id: inline-transform
    transform: output.trim()
    assert: [{type: contains, value: hello}]
  - id: inline-transform-of-an-assertion
    assert: [{type: not-contains, value: zzz, transform: output.trim()}]
  - id: file-transform
    transform: "file://upper.js"
    assert: [{type: equals, value: HELLO}, {type: equals, value: 5, transform: {type: jinja, value: output | length}}]
"""


def results(folder: Path, *, in_suite: bool = False, asked: bool = False) -> list[CaseResult]:
    (folder / "check.js").write_text("module.exports = () => true;")
    (folder / "upper.js").write_text("module.exports = (output) => output.toUpperCase();")
    (folder / "evenhand.yaml").write_text(SUITE % str(in_suite).lower())
    cases = run_suite(load_suite(folder), RunOptions(safe_mode=asked), save=False).cases()
    return sorted(cases, key=lambda case: case.index)


def is_safe(cases: list[CaseResult]) -> bool:
    inline, transform, own, file = cases
    assert file.status == "pass", file
    statuses = [result.status for result in inline.asserts]
    if statuses == ["pass"] * 7:
        assert [transform.status, own.status] == ["pass", "pass"]
        return False
    assert statuses == ["fail"] * 5 + ["pass"] * 2
    for result in inline.asserts[:5]:
        assert (result.score, "safe mode" in result.reason) == (0.0, True)
    for case in (transform, own):
        assert (case.status, case.error_class) == ("error", "transform_failed")
        assert "safe mode" in (case.error or "")
    return True


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("EVENHAND_SAFE_MODE", "PROMPTFOO_SAFE_MODE"):
        monkeypatch.delenv(name, raising=False)


def test_safe_mode_is_off_unless_asked_for(tmp_path: Path) -> None:
    assert not is_safe(results(tmp_path))


def test_suite_and_caller_switch_it_on(tmp_path: Path) -> None:
    assert is_safe(results(tmp_path, in_suite=True, asked=False))
    assert is_safe(results(tmp_path, in_suite=False, asked=True))


@pytest.mark.parametrize("name", ["EVENHAND_SAFE_MODE", "PROMPTFOO_SAFE_MODE"])
@pytest.mark.parametrize(
    ("value", "on"), [("true", True), ("1", True), ("anything", True), ("off", False), ("", False)]
)
def test_environment_switches_it_on_and_never_off(
    name: str, value: str, on: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    assert is_safe(results(tmp_path)) is on
    if not on:
        assert is_safe(results(tmp_path, asked=True))
