from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from evenhand.errors import Location
from evenhand.io.repository import find_repository
from evenhand.io.target import FORMS, Target, parse_target, target_problems
from evenhand.model.confinement import Confinement
from support.programs import write


def limits(folder: Path, *allowed: Path) -> Confinement:
    roots = [folder, *allowed, *filter(None, [find_repository(folder)])]
    return Confinement(directory=folder, code_roots=tuple(root.resolve() for root in roots))


def messages(target: str, folder: Path, *allowed: Path) -> list[str]:
    return [str(problem) for problem in target_problems(target, limits(folder, *allowed))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("file://app.py:answer", Target("app.py", "", "answer")),
        ("file://../lib/my app.py:App.answer", Target("../lib/my app.py", "", "App.answer")),
        ("package.module:answer", Target("", "package.module", "answer")),
        ("module:answer", Target("", "module", "answer")),
        ("file://app.py", None),
        ("file://app.py:", None),
        ("file://app.py:an swer", None),
        ("file://app.txt:answer", None),
        ("app.py:answer", None),
        ("package.module.answer", None),
        ("package..module:answer", None),
        (":answer", None),
        ("", None),
    ],
)
def test_a_target_names_a_function_in_one_of_two_forms(text, expected):
    if text == "app.py:answer":
        # A module `py` in a package `app`, as far as the form goes.
        expected = Target("", "app.py", "answer")
    assert parse_target(text) == expected


def test_a_target_without_a_function_is_a_problem(tmp_path):
    (message,) = messages("file://app.py", tmp_path)
    assert message == f"a target must name a function, found 'file://app.py'; {FORMS}"


def test_a_path_without_its_prefix_is_recognised(tmp_path):
    (message,) = messages("app.py:answer", tmp_path)
    assert message == "module 'app.py' was not found; did you mean `file://app.py:answer`?"


GOOD = {
    "plain": "def answer(request): ...",
    "async": "async def answer(request): ...",
    "defaults": "def answer(request, other=1, *, more=2): ...",
    "any arguments": "def answer(*arguments): ...",
    "positional only": "def answer(request, /): ...",
    "assigned": "answer = lambda request: 1",
    "annotated": "answer: object = print",
    "unpacked": "first, answer = print, print",
    "imported": "from json import dumps as answer",
    "module": "import answer",
    "star import": "from json import *",
    "conditional": "if True:\n    def answer(request): ...\nelse:\n    pass",
    "fallback": "try:\n    import x\nexcept ImportError:\n    def answer(request): ...",
    "in a loop": "for answer in [print]: pass",
    "with": "with open('x') as answer: pass",
    "decorated": "@staticmethod\ndef answer(a, b, c): ...",
    "class": "class answer:\n    def __init__(self, request): ...",
    "made on demand": "def __getattr__(name): ...",
    "redefined": "def answer(a, b): ...\ndef answer(a): ...",
}


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_a_function_is_found_without_running_the_file(tmp_path, source):
    write(tmp_path / "app.py", source + "\nraise SystemExit('the file was run')\n")
    assert messages("file://app.py:answer", tmp_path) == []


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def anser(request): ...", "app.py has no `answer`; did you mean `anser`?"),
        ("x = 1", "app.py has no `answer`; define `def answer(request): …` in it"),
        ("def outer():\n    def answer(request): ...", "app.py has no `answer`; "),
        ("class A:\n    def answer(self, request): ...", "app.py has no `answer`; "),
        (
            "def answer(): ...",
            "`answer` must take one argument, the request, found none; write `def answer(request): …`",
        ),
        ("def answer(a, b): ...", "`answer` must take one argument, the request, found `(a, b)`; "),
        ("def answer(a, *, key): ...", "`answer` must take one argument, the request, found `(a, *, key)`; "),
        ("def answer(*, key=1): ...", "`answer` must take one argument, the request, found `(*, key=1)`; "),
    ],
)
def test_a_function_that_cannot_be_called_is_a_problem(tmp_path, source, message):
    write(tmp_path / "app.py", source)
    (found,) = messages("file://app.py:answer", tmp_path)
    assert found.startswith(message)


def test_a_method_of_an_object_is_looked_up_at_its_first_name(tmp_path):
    write(tmp_path / "app.py", "class App:\n    def answer(self): ...\napp = App()")
    assert messages("file://app.py:app.answer", tmp_path) == []
    assert messages("file://app.py:ap.answer", tmp_path) == ["app.py has no `ap`; did you mean `app`?"]


@pytest.mark.parametrize(
    ("source", "line", "column", "reason"),
    [
        ("def answer(request):\n    return (\n", 2, 12, "'(' was never closed"),
        ("x = 1\nreturn 2\n", 2, 1, "'return' outside function"),
        ("def f():\n  await x\n", 2, 3, "'await' outside async function"),
    ],
)
def test_a_file_that_does_not_compile_is_a_problem_with_its_place(tmp_path, source, line, column, reason):
    file = write(tmp_path / "app.py", source)
    (problem,) = target_problems("file://app.py:answer", limits(tmp_path))
    assert problem.location == Location(str(file), line, column)
    assert problem.message == f"the file does not compile: {reason}"


@pytest.mark.parametrize("content", [b"x = 1\0", b"\xff\xfe", b"(" * 5000, b"x = " + b"-" * 100_000 + b"1"])
def test_a_file_that_is_no_python_is_a_problem(tmp_path, content):
    (tmp_path / "app.py").write_bytes(content)
    assert len(messages("file://app.py:answer", tmp_path)) == 1


def test_a_suspicious_escape_in_a_file_is_not_our_business(tmp_path):
    (tmp_path / "app.py").write_text("def answer(request): return '\\d'")
    assert messages("file://app.py:answer", tmp_path) == []


def test_a_missing_file_comes_with_the_nearest_name(tmp_path):
    write(tmp_path / "app.py", "")
    assert messages("file://ap.py:answer", tmp_path) == [
        "file 'ap.py' does not exist; did you mean 'app.py'?"
    ]
    assert messages("file://src/x.py:answer", tmp_path) == [
        "file 'src/x.py' does not exist; a path is taken relative to the suite's folder"
    ]


def test_a_folder_is_not_a_file(tmp_path):
    (tmp_path / "app.py").mkdir()
    assert messages("file://app.py:answer", tmp_path)[0].startswith("'app.py' is no file; ")


def test_code_stays_inside_the_repository_of_the_suite(tmp_path):
    suite = tmp_path / "repository" / "evals"
    suite.mkdir(parents=True)
    write(tmp_path / "outside.py", "def answer(request): ...")
    write(tmp_path / "repository" / "inside.py", "def answer(request): ...")
    assert messages("file://../inside.py:answer", suite)[0].startswith(f"code must lie inside {suite}, found")
    (tmp_path / "repository" / ".git").mkdir()
    assert limits(suite).code_area == tmp_path / "repository"
    assert messages("file://../inside.py:answer", suite) == []
    (message,) = messages("file://../../outside.py:answer", suite)
    assert message.startswith(f"code must lie inside {tmp_path / 'repository'}, found '../../outside.py'; ")
    assert message.endswith(f"allow its folder with `--allow-outside {tmp_path}`")
    assert messages("file://../../outside.py:answer", suite, tmp_path) == []


def test_a_link_that_leads_outside_is_followed_before_it_is_judged(tmp_path):
    suite = tmp_path / "suite"
    suite.mkdir()
    outside = write(tmp_path / "outside.py", "def answer(request): ...")
    (suite / "app.py").symlink_to(outside)
    assert "code must lie inside" in messages("file://app.py:answer", suite)[0]
    assert "code must lie inside" in messages(f"file://{outside}:answer", suite)[0]


def test_modules_are_found_without_importing_them(tmp_path):
    package = tmp_path / "package_under_test"
    package.mkdir()
    write(package / "__init__.py", "raise SystemExit('the package was imported')")
    write(package / "module.py", "raise SystemExit('the module was imported')\ndef answer(request): ...")
    assert messages("package_under_test.module:answer", tmp_path) == []
    assert messages("package_under_test.module:anser", tmp_path) == [
        "package_under_test.module has no `anser`; did you mean `answer`?"
    ]
    assert messages("package_under_test.modul:answer", tmp_path)[0].startswith(
        "module 'package_under_test.modul' was not found; install the package"
    )
    assert messages("package_under_test.module.deeper:answer", tmp_path)[0].startswith(
        "module 'package_under"
    )
    assert "package_under_test" not in sys.modules


@pytest.mark.parametrize("target", ["json:dumps", "importlib.metadata:version", "math:sqrt", "sys:intern"])
def test_installed_and_built_in_modules_are_found(tmp_path, target):
    assert messages(target, tmp_path) == []
    assert messages("no_such_module_at_all:answer", tmp_path) != []


def test_a_namespace_package_is_searched(tmp_path):
    (tmp_path / "spaces").mkdir()
    write(tmp_path / "spaces" / "app.py", "def answer(request): ...")
    importlib.invalidate_caches()
    assert messages("spaces.app:answer", tmp_path) == []
    assert messages("spaces.app:other", tmp_path) != []
