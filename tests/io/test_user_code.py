from __future__ import annotations

import json
import os
import pickle
import sys
from pathlib import Path

import pytest

from evenhand.io.target import parse_target
from evenhand.io.user_code import (
    MESSAGE_LIMIT,
    TRACEBACK_LIMIT,
    CannotLoad,
    UserCode,
    raised,
    traceback_details,
)
from support.programs import write


def load(folder: Path, target: str = "file://app.py:answer") -> UserCode:
    parsed = parse_target(target)
    assert parsed is not None
    return UserCode(parsed, folder)


def failure(folder: Path, target: str = "file://app.py:answer") -> CannotLoad:
    path, finders, modules = list(sys.path), list(sys.meta_path), set(sys.modules)
    with pytest.raises(CannotLoad) as caught:
        load(folder, target)
    assert sys.path == path
    assert sys.meta_path == finders
    assert set(sys.modules) == modules
    return caught.value


def test_a_function_is_loaded_from_its_file(tmp_path):
    write(tmp_path / "app.py", "def answer(request): return request * 2")
    code = load(tmp_path)
    assert code.function(21) == 42
    code.close()


def test_modules_beside_the_file_can_be_imported_then_and_later(tmp_path):
    (tmp_path / "src").mkdir()
    write(tmp_path / "src" / "first_helper.py", "VALUE = 1")
    write(tmp_path / "src" / "second_helper.py", "VALUE = 2")
    source = """
        import first_helper
        def answer(request):
            import second_helper
            return first_helper.VALUE + second_helper.VALUE
    """
    write(tmp_path / "src" / "app.py", source)
    code = load(tmp_path, "file://src/app.py:answer")
    assert code.function(None) == 3
    code.close()
    assert not {"first_helper", "second_helper", "app"} & set(sys.modules)
    assert str(tmp_path / "src") not in sys.path


def test_a_later_load_sees_what_has_changed_in_the_file_and_beside_it(tmp_path):
    write(tmp_path / "changing_helper.py", "VALUE = 'old'")
    write(tmp_path / "app.py", "import changing_helper\ndef answer(r): return 'old', changing_helper.VALUE")
    code = load(tmp_path)
    assert code.function(None) == ("old", "old")
    code.close()
    write(tmp_path / "changing_helper.py", "VALUE = 'newer'")
    write(tmp_path / "app.py", "import changing_helper\ndef answer(r): return 'new', changing_helper.VALUE")
    code = load(tmp_path)
    assert code.function(None) == ("new", "newer")
    code.close()


def test_a_function_is_loaded_from_a_module_in_the_suites_folder(tmp_path):
    (tmp_path / "fresh_package").mkdir()
    write(
        tmp_path / "fresh_package" / "module.py", "class App:\n    def answer(self, r): return r\napp = App()"
    )
    code = load(tmp_path, "fresh_package.module:app.answer")
    assert code.function("x") == "x"
    code.close()
    assert "fresh_package" not in sys.modules


def test_installed_modules_stay_loaded(tmp_path):
    code = load(tmp_path, "json:dumps")
    assert code.function([1]) == "[1]"
    code.close()
    assert sys.modules["json"] is json


def test_two_files_of_one_name_do_not_mix(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write(tmp_path / name / "app.py", f"def answer(request): return {name!r}")
    first, second = (load(tmp_path, f"file://{name}/app.py:answer") for name in ("one", "two"))
    assert (first.function(None), second.function(None)) == ("one", "two")
    first.close()
    second.close()


def test_a_file_named_like_a_loaded_module_is_loaded_all_the_same(tmp_path):
    write(tmp_path / "json.py", "def answer(request): return 'mine'")
    code = load(tmp_path, "file://json.py:answer")
    assert code.function(None) == "mine"
    code.close()
    assert sys.modules["json"] is json


def test_a_file_whose_name_is_no_identifier_can_be_loaded(tmp_path):
    write(tmp_path / "my app-2.py", "def answer(request): return 1")
    code = load(tmp_path, "file://my app-2.py:answer")
    assert code.function(None) == 1
    code.close()


@pytest.mark.parametrize("use", ["import json", "from json import dumps"])
def test_a_module_from_elsewhere_must_not_stand_in_for_the_one_beside_the_file(tmp_path, use):
    write(tmp_path / "json.py", "def dumps(value): return 'mine'")
    write(tmp_path / "app.py", f"{use}\ndef answer(request): ...")
    message = failure(tmp_path).message
    assert message.startswith("app.py uses the module `json`, which this process had already loaded from ")
    assert message.endswith("; rename one of the two")


def test_classes_of_the_file_know_their_module(tmp_path):
    source = """
        from __future__ import annotations
        import dataclasses
        @dataclasses.dataclass
        class Reply:
            text: str
        def answer(request): return Reply(request)
    """
    write(tmp_path / "app.py", source)
    code = load(tmp_path)
    reply = code.function("x")
    assert pickle.loads(pickle.dumps(reply)) == reply
    code.close()


PACKAGES = f"; evenhand runs with {sys.executable}: install the module there, or evenhand beside it"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "import no_such_module",
            f"app.py cannot be loaded: ModuleNotFoundError: No module named 'no_such_module' (app.py:1){PACKAGES}",
        ),
        ("x = 1\n1 / 0", "app.py cannot be loaded: ZeroDivisionError: division by zero (app.py:2)"),
        ("import sys\nsys.exit(3)", "app.py cannot be loaded: SystemExit: 3 (app.py:2)"),
        ("def answer(:", "app.py cannot be loaded: SyntaxError: invalid syntax (app.py, line 1)"),
        ("x = 1", "`answer` in app.py must be a function, found nothing"),
        ("answer = 5", "`answer` in app.py must be a function, found a value of type `int`"),
    ],
)
def test_code_that_cannot_be_loaded_says_why(tmp_path, source, message):
    write(tmp_path / "app.py", source)
    assert failure(tmp_path).message == message


def test_a_missing_file_says_so(tmp_path):
    assert "cannot be loaded: FileNotFoundError" in failure(tmp_path).message


def test_the_traceback_begins_in_the_users_code(tmp_path):
    write(tmp_path / "helper_that_breaks.py", "def work():\n    raise ValueError('deep')")
    write(tmp_path / "app.py", "import helper_that_breaks\nhelper_that_breaks.work()")
    found = failure(tmp_path)
    assert found.message.endswith("ValueError: deep (helper_that_breaks.py:2)")
    lines = found.details["traceback"].splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert "app.py" in lines[1]
    assert lines[-1] == "ValueError: deep"


def test_an_interruption_is_not_swallowed(tmp_path):
    write(tmp_path / "app.py", "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        load(tmp_path)


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def test_the_words_for_an_exception_are_bounded_and_on_one_line():
    assert raised(ValueError("a\n b\tc")) == "ValueError: a b c"
    assert raised(ValueError()) == "ValueError"
    assert raised(Unprintable()) == "Unprintable"
    assert len(raised(ValueError("x" * 10_000))) == len("ValueError: ") + MESSAGE_LIMIT


def test_a_traceback_is_bounded():
    def recurse(depth: int) -> None:
        if not depth:
            raise ValueError("x" * 20_000)
        recurse(depth - 1)

    with pytest.raises(ValueError, match="x") as caught:
        recurse(200)
    assert len(traceback_details(caught.value)["traceback"]) == TRACEBACK_LIMIT


def test_every_edit_is_seen_even_within_one_second_and_of_one_size(tmp_path):
    (tmp_path / "edited_package").mkdir()
    write(tmp_path / "edited_package" / "__init__.py", "")
    write(tmp_path / "app.py", "from edited_package.part import VALUE\ndef answer(request): return VALUE")
    for value in range(9):
        write(tmp_path / "edited_package" / "part.py", f"VALUE = {value}")
        code = load(tmp_path)
        assert code.function(None) == value
        code.close()


def test_unchanged_modules_are_read_from_bytecode_once_it_is_surely_newer(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    source = write(tmp_path / "compiled_helper.py", "VALUE = 'as written'")
    write(tmp_path / "app.py", "from compiled_helper import VALUE\ndef answer(request): return VALUE")
    an_hour_ago = source.stat().st_mtime_ns // 10**9 - 3_600
    os.utime(source, (an_hour_ago, an_hour_ago))
    load(tmp_path).close()
    write(source, "VALUE = 'as changed'")
    os.utime(source, (an_hour_ago, an_hour_ago))
    code = load(tmp_path)
    assert code.function(None) == "as written"
    code.close()


def test_a_file_does_not_stand_in_for_a_module_that_is_built_into_python(tmp_path):
    # One that nothing has imported so far; which ones are built in is up to the Python.
    name = next(name for name in sys.builtin_module_names if name not in sys.modules)
    write(tmp_path / f"{name}.py", "BESIDE = True")
    write(tmp_path / "app.py", f"import {name}\ndef answer(request): return hasattr({name}, 'BESIDE')")
    code = load(tmp_path)
    stands_in = code.function(None)
    code.close()
    assert stands_in is False
