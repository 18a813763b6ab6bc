"""Scripts that cannot run are found at load, each at its place."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from evenhand.config.load import load_suite
from evenhand.errors import SuiteError

HEAD = "version: 1\nproviders: [{type: echo}]\nprompts: [{id: p, template: hello}]\ntests:\n  - id: one\n    assert:\n"


def problems_of(folder: Path, asserts: str) -> list[str]:
    (folder / "evenhand.yaml").write_text(HEAD + asserts, encoding="utf-8")
    try:
        load_suite(folder)
    except SuiteError as error:
        return [str(problem).replace(f"{folder}/", "") for problem in error.problems]
    return []


def test_code_that_does_not_compile_is_found_at_its_line_and_column(tmp_path: Path) -> None:
    asserts = """\
      - {type: javascript, value: "output ==== 'x'"}
      - type: javascript
        value: |
          const a = 1;
          const b = = 2;
          return b;
      - type: python
        value: |
          n = len(output)
          return n >
"""
    first, second, third = problems_of(tmp_path, asserts)
    assert first.startswith("evenhand.yaml:7:46: tests[0].assert[0].value: the code does not compile: ")
    assert second.startswith(
        "evenhand.yaml:11:21: tests[0].assert[1].value: the code does not compile in line 2"
    )
    assert third.startswith("evenhand.yaml:16:")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("javascript, value: 'file://nope.js'", "no such file, found 'nope.js'"),
        ("javascript, value: 'file://checks.js:nope'", "checks.js exports no function `nope`"),
        ("javascript, value: 'file://broken.js'", "broken.js cannot be loaded: Error: no luck"),
        ("python, value: 'file://checks.py:nope'", "checks.py has no function 'nope'; it has get_assert"),
        ("javascript, value: 'file://checks.py'", "runs files of the types .js"),
        ("javascript, value: 'file://../outside.js'", "refuses to read outside"),
        ("javascript, value: ' '", "empty code decides nothing"),
        ("javascript, value: 'true', threshold: .inf", "finite"),
        ("javascript, value: \"import('fs')\"", "the code uses `import()`"),
    ],
)
def test_script_that_cannot_run_is_refused(value: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "checks.js").write_text("exports.check = () => true;", encoding="utf-8")
    (tmp_path / "broken.js").write_text("throw new Error('no luck');", encoding="utf-8")
    (tmp_path / "checks.py").write_text(
        "def get_assert(output, context):\n    return True\n", encoding="utf-8"
    )
    (problem,) = problems_of(tmp_path, f"      - {{type: {value}}}\n")
    assert message in problem


def test_sound_scripts_load_inside_a_running_loop(tmp_path: Path) -> None:
    async def load() -> list[str]:
        return problems_of(tmp_path, "      - {type: javascript, value: 'output.length > 1'}\n")

    assert asyncio.run(load()) == []


def test_a_changed_script_changes_the_digest_of_the_files(tmp_path: Path) -> None:
    script = tmp_path / "checks.js"
    digests = set()
    for answer in ("true", "false"):
        script.write_text(f"module.exports = () => {answer};", encoding="utf-8")
        assert problems_of(tmp_path, "      - {type: javascript, value: 'file://checks.js'}\n") == []
        digests.add(load_suite(tmp_path).digests["files"])
    assert len(digests) == 2


def test_loading_a_confined_suite_runs_no_script(tmp_path: Path) -> None:
    (tmp_path / "checks.js").write_text(
        "require('fs').writeFileSync(__dirname + '/ran', ''); module.exports = () => true;", encoding="utf-8"
    )
    (tmp_path / "evenhand.yaml").write_text(
        HEAD + "      - {type: javascript, value: 'file://checks.js'}\n", encoding="utf-8"
    )
    with pytest.raises(SuiteError, match="allow it with `--allow-scripts`"):
        load_suite(tmp_path, confined=True)
    assert not (tmp_path / "ran").exists()


def warnings_of(folder: Path, asserts: str) -> list[str]:
    (folder / "evenhand.yaml").write_text(HEAD + asserts, encoding="utf-8")
    return [str(warning).replace(f"{folder}", "HERE") for warning in load_suite(folder).warnings]


def test_code_that_is_the_name_of_a_file_draws_a_warning(tmp_path: Path) -> None:
    (tmp_path / "check.js").write_text("module.exports = () => true;", encoding="utf-8")
    asserts = "      - {type: javascript, value: check.js}\n      - {type: javascript, value: output.js}\n"
    assert warnings_of(tmp_path, asserts) == [
        "HERE/evenhand.yaml:7:35: tests[0].assert[0].value: the code is the name of a file; write `file://check.js`"
    ]


def test_a_checker_that_is_not_there_draws_one_warning(tmp_path: Path) -> None:
    asserts = "      - {type: exec, command: [./check.sh]}\n" * 2 + (
        "      - {type: exec, command: [sh, -e, other.sh]}\n      - {type: exec, command: [sh, -c, 'exit 0']}\n"
    )
    found = warnings_of(tmp_path, asserts)
    assert [warning.partition(": ")[2].partition(";")[0] for warning in found] == [
        "tests[0].assert[0].command[0]: program './check.sh' was not found in HERE",
        "tests[0].assert[2].command[2]: file 'other.sh' was not found in HERE",
    ]


def test_a_module_that_a_check_misses_is_named_with_the_interpreter(tmp_path: Path) -> None:
    (tmp_path / "check.py").write_text("import no_such_module\n", encoding="utf-8")
    (problem,) = problems_of(tmp_path, "      - {type: python, value: 'file://check.py'}\n")
    assert "No module named 'no_such_module'; evenhand runs with " in problem
