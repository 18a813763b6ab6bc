"""Python functions that a suite names, and what can be known about them without running their files.

A target is `file://app.py:answer` (a path relative to the suite's folder) or `package.module:function`.
"""

from __future__ import annotations

import ast
import importlib.machinery
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from evenhand.errors import Location, Problem
from evenhand.model.confinement import Confinement
from evenhand.registry import nearest

FILE_PREFIX = "file://"
FORMS = "write `file://app.py:function` or `package.module:function`"


class Target(NamedTuple):
    """A function by where it is: the path of a file as written, or a module's dotted name. The other one is empty."""

    path: str
    module: str
    function: str

    @property
    def home(self) -> str:
        """What messages call the place of the function."""
        return self.path or self.module


def parse_target(text: str) -> Target | None:
    """The target that a text names, or None where it has neither form."""
    home, colon, function = text.rpartition(":")
    if not colon or not all(part.isidentifier() for part in function.split(".")):
        return None
    if home.startswith(FILE_PREFIX):
        path = home.removeprefix(FILE_PREFIX)
        return Target(path, "", function) if path.endswith(".py") else None
    return Target("", home, function) if all(part.isidentifier() for part in home.split(".")) else None


def target_problems(text: str, confinement: Confinement) -> list[Problem]:
    """What is wrong with a target in a suite with these limits, as far as its file tells without being run."""
    directory = confinement.directory
    target = parse_target(text)
    if target is None:
        return [Problem(f"a target must name a function, found {text!r}", hint=FORMS)]
    if target.module:
        return _module_problems(target, directory)
    file = directory / target.path
    if not confinement.holds(file):
        hint = f"move it there, or allow its folder with `--allow-outside {file.resolve().parent}`"
        return [Problem(f"code must lie inside {confinement.code_area}, found {target.path!r}", hint=hint)]
    if not file.exists():
        return [_missing_file(file, target.path)]
    if not file.is_file():
        return [Problem(f"{target.path!r} is no file", hint="name a file that holds Python")]
    return _source_problems(file, target)


def _missing_file(file: Path, written: str) -> Problem:
    siblings = [sibling.name for sibling in file.parent.glob("*.py")] if file.parent.is_dir() else []
    close = nearest(file.name, siblings)
    hint = f"did you mean {close!r}?" if close else "a path is taken relative to the suite's folder"
    return Problem(f"file {written!r} does not exist", hint=hint)


def _module_problems(target: Target, directory: Path) -> list[Problem]:
    spec = _find_module(target.module, directory)
    if spec is None:
        hint = "install the package, or correct the name; modules in the suite's folder are found too"
        if target.module.endswith(".py"):
            hint = f"did you mean `{FILE_PREFIX}{target.module}:{target.function}`?"
        return [Problem(f"module {target.module!r} was not found", hint=hint)]
    if spec.origin is None or not spec.origin.endswith(".py"):
        return []
    return _source_problems(Path(spec.origin), target)


def _find_module(name: str, directory: Path) -> importlib.machinery.ModuleSpec | None:
    """Where a module would be imported from, found without importing it or the packages above it."""
    importlib.invalidate_caches()
    spec: importlib.machinery.ModuleSpec | None = None
    path: list[str] | None = None
    parts = name.split(".")
    for depth in range(1, len(parts) + 1):
        full_name = ".".join(parts[:depth])
        if depth == 1:
            spec = importlib.machinery.PathFinder.find_spec(full_name, [str(directory)])
        if depth > 1 or spec is None:
            found = (finder.find_spec(full_name, path) for finder in sys.meta_path)
            spec = next((each for each in found if each is not None), None)
        if spec is None:
            return None
        path = list(spec.submodule_search_locations or ())
    return spec


def _source_problems(file: Path, target: Target) -> list[Problem]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(file.read_bytes(), str(file))
            compile(tree, str(file), "exec", dont_inherit=True)
    except SyntaxError as error:
        location = Location(str(file), error.lineno or 0, error.offset or 0)
        return [Problem(f"the file does not compile: {error.msg}", location=location)]
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        return [Problem(f"{target.home} cannot be read as Python: {error}")]
    problem = _function_problem(tree, target)
    return [problem] if problem else []


def _function_problem(tree: ast.Module, target: Target) -> Problem | None:
    name, *attributes = target.function.split(".")
    bound: dict[str, ast.stmt] = {}
    for statement in _statements(tree.body):
        if isinstance(statement, ast.ImportFrom) and any(alias.name == "*" for alias in statement.names):
            return None
        bound.update(dict.fromkeys(_names(statement), statement))
    if "__getattr__" in bound:
        return None
    if name not in bound:
        close = nearest(name, bound)
        hint = f"did you mean `{close}`?" if close else f"define `def {name}(request): …` in it"
        return Problem(f"{target.home} has no `{name}`", hint=hint)
    function = bound[name]
    if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) and not attributes:
        return _arguments_problem(function)
    return None


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run when a file is loaded, those inside `if`, `try`, `with` and loops included."""
    for statement in body:
        yield statement
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        for field in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(statement, field, []))
        for handler in getattr(statement, "handlers", []):
            yield from _statements(handler.body)


def _names(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement itself binds."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield statement.name
    elif isinstance(statement, (ast.Import, ast.ImportFrom)):
        for alias in statement.names:
            yield alias.asname or alias.name.partition(".")[0]
    else:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def _arguments_problem(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Problem | None:
    """Whether a function can be called with one positional argument. A decorator may change that either way."""
    arguments = function.args
    positional = len(arguments.posonlyargs) + len(arguments.args)
    required = positional - len(arguments.defaults)
    takes_one = required <= 1 and (positional >= 1 or arguments.vararg is not None)
    if function.decorator_list or (
        takes_one and all(default is not None for default in arguments.kw_defaults)
    ):
        return None
    hint = f"write `def {function.name}(request): …`"
    return Problem(
        f"`{function.name}` must take one argument, the request, found {_found(arguments)}", hint=hint
    )


def _found(arguments: ast.arguments) -> str:
    text = ast.unparse(arguments)
    return f"`({text})`" if text else "none"
