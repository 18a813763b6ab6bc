"""Cases from a Python function: `generator: file://cases.py:function`."""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import json
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from evenhand.config.sandbox import FoundFile
from evenhand.config.wording import found
from evenhand.errors import Location, Problem, SuiteError
from evenhand.registry import nearest

_RETURN = "return or yield mappings with the keys of a test"


def cases_of(file: FoundFile, name: str) -> Iterator[bytes]:
    """Each case that the function `name` of a Python file makes, as JSON. Raises `SuiteError`.

    The function runs in this process, its folder on the import path; what it prints goes to the error stream.
    """
    with _at_home(file) as module_name:
        function = _load(file, name, module_name)
        line = _line_of(function)
        for index, case in enumerate(_items(file, name, function)):
            where = f"case {index} of `{name}`"
            if not isinstance(case, dict):
                raise _failure(file, f"{where} must be a mapping, found {_found(case)}", line, _RETURN)
            try:
                encoded = json.dumps(case, ensure_ascii=False, allow_nan=False).encode()
            except (TypeError, ValueError, RecursionError) as error:
                message = f"{where} cannot be written as JSON: {error}"
                raise _failure(file, message, line, "use JSON values only") from None
            yield encoded


def check_module(file: FoundFile, source: str, name: str) -> None:
    """Raise `SuiteError` for a Python file that does not compile, or that cannot hold the function."""
    try:
        with warnings.catch_warnings(action="ignore"):
            compile(source, str(file.path), "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        message = getattr(error, "msg", None) or str(error)
        raise _failure(file, f"does not compile: {message}", getattr(error, "lineno", 0) or 0) from None
    if name not in source and "import *" not in source:
        raise _failure(file, f"defines no function {name!r}")


def _load(file: FoundFile, name: str, module_name: str) -> Callable[[], Any]:
    module = _module(file, module_name)
    function = getattr(module, name, None)
    if callable(function):
        return function  # type: ignore[no-any-return]
    names = [key for key, value in vars(module).items() if callable(value)]
    meant = nearest(name, names)
    raise _failure(file, f"defines no function {name!r}", 0, f"did you mean {meant!r}?" if meant else "")


def _module(file: FoundFile, module_name: str) -> Any:
    spec = importlib.util.spec_from_file_location(module_name, file.path)
    if spec is None or spec.loader is None:
        raise _failure(file, "is not a Python file", 0, "name a `.py` file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a user's code may raise anything
        raise _failure_of(file, error) from None
    return module


def _items(file: FoundFile, name: str, function: Callable[[], Any]) -> Iterator[Any]:
    try:
        yield from _iterable(file, name, function())
    except SuiteError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a user's code may raise anything
        raise _failure_of(file, error) from None


def _iterable(file: FoundFile, name: str, made: Any) -> Iterable[Any]:
    if inspect.iscoroutine(made):
        made.close()
    elif isinstance(made, Iterable) and not isinstance(made, dict | str | bytes):
        return made
    raise _failure(file, f"`{name}` must return or yield cases, found {_found(made)}", 0, _RETURN)


@contextlib.contextmanager
def _at_home(file: FoundFile) -> Iterator[str]:
    """A name for the file's module, which is gone afterwards.

    Inside, imports find the modules beside the file, and prints do not mix with evenhand's own output.
    """
    module_name = f"evenhand_generator_{file.stem}"
    folder = str(file.path.parent)
    sys.path.insert(0, folder)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield module_name
    finally:
        sys.modules.pop(module_name, None)
        with contextlib.suppress(ValueError):
            sys.path.remove(folder)


def _line_of(function: Any) -> int:
    code = getattr(function, "__code__", None)
    return int(code.co_firstlineno) if code is not None else 0


def _found(value: Any) -> str:
    if value is None or isinstance(value, bool | int | float | str | list | tuple | dict):
        return found(value)
    return f"a value of type {type(value).__name__}"


def _failure_of(file: FoundFile, error: BaseException) -> SuiteError:
    """A user's exception as a problem at the line of the file that it came through last."""
    frames = traceback.extract_tb(error.__traceback__)
    line = next((frame.lineno or 0 for frame in reversed(frames) if frame.filename == str(file.path)), 0)
    return _failure(file, f"raised {type(error).__name__}: {str(error)[:500]}".rstrip(": "), line)


def _failure(file: FoundFile, message: str, line: int = 0, hint: str = "") -> SuiteError:
    return SuiteError([Problem(message, (), hint, Location(file.name, line))])
