"""Python checks: loading them from an expression, a function body or a file, calling them, describing their answers.

Runs in the worker process and, for checks that are not isolated, in the process of the run.
"""

from __future__ import annotations

import ast
import asyncio
import importlib.util
import inspect
import json
import math
import sys
import traceback
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

from evenhand.text.plain_json import NotPlain, plain_json

Check = Callable[..., Any]

MAX_LENGTH = 16 * 1024 * 1024
MAX_DEPTH = 64
MAX_ITEMS = 10_000
MAX_INT_TOKEN = 640
"""Digits that `int` reads whatever the interpreter is told."""
INLINE = "<check>"
DEFAULT_NAMES = {"verdict": ("get_assert", "check"), "value": ("get_transform", "transform")}
"""Names of the function in a file, by what it is asked for, in the order in which they are looked for."""

_SNAKE = {
    "named_scores": "namedScores",
    "named_score_weights": "namedScoreWeights",
    "component_results": "componentResults",
    "parts": "componentResults",
}


class CannotCheck(Exception):
    """A check that cannot be run, with the answer that says why."""

    def __init__(self, answer: dict[str, Any]) -> None:
        super().__init__(answer)
        self.answer = answer


def load_inline(source: str) -> Check:
    """The function that inline code stands for. Raises `CannotCheck`.

    Code is an expression if it can be one. Else it is the body of a function; on a single line, a final expression is
    what it returns.
    """
    code = source.strip()
    try:
        tree = _function(_body_of(code))
        names: dict[str, Any] = {"__name__": "check"}
        exec(compile(ast.fix_missing_locations(tree), INLINE, "exec"), names)  # noqa: S102
    except SyntaxError as error:
        place = {"line": error.lineno or 0, "column": error.offset or 0}
        raise CannotCheck({"uncompiled": {"error": error.msg, **place}}) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise CannotCheck({"uncompiled": {"error": str(error) or type(error).__name__}}) from None
    check: Check = names["check"]
    return check


def _body_of(code: str) -> list[ast.stmt]:
    try:
        return [ast.Return(ast.parse(code, INLINE, "eval").body)]
    except SyntaxError:
        body = ast.parse(code, INLINE, "exec").body
    if "\n" not in code and body and isinstance(body[-1], ast.Expr):
        body[-1] = ast.copy_location(ast.Return(body[-1].value), body[-1])
    return body


def _function(body: list[ast.stmt]) -> ast.Module:
    module = ast.parse("def check(output, context): pass")
    function = module.body[0]
    assert isinstance(function, ast.FunctionDef)  # noqa: S101
    function.body = body
    if _awaits(body):
        module.body = [ast.AsyncFunctionDef(**{name: getattr(function, name) for name in function._fields})]
    return module


def _awaits(nodes: list[Any]) -> bool:
    """Whether statements wait for something outside functions of their own."""
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Await, ast.AsyncFor, ast.AsyncWith)):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            waiting.extend(ast.iter_child_nodes(node))
    return False


def load_file(file: Path, name: str, purpose: str) -> Check:
    """The function `name` of a file, without a name one of `DEFAULT_NAMES`. Raises `CannotCheck`."""
    try:
        module_name = f"evenhand_check_{abs(hash(str(file)))}"
        module = sys.modules.get(module_name)
        if module is None:
            if str(file.parent) not in sys.path:
                sys.path.insert(0, str(file.parent))
            spec = importlib.util.spec_from_file_location(module_name, file)
            if spec is None or spec.loader is None:
                raise CannotCheck({"broken": f"{file.name} is no Python file"})
            module = importlib.util.module_from_spec(spec)
            sys.modules[module_name] = module
            try:
                spec.loader.exec_module(module)
            except BaseException:
                del sys.modules[module_name]
                raise
    except CannotCheck:
        raise
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  (a file may raise anything, `SystemExit` too)
        reason = f"{type(error).__name__}: {_shown(error)[:1_000]}"
        if isinstance(error, ModuleNotFoundError):
            reason += (
                f"; evenhand runs with {sys.executable}: install the module there, or evenhand beside it"
            )
        raise CannotCheck({"broken": f"{file.name} cannot be loaded: {reason}"}) from None
    wanted = (name,) if name else DEFAULT_NAMES[purpose]
    for candidate in wanted:
        found = vars(module).get(candidate)
        if callable(found):
            return _without_context(found) if _takes_the_output_alone(found) else found
    functions = [key for key, value in vars(module).items() if inspect.isfunction(value)]
    has = ", ".join(functions) or "none"
    raise CannotCheck(
        {"broken": f"{file.name} has no function {' or '.join(map(repr, wanted))}; it has {has}"}
    )


def _takes_the_output_alone(function: Check) -> bool:
    """Whether a function has one place, for the output, and none for the context."""
    try:
        signature = inspect.signature(function)
        signature.bind(None)
    except (TypeError, ValueError):
        return False
    try:
        signature.bind(None, None)
    except TypeError:
        return True
    return False


def _without_context(function: Check) -> Check:
    return lambda output, _: function(output)


def call_check(
    check: Check, output: Any, context: Any, loop: asyncio.AbstractEventLoop | None, purpose: str
) -> dict[str, Any]:
    """The answer of a check over an output: the verdict, or the value, that it returned."""
    try:
        returned = check(output, context)
        if inspect.isawaitable(returned) and loop is not None:
            returned = loop.run_until_complete(_awaited(returned))
        return valued(returned) if purpose == "value" else {"returned": described(returned)}
    except MemoryError:
        return {"memory": True}
    except TooLarge:
        return {"too_large": True}
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  (a check may raise anything, `SystemExit` too)
        return {"threw": thrown(error)}


async def _awaited(value: Any) -> Any:
    return await value


def read_given(text: str) -> Any:
    """A value out of its JSON text, integers of any length included: `json` itself refuses more than 4,300 digits."""
    return json.loads(text, parse_int=_integer)


def _integer(token: str) -> int:
    return int(token) if len(token) < MAX_INT_TOKEN else int(Decimal(token))


def thrown(error: BaseException) -> dict[str, str]:
    """What a check raised."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename != __file__]
    place = f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else ""
    return {"name": type(error).__name__, "message": _shown(error)[:20_000], "stack": place}


def _shown(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001  (a broken `__str__` must not hide the error)
        return "an error that cannot be shown"


class TooLarge(Exception):
    """A returned value that is larger than a verdict may be."""


def valued(value: Any) -> dict[str, Any]:
    """A returned value as the answer of code that was asked for one."""
    try:
        text = json.dumps(plain_json(value), ensure_ascii=True)
    except NotPlain as error:
        place = f" at `{'.'.join(map(str, error.path))}`" if error.path else ""
        return {"unfit": f"a value that{place} {error.message}"}
    except TypeError:
        return {"unfit": "a number beyond a float"}
    if len(text) > MAX_LENGTH:
        raise TooLarge
    return {"value": text}


def described(value: Any) -> Any:
    """A returned value in the form that answers have: JSON, with what JSON cannot hold named under `$`."""
    return _Describing().plain(value, (), is_result=True)


class _Describing:
    def __init__(self) -> None:
        self._room = MAX_LENGTH

    def plain(self, value: Any, parents: tuple[int, ...], *, is_result: bool = False) -> Any:
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            self._take(len(value))
            return str(value)
        if isinstance(value, (int, float)):
            return self._number(value)
        if hasattr(value, "__array__") and getattr(value, "ndim", None) == 0:
            return self.plain(value.item(), parents)  # a scalar of numpy
        if id(value) in parents:
            return {"$": "cycle"}
        if len(parents) >= MAX_DEPTH:
            return {"$": "deep"}
        below = (*parents, id(value))
        if isinstance(value, dict):
            return self._mapping(value, below, is_result)
        if isinstance(value, (list, tuple)):
            if len(value) > MAX_ITEMS:
                return {"$": "long", "text": str(len(value))}
            return {"$": "array", "items": [self.plain(item, below, is_result=is_result) for item in value]}
        if type(value).__name__ == "Outcome" and hasattr(value, "status"):
            return self._mapping(_outcome_fields(value), below, is_result)
        return {"$": type(value).__name__}

    def _mapping(self, value: dict[Any, Any], below: tuple[int, ...], is_result: bool) -> Any:
        if len(value) > MAX_ITEMS:
            return {"$": "long", "text": str(len(value))}
        fields: dict[str, Any] = {}
        for key, item in value.items():
            name = str(key)
            self._take(len(name))
            if is_result:
                name = _SNAKE.get(name, "pass" if name == "pass_" else name)
            fields[name] = self.plain(item, below, is_result=name == "componentResults")
        return {"$": "object", "class": type(value).__name__, "fields": fields}

    def _number(self, value: float) -> Any:
        try:
            number = float(value)
        except OverflowError:
            return {"$": "number", "text": "a number beyond a float"}
        return number if math.isfinite(number) else {"$": "number", "text": repr(number)}

    def _take(self, length: int) -> None:
        self._room -= length
        if self._room < 0:
            raise TooLarge


def _outcome_fields(outcome: Any) -> dict[str, Any]:
    """An `evenhand.Outcome` as a grading result."""
    fields = {"pass": outcome.status == "pass", "score": outcome.score, "reason": outcome.reason}
    if outcome.score is None:
        fields["score"] = 1.0 if fields["pass"] else 0.0
    if outcome.named_scores:
        fields["namedScores"] = outcome.named_scores
    if outcome.parts:
        fields["componentResults"] = list(outcome.parts)
    return fields
