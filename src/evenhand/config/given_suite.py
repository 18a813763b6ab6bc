"""A suite that a caller of the library gives as a mapping instead of a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evenhand.config.document import CASE_ASSERT
from evenhand.config.yaml_reader import Document
from evenhand.errors import DocumentPath, Location, Problem, SuiteError
from evenhand.io.given_functions import GivenFunction, hand_over

NAME = "suite"
"""What places in messages call the file that there is not."""

MAX_DEPTH = 100
"""Levels of mappings and lists that a suite may have."""

WHERE = (
    "it can be an entry of `assert`, the `value` of `type: python`, a `transform`, or the `target` of a "
    "`python` provider"
)
"""Where functions can stand."""
PYTHON = ("python", "not-python")
"""Types of assertions whose `value` may be a function."""


class GivenDocument(Document):
    """A mapping in the place of a file: every value stands in it somewhere."""

    __slots__ = ("functions",)

    def __init__(self, value: Any, functions: Sequence[GivenFunction] = ()) -> None:
        super().__init__(value, None, NAME)
        self.functions = tuple(functions)
        """The functions that references in the value stand for."""


def given_document(suite: Mapping[str, Any]) -> GivenDocument:
    """A copy of the mapping as plain data, with references in place of functions. Raises `SuiteError`."""
    copying = _Copying()
    value = copying.plain(suite, ())
    if copying.problems:
        raise SuiteError(copying.problems)
    return GivenDocument(value, copying.functions)


class _Copying:
    """One copy of a mapping: what is wrong with it, and the functions in it."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.functions: list[GivenFunction] = []

    def plain(self, value: Any, path: DocumentPath) -> Any:
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if len(path) > MAX_DEPTH:
            return self._refused(f"the suite has more than {MAX_DEPTH} levels", path)
        if isinstance(value, Mapping):
            return {
                self._key(key, path): self._member(value, key, item, (*path, str(key)))
                for key, item in value.items()
            }
        if isinstance(value, (list, tuple)):
            return [self._item(item, (*path, index)) for index, item in enumerate(value)]
        if callable(value):
            return self._refused(f"a function stands here, where none can; {WHERE}", path)
        found = type(value).__name__
        return self._refused(
            f"a suite holds text, numbers, lists, mappings and functions, found {found}", path
        )

    def _refused(self, message: str, path: DocumentPath, hint: str = "") -> None:
        self.problems.append(Problem(message, path, hint, Location(NAME)))

    def _key(self, key: Any, path: DocumentPath) -> str:
        if not isinstance(key, str):
            self._refused(f"keys are text, found {key!r}", path, "write it in quotes")
        return str(key)

    def _member(self, owner: Mapping[Any, Any], key: Any, value: Any, path: DocumentPath) -> Any:
        """A member of a mapping; a function where the mapping takes one."""
        if callable(value):
            kind = owner.get("type")
            if key == "transform":
                return {"type": "python", "value": self._reference(value), "isolate": False}
            if (key, kind) == ("target", "python") or (key == "value" and kind in PYTHON):
                return self._reference(value)
        return self.plain(value, path)

    def _item(self, value: Any, path: DocumentPath) -> Any:
        """An item of a list; a function among assertions is one of its own."""
        if callable(value) and path[-2] == CASE_ASSERT:
            return {"type": "python", "value": self._reference(value)}
        return self.plain(value, path)

    def _reference(self, function: Callable[..., Any]) -> str:
        given = hand_over(function)
        self.functions.append(given)
        return given.reference
