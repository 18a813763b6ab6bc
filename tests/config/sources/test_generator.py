"""Generators: run once, read like files, every failure with its owner."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from evenhand.config.findings import Findings, Place
from evenhand.config.sandbox import Sandbox
from evenhand.config.sources import settle_ids
from evenhand.config.sources.generator import CommandGenerator, FunctionGenerator, read_generator
from evenhand.config.sources.spool import GeneratedSource
from evenhand.errors import DocumentPath, ExitCode, GeneratorError, Location, StoreError, SuiteError
from support.case_files import Reading, read_source, write_files


class Suite:
    """An origin that knows only its file."""

    def locate(self, path: DocumentPath) -> Location:
        return Location("evenhand.yaml", 1)


GOOD = "def cases(): pass\n"


def generator(folder: Path, entry: Any) -> CommandGenerator | FunctionGenerator:
    findings = Findings()
    read = read_generator(entry, Place(findings, Suite(), ("tests", 0)), Sandbox(folder))
    findings.raise_if_any()
    assert read is not None
    return read


def generated(folder: Path, entry: Any) -> GeneratedSource:
    return generator(folder, entry).run(Sandbox(folder), folder / ".evenhand" / "generated")


def command(script: str, **options: Any) -> dict[str, Any]:
    return {"generator": {"command": [sys.executable, "-c", script], **options}}


def printing(text: str) -> dict[str, Any]:
    return command(f"print({text!r})")


def refused(folder: Path, entry: Any) -> str:
    with pytest.raises(SuiteError) as caught:
        generated(folder, entry)
    assert caught.value.exit_code == ExitCode.SUITE
    return str(caught.value).replace(f"{folder}/.evenhand/generated/", "")


def function(folder: Path, source: str, name: str = "cases") -> Reading:
    write_files(folder, {"cases.py": source})
    return read_source(generated(folder, {"generator": f"file://cases.py:{name}"}))


@pytest.mark.parametrize(
    "text",
    [
        '{"tests": [{"id": "a"}, {"vars": {"q": 1}}]}',
        '{"id": "a"}\n\n{"vars": {"q": 1}}',
        '\n{\n  "domarinn": {"protocol": 1},\n  "tests": [{"id": "a"},\n {"vars": {"q": 1}}]\n}',
    ],
)
def test_output_may_be_a_document_or_lines(tmp_path: Path, text: str) -> None:
    read = read_source(generated(tmp_path, printing(text)))
    assert read.documents == [{"id": "a"}, {"vars": {"q": 1}}]
    assert read.cases[1].auto_id == f"{Path(sys.executable).stem}/1"
    assert all(case.is_data for case in read.cases)


def test_program_gets_the_protocols_document_in_the_suites_folder(tmp_path: Path) -> None:
    script = (
        "import json, os, sys; print(json.dumps({'vars': {'in': json.load(sys.stdin), 'cwd': os.getcwd(),"
        " 'env': os.environ['DOMARINN_PROTOCOL']}}))"
    )
    read = read_source(generated(tmp_path, command(script, config={"n": [1, "x"]})))
    assert read.vars == [
        {
            "in": {"domarinn": {"protocol": 1, "kind": "generate_tests"}, "config": {"n": [1, "x"]}},
            "cwd": str(tmp_path),
            "env": "1",
        }
    ]


def test_program_runs_once_however_often_its_cases_are_read(tmp_path: Path) -> None:
    script = "open('runs', 'a').write('x'); print('{\"id\": \"a\"}')"
    source = generated(tmp_path, command(script))
    assert read_source(source).ids == read_source(source).ids == ["a"]
    assert (tmp_path / "runs").read_text() == "x"


def test_cases_have_places_in_a_file_that_is_there(tmp_path: Path) -> None:
    source = generated(tmp_path, printing('{"tests": [{"id": "a"}, {"id": "b", "vars": {"q": 1}}]}'))
    case = read_source(source).cases[1]
    place = case.origin.locate(("vars", "q"))
    assert place.line == 2
    assert json.loads(Path(place.file).read_text().splitlines()[1])["id"] == "b"


def test_bad_lines_are_located_problems(tmp_path: Path) -> None:
    read = read_source(generated(tmp_path, printing('{"id": "a"}\nnoise\n[1]\n{"id": "b"}')))
    assert read.ids == ["a", "b"]
    assert [problem.split(":", 1)[1] for problem in read.problems] == [
        "2:1: not valid JSON: a value was expected",
        "3:1: a line must hold an object with the keys of a test, found a list",
    ]


def test_template_option_makes_values_templates(tmp_path: Path) -> None:
    entry = {**printing('{"vars": {"q": "{{ x }}"}}'), "template": True}
    assert [case.is_data for case in read_source(generated(tmp_path, entry)).cases] == [False]


def test_same_output_is_the_same_file(tmp_path: Path) -> None:
    files = [generated(tmp_path, printing('{"id": "a"}')).file.path for _ in range(2)]
    assert files[0] == files[1]
    assert [path.name for path in (tmp_path / ".evenhand/generated").iterdir()] == [files[0].name]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", 'printed nothing; print `{"tests": []}` for no cases'),
        ("Loading…\n{}", 'is not JSON, it begins with "Loading…"; print the cases alone'),
        ("[1, 2]", "printed a list; print the cases alone"),
        ("[\n1]", "printed a list; print the cases alone"),
        ('{"tests": 3}', "tests: expected a list of tests, found the number 3"),
        ('{"tests": [], "test": 1}', "test: unknown key 'test'; did you mean 'tests'?"),
        (
            '{"domarinn": {"protocol": 2}, "tests": []}',
            "domarinn.protocol: unknown protocol version 2; this version",
        ),
        ('{\n"tests": [}', ".json:2:11: not valid JSON: a value was expected"),
        ('{"tests": []}\nnoise', ".json:2:1: not valid JSON: text follows after the end of the value"),
        ('{"tests": [], "tests": []}', "tests: key 'tests' is given twice"),
    ],
)
def test_output_that_is_no_cases_is_the_suites_fault(tmp_path: Path, text: str, message: str) -> None:
    assert message in refused(tmp_path, printing(text))


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            command("import sys; print('no database', file=sys.stderr); sys.exit(1)"),
            'exited with code 1; its error stream ends with "no database"',
        ),
        (command("import os; os.abort()"), "was killed by SIGABRT"),
        (command("import time; time.sleep(600)", timeout_ms=500), "did not finish within 500 ms"),
        (
            {"generator": {"command": ["./none"]}},
            "generator `./none` could not be started: no such file or directory",
        ),
    ],
)
def test_program_that_breaks_is_the_machinerys_fault(tmp_path: Path, entry: Any, message: str) -> None:
    with pytest.raises(GeneratorError) as caught:
        generated(tmp_path, entry)
    assert message in str(caught.value)
    assert caught.value.exit_code == ExitCode.HARNESS
    assert not list((tmp_path / ".evenhand/generated").iterdir())


def test_last_words_are_quoted_from_their_end(tmp_path: Path) -> None:
    with pytest.raises(GeneratorError, match=r'ends with …".*last words"$'):
        generated(tmp_path, command("import sys; sys.exit('x' * 1000 + ' last words')"))


def test_folder_that_cannot_be_written_is_the_machinerys_fault(tmp_path: Path) -> None:
    write_files(tmp_path, {".evenhand": "a file"})
    with pytest.raises(StoreError, match="generated cases cannot be kept"):
        generated(tmp_path, printing("{}"))


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            {"generator": {"comand": ["x"]}},
            "tests[0].generator.comand: unknown key 'comand'; did you mean 'command'?",
        ),
        ({"generator": {"command": []}}, "tests[0].generator.command: expected a list that is not empty"),
        ({"generator": {"command": "x"}}, "tests[0].generator.command: expected a list"),
        ({"generator": {"command": ["x"], "timeout_ms": 0}}, "tests[0].generator.timeout_ms: expected"),
        ({"generator": {"command": [" "]}}, "tests[0].generator.command: the program's name is blank"),
        (
            {"generator": {"command": ["x\0"]}},
            "tests[0].generator.command: the program's name is blank, or a word",
        ),
        ({"generator": 3}, "tests[0].generator: expected"),
        ({"generator": "cases.py"}, "expected `file://cases.py:function` or a mapping with a `command`"),
        (
            {"generator": "file://cases.py"},
            "expected `file://cases.py:function` or a mapping with a `command`",
        ),
        ({"generator": "file://none.py:f"}, "no such file, found 'none.py'"),
        ({"generator": "file://../x.py:f"}, "refuses to read outside the suite's folder"),
        ({"generator": "file://bad.py:f"}, "bad.py:2: does not compile: "),
        ({"generator": "file://good.py:casses"}, "good.py: defines no function 'casses'"),
        ({"generator": "file://good.txt:cases"}, "good.txt: is not a Python file; name a `.py` file"),
        ({"generator": {"command": ["x"]}, "templates": True}, "tests[0].templates: unknown key 'templates'"),
    ],
)
def test_bad_entries_are_refused_before_anything_runs(tmp_path: Path, entry: Any, message: str) -> None:
    write_files(tmp_path, {"bad.py": "x = 1\ndef f(:\n", "good.py": GOOD, "good.txt": GOOD})
    with pytest.raises(SuiteError) as caught:
        generator(tmp_path, entry)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "body",
    [
        "return [{'id': 'a'}, {'vars': {'q': (1, 'é')}}]",
        "yield {'id': 'a'}\n    yield {'vars': {'q': [1, 'é']}}",
        "return iter(({'id': 'a'}, {'vars': {'q': [1, 'é']}}))",
    ],
)
def test_function_returns_or_yields_cases(tmp_path: Path, body: str) -> None:
    read = function(tmp_path, f"def cases():\n    {body}\n")
    assert read.documents == [{"id": "a"}, {"vars": {"q": [1, "é"]}}]
    assert read.cases[1].auto_id == "cases/1"


def test_function_finds_the_modules_beside_it_and_leaves_nothing_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_files(tmp_path, {"beside_the_generator.py": "NAME = 'a'\n"})
    source = (
        "from dataclasses import asdict, dataclass\n"
        "import beside_the_generator\n"
        "@dataclass\nclass Case:\n    id: str\n"
        "def cases():\n    print('working')\n    yield asdict(Case(beside_the_generator.NAME))\n"
    )
    before = (list(sys.path), set(sys.modules))
    assert function(tmp_path, source).ids == ["a"]
    assert before[0] == sys.path
    assert not {"cases", "beside_the_generator"} & (set(sys.modules) - before[1])
    assert capsys.readouterr() == ("", "working\n")


def test_function_sees_the_latest_version_of_the_modules_beside_it(tmp_path: Path) -> None:
    source = "import beside_the_changing\ndef cases():\n    yield {'id': beside_the_changing.NAME}\n"
    for name in ("first", "later"):
        write_files(tmp_path, {"beside_the_changing.py": f"NAME = {name!r}\n"})
        assert function(tmp_path, source).ids == [name]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "def cases():\n    yield {}\n    raise ValueError('no rows')\n",
            "cases.py:3: raised ValueError: no rows",
        ),
        ("def cases():\n    return [1 / 0]\n", "cases.py:2: raised ZeroDivisionError: division by zero"),
        ("import sys\nsys.exit('bye')\ndef cases(): pass\n", "cases.py:2: raised SystemExit: bye"),
        (
            "import none_such_module\ndef cases(): pass\n",
            "cases.py:1: raised ModuleNotFoundError: No module named",
        ),
        (
            "def cases():\n    return None\n",
            "cases.py: `cases` must return or yield cases, found null; return",
        ),
        ("def cases():\n    return {'tests': []}\n", "`cases` must return or yield cases, found a mapping"),
        (
            "async def cases():\n    return []\n",
            "`cases` must return or yield cases, found a value of type coroutine",
        ),
        (
            "async def cases():\n    yield {}\n",
            "must return or yield cases, found a value of type async_generator",
        ),
        (
            "def cases():\n    return [3]\n",
            "cases.py:1: case 0 of `cases` must be a mapping, found the number 3",
        ),
        (
            "def cases():\n    return [{}, {'a': {1, 2}}]\n",
            "case 1 of `cases` cannot be written as JSON: Object of",
        ),
        (
            "def cases():\n    return [{'a': float('nan')}]\n",
            "case 0 of `cases` cannot be written as JSON: Out of",
        ),
        ("def cases():\n    return [{'a': '\\ud800'}]\n", "case 0 of `cases` cannot be written as JSON: "),
        (
            "def cases():\n    x = []\n    x.append(x)\n    return [{'a': x}]\n",
            "cannot be written as JSON: Circular",
        ),
        ("def cases():\n    return cases()\n", "cases.py:2: raised RecursionError: maximum recursion depth"),
        ("cases = 3\n", "cases.py: defines no function 'cases'"),
    ],
)
def test_function_that_fails_is_a_located_problem(tmp_path: Path, source: str, message: str) -> None:
    with pytest.raises(SuiteError) as caught:
        function(tmp_path, source)
    (problem,) = caught.value.problems
    assert problem.location is not None
    assert message in str(problem)


def test_generators_of_one_program_are_told_apart(tmp_path: Path) -> None:
    sources = [generated(tmp_path, printing(f'{{"vars": {{"n": {n}}}}}')) for n in (1, 2)]
    settle_ids(sources)
    ids = [read_source(source).cases[0].auto_id for source in sources]
    assert len(set(ids)) == 2
    assert all(name.endswith("/0") for name in ids)
