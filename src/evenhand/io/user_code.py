"""Loading a Python function that a suite names, and letting go of it again.

A file is loaded afresh each time, so that runs in one process (a notebook, say) see the latest version of it and
of the modules beside it. The folder of the code can be imported from for as long as the code is in use.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import itertools
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, cast

from evenhand.errors import EvenhandError
from evenhand.io.target import Target

_OWN_FOLDER = f"{Path(__file__).parents[1]}{os.sep}"
_INSTALLED = ("site-packages", "dist-packages")
_numbers = itertools.count(2)

TRACEBACK_LIMIT = 8_000
"""Characters of a traceback that are kept: the last ones."""
MESSAGE_LIMIT = 500
"""Characters of an exception's text that go into a message."""


class CannotLoad(EvenhandError):
    """Code that could not be loaded. Where it raised, `cause` is the exception and `details` holds its traceback."""

    def __init__(self, message: str, details: Any = None, cause: BaseException | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.details = details
        self.cause = cause


class NotAFunction(CannotLoad):
    """Code that was loaded and has no function of the name that was asked for."""


class UserCode:
    """A loaded function and what must be undone when it is no longer needed."""

    def __init__(self, target: Target, directory: Path) -> None:
        """Load the code. Raises `CannotLoad`."""
        self.target = target
        self._file = (directory / target.path).resolve() if target.path else None
        self._folder = self._file.parent if self._file else directory.resolve()
        self._known = set(sys.modules)
        self._finder = _FreshModules(self._folder)
        sys.path.insert(0, str(self._folder))
        sys.meta_path.insert(_place_before(PathFinder), self._finder)
        try:
            module = self._load()
            self._refuse_mix_up(module)
            self.function = self._find(module)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Forget the modules that came with the code, so that the next load reads them again."""
        with contextlib.suppress(ValueError):
            sys.meta_path.remove(self._finder)
        with contextlib.suppress(ValueError):
            sys.path.remove(str(self._folder))
        for name in set(sys.modules) - self._known:
            if self._is_ours(sys.modules[name]):
                del sys.modules[name]

    def _load(self) -> ModuleType:
        importlib.invalidate_caches()
        try:
            if self._file is None:
                return importlib.import_module(self.target.module)
            return _module_of(self._file)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  (a file may raise anything, `SystemExit` too)
            message = f"{self.target.home} cannot be loaded: {raised(error)}{packages_hint(error)}"
            raise CannotLoad(message, details=traceback_details(error), cause=error) from None

    def _find(self, module: ModuleType) -> Callable[..., Any]:
        found: Any = module
        for name in self.target.function.split("."):
            found = getattr(found, name, None)
        if not callable(found):
            kind = "nothing" if found is None else f"a value of type `{type(found).__name__}`"
            raise NotAFunction(
                f"`{self.target.function}` in {self.target.home} must be a function, found {kind}"
            )
        return cast("Callable[..., Any]", found)

    def _refuse_mix_up(self, module: ModuleType) -> None:
        """A module that was loaded earlier from elsewhere must not stand in for one that lies beside the code."""
        for value in vars(module).values():
            name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
            top = str(name).partition(".")[0]
            if (
                not (self._folder / f"{top}.py").is_file()
                and not (self._folder / top / "__init__.py").is_file()
            ):
                continue
            elsewhere = getattr(sys.modules.get(top), "__file__", None)
            if elsewhere and not Path(elsewhere).resolve().is_relative_to(self._folder):
                raise CannotLoad(
                    f"{self.target.home} uses the module `{top}`, which this process had already loaded from "
                    f"{elsewhere} and not from {self._folder}; rename one of the two"
                )

    def _is_ours(self, module: ModuleType) -> bool:
        # A package without `__init__.py` has folders only.
        file = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), None)
        if not file or file.startswith(_OWN_FOLDER):
            return False
        path = Path(file).resolve()
        return path.is_relative_to(self._folder) and not any(part in _INSTALLED for part in path.parts)


class _FreshModules:
    """Finds the modules below one folder as Python does, and has them read afresh after an edit."""

    def __init__(self, folder: Path) -> None:
        self._prefix = f"{folder}{os.sep}"

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or type(spec.loader) is not SourceFileLoader:
            return None
        if not spec.loader.path.startswith(self._prefix):
            return None
        spec.loader = _FreshLoader(spec.loader.name, spec.loader.path)
        return spec


def _place_before(finder: type[PathFinder]) -> int:
    """Built-in modules keep their finders in front, so that no file of the folder can stand in for one."""
    return sys.meta_path.index(finder) if finder in sys.meta_path else len(sys.meta_path)


class _FreshLoader(SourceFileLoader):
    """Distrusts bytecode that was written in the second in which its source was.

    Bytecode names its source by whole seconds and by size: a second edit within one second that keeps the size
    would go unseen.
    """

    def get_data(self, path: str) -> bytes:
        if path.endswith(".pyc") and _written_s(path) <= _written_s(self.path):
            raise OSError(f"{path} may be older than its source")
        return super().get_data(path)


def _written_s(path: str) -> int:
    return Path(path).stat().st_mtime_ns // 1_000_000_000


def _module_of(file: Path) -> ModuleType:
    """Run a file as a module. Its source is read directly: cached bytecode is only as fresh as a second."""
    name = file.stem
    if name in sys.modules or not name.isidentifier():
        name = f"{name}_{next(_numbers)}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None  # noqa: S101  (a path that ends in `.py` always has one)
    module = importlib.util.module_from_spec(spec)
    code = compile(file.read_bytes(), str(file), "exec", dont_inherit=True)
    sys.modules[name] = module
    exec(code, vars(module))  # noqa: S102  (the suite names this file to be run)
    return module


def raised(error: BaseException) -> str:
    """An exception in one line: its type, its text, and the place in the user's code that raised it."""
    try:
        text = str(error)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001  (a broken `__str__` must not hide the error)
        text = ""
    text = " ".join(text.split())
    text = f": {text[:MESSAGE_LIMIT]}" if text else ""
    frames = traceback.extract_tb(_users_part(error.__traceback__))
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}{text}{place}"


def packages_hint(error: BaseException) -> str:
    """Where a module that is not there would have to be, empty for another error."""
    if not isinstance(error, ModuleNotFoundError):
        return ""
    return f"; evenhand runs with {sys.executable}: install the module there, or evenhand beside it"


def traceback_details(error: BaseException) -> dict[str, str]:
    """The end of an exception's traceback, for the details of an error, from where the user's code begins."""
    lines = traceback.format_exception(type(error), error, _users_part(error.__traceback__), limit=-40)
    return {"traceback": "".join(lines)[-TRACEBACK_LIMIT:]}


def _users_part(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None and _is_machinery(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    return trace


def _is_machinery(filename: str) -> bool:
    return filename.startswith((_OWN_FOLDER, "<frozen importlib")) or filename == importlib.__file__
