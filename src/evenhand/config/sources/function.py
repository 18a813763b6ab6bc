"""Cases from a Python function: `generator: file://cases.py:function`."""

from __future__ import annotations

import contextlib
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
from evenhand.io.target import Target
from evenhand.io.user_code import CannotLoad, NotAFunction, UserCode

_RETURN = "return or yield mappings with the keys of a test"


def cases_of(file: FoundFile, name: str) -> Iterator[bytes]:
    """Each case that the function `name` of a Python file makes, as JSON. Raises `SuiteError`.

    The function runs in this process, its folder on the import path; what it prints goes to the error stream.
    """
    with _loaded(file, name) as function:
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
    if file.extension != ".py":
        raise _failure(file, "is not a Python file", 0, "name a `.py` file")
    try:
        with warnings.catch_warnings(action="ignore"):
            compile(source, str(file.path), "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        message = getattr(error, "msg", None) or str(error)
        raise _failure(file, f"does not compile: {message}", getattr(error, "lineno", 0) or 0) from None
    if name not in source and "import *" not in source:
        raise _failure(file, f"defines no function {name!r}")


@contextlib.contextmanager
def _loaded(file: FoundFile, name: str) -> Iterator[Callable[[], Any]]:
    """The function, for as long as its cases are made. Prints do not mix with evenhand's own output."""
    with contextlib.redirect_stdout(sys.stderr):
        try:
            code = UserCode(Target(file.path.name, "", name), file.path.parent)
        except NotAFunction:
            raise _failure(file, f"defines no function {name!r}") from None
        except CannotLoad as failure:
            problem = _failure(file, failure.message)
            raise (_failure_of(file, failure.cause) if failure.cause else problem) from None
        try:
            yield code.function
        finally:
            code.close()


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
