"""Scripts in files: what Node.js and Python workers do with what may go wrong in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenhand.model.outcome import Outcome
from support.assertions import built, evidence
from support.scripts import judged_scripts, loaded


def written(folder: Path, name: str, content: str) -> str:
    (folder / name).write_text(content, encoding="utf-8")
    return f"file://{name}"


def outcomes_of(
    folder: Path, *values: str, kind: str = "javascript", timeout_ms: float = 3_000
) -> list[Outcome]:
    asserts = [built({"type": kind, "value": value, "timeout_ms": timeout_ms}) for value in values]
    return judged_scripts(asserts, evidence("Hello world"), folder)


STRAY = {
    "late throw": "module.exports = () => { setTimeout(() => { throw new Error('late'); }, 1); return true; };",
    "floating rejection": "module.exports = () => { Promise.reject(new Error('floating')); return true; };",
    "writes to stdout": "module.exports = () => { require('fs').writeSync(1, 'x'.repeat(100000)); return true; };",
    "reads stdin": "module.exports = () => require('fs').readFileSync(0, 'utf8') === '';",
    "child process": (
        "module.exports = () => { require('child_process').execSync('echo hi', {stdio: 'inherit'}); return true; };"
    ),
    "patched prototype": "module.exports = () => { Object.prototype.patched = 1; JSON.parse = null; return true; };",
    "changed output": "module.exports = (o, c) => { c.vars.x = 1; return o === 'Hello world' && !('x' in {}); };",
}


@pytest.mark.parametrize("name", STRAY)
def test_script_in_a_file_keeps_its_verdict_and_leaves_nothing_behind(name: str, tmp_path: Path) -> None:
    stray = written(tmp_path, "stray.js", STRAY[name])
    clean = written(
        tmp_path, "clean.js", "module.exports = () => ({}).patched === undefined && JSON.parse('1') === 1;"
    )
    outcomes = outcomes_of(tmp_path, clean, stray, clean)
    assert [outcome.status for outcome in outcomes] == ["pass"] * 3, outcomes


ENDING = {
    "exits": "module.exports = () => process.exit(0);",
    "aborts": "module.exports = () => process.abort();",
    "loops": "module.exports = () => { for (;;); };",
    "never settles": "module.exports = () => new Promise(() => {});",
    "takes all memory": "module.exports = () => { const a = []; for (;;) a.push('x'.repeat(1e5).split('')); };",
}


@pytest.mark.parametrize("name", ENDING)
def test_script_that_ends_its_worker_is_an_error_of_its_own(name: str, tmp_path: Path) -> None:
    ending = written(tmp_path, "ending.js", ENDING[name])
    clean = written(tmp_path, "clean.js", "module.exports = (output) => output.length === 11;")
    outcomes = outcomes_of(tmp_path, clean, ending, clean)
    assert [outcome.status for outcome in outcomes] == ["pass", "error", "pass"], outcomes
    assert outcomes[1].error_class == "checker_failed"


def test_console_output_is_kept_with_the_result(tmp_path: Path) -> None:
    talking = written(
        tmp_path, "talking.js", "module.exports = () => { console.log('seen', {a: 1}); return true; };"
    )
    (outcome,) = outcomes_of(tmp_path, talking)
    assert outcome.details == {"console": ['seen {"a":1}']}


def test_missing_export_is_named_with_those_that_are_there(tmp_path: Path) -> None:
    written(tmp_path, "two.mjs", "export const one = () => true; export const two = () => true;")
    answer = loaded(built({"type": "javascript", "value": "file://two.mjs:three"}), tmp_path)
    assert "no function `three`" in answer.broken
    assert "one, two" in answer.broken


def test_packages_are_found_from_the_folder_of_the_script(tmp_path: Path) -> None:
    package = tmp_path / "node_modules" / "small"
    package.mkdir(parents=True)
    (package / "index.js").write_text("module.exports = (text) => text.length;", encoding="utf-8")
    value = written(
        tmp_path, "uses.js", "const small = require('small'); module.exports = (o) => small(o) === 11;"
    )
    assert outcomes_of(tmp_path, value)[0].passed


PYTHON = {
    "raises": ("raise ValueError('no')", "fail"),
    "exits": ("import sys\nsys.exit(0)", "fail"),
    "ends the process": ("import os\nos._exit(0)", "error"),
    "loops": ("while True: pass", "error"),
    "takes all memory": ("return len('x' * 10**9)", "error"),
    "forks": ("import os\nif os.fork() == 0: os._exit(0)\nreturn True", "pass"),
    "prints": ("print('seen')\nreturn True", "pass"),
    "writes to stdout": ("import os\nos.write(1, b'x' * 100000)\nreturn True", "pass"),
    "nan": ("return float('nan')", "fail"),
    "none": ("pass", "fail"),
    "text": ("'yes'", "fail"),
    "async": ("import asyncio\nawait asyncio.sleep(0)\nreturn 0.5", "pass"),
    "snake case": ("{'pass_': True, 'score': 1, 'reason': 'r', 'named_scores': {'a': True}}", "pass"),
    "outcome": ("import evenhand\nreturn evenhand.Outcome(status='pass', score=0.5, reason='r')", "pass"),
    "one line of statements": ("n = len(output); n == 11", "pass"),
}


@pytest.mark.parametrize("name", PYTHON)
def test_python_check_ends_as_documented_and_leaves_the_next_one_alone(name: str, tmp_path: Path) -> None:
    source, wanted = PYTHON[name]
    first, check, last = outcomes_of(tmp_path, "len(output) == 11", source, "output[0] == 'H'", kind="python")
    assert (first.status, check.status, last.status) == ("pass", wanted, "pass"), check


def test_python_checks_in_a_file_are_found_by_name(tmp_path: Path) -> None:
    written(
        tmp_path,
        "checks.py",
        "def get_assert(output, context):\n    return len(output) > 5\n"
        "async def named(output, context):\n"
        "    return {'pass': True, 'score': 0.25, 'reason': context['config']['why']}\n",
    )
    asserts = [
        built({"type": "python", "value": "file://checks.py"}),
        built({"type": "python", "value": "file://checks.py:named", "config": {"why": "asked"}}),
        built(
            {"type": "python", "value": "file://checks.py:named", "config": {"why": "here"}, "isolate": False}
        ),
    ]
    plain, named, here = judged_scripts(asserts, evidence("Hello world"), tmp_path)
    assert plain.passed
    assert (named.score, named.reason) == (0.25, "asked")
    assert (here.score, here.reason) == (0.25, "here")


def test_typescript_runs_in_a_node_that_strips_types(tmp_path: Path) -> None:
    value = written(
        tmp_path, "typed.ts", "export const check = (output: string): boolean => output.length > 5;"
    )
    (outcome,) = outcomes_of(tmp_path, f"{value}:check")
    assert outcome.passed, outcome


@pytest.mark.parametrize(
    ("kind", "name", "content", "place"),
    [
        (
            "javascript",
            "order.js",
            "module.exports = (output) => {\n  return output.a.b;\n};",
            "(order.js:2)",
        ),
        (
            "javascript",
            "order.mjs",
            "export default (output) => {\n  throw new Error('x');\n};",
            "(order.mjs:2)",
        ),
        ("javascript", "order.js", "\nmodule.exports = (output) => JSON.parse(output);", "(order.js:2)"),
        (
            "python",
            "order.py",
            "def check(output, context):\n    return context['nothing']\n",
            "(order.py:2)",
        ),
    ],
)
def test_what_a_script_in_a_file_throws_is_told_with_its_place(
    kind: str, name: str, content: str, place: str, tmp_path: Path
) -> None:
    (outcome,) = outcomes_of(tmp_path, written(tmp_path, name, content), kind=kind)
    assert outcome.status == "fail"
    assert outcome.reason.endswith(place), outcome.reason


def test_what_inline_code_throws_has_no_place_in_a_file(tmp_path: Path) -> None:
    (thrown,) = outcomes_of(tmp_path, "output.a.b")
    assert "(" not in thrown.reason.removeprefix("the script threw TypeError: "), thrown.reason


def test_a_python_function_may_take_the_output_alone(tmp_path: Path) -> None:
    alone = written(tmp_path, "alone.py", "async def check(output):\n    return output.startswith('Hello')\n")
    other = written(tmp_path, "other.py", "def check(output, limit=3):\n    return 'vars' in limit\n")
    assert [outcome.status for outcome in outcomes_of(tmp_path, alone, other, kind="python")] == ["pass"] * 2


def test_a_function_that_forgets_to_return_is_told_so(tmp_path: Path) -> None:
    silent = written(tmp_path, "silent.py", "def check(output, context):\n    output.startswith('Hello')\n")
    (outcome,) = outcomes_of(tmp_path, silent, kind="python")
    assert "the script returned None" in outcome.reason
    assert "needs an explicit `return`" in outcome.reason
