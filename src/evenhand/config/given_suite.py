"""A suite that a caller of the library gives as a mapping instead of a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.config.document import CASE_ASSERT
from evenhand.config.yaml_reader import Document
from evenhand.errors import Location, Problem, SuiteError
from evenhand.io.given_functions import reference_to

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

    __slots__ = ()

    def __init__(self, value: Any) -> None:
        super().__init__(value, None, NAME)


def given_document(suite: Mapping[str, Any]) -> GivenDocument:
    """A copy of the mapping as plain data, with references in place of functions. Raises `SuiteError`."""
    problems: list[Problem] = []
    value = _plain(suite, (), problems)
    if problems:
        raise SuiteError(problems)
    return GivenDocument(value)


def _plain(value: Any, path: tuple[str | int, ...], problems: list[Problem]) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if len(path) > MAX_DEPTH:
        problems.append(Problem(f"the suite has more than {MAX_DEPTH} levels", path, location=Location(NAME)))
        return None
    if isinstance(value, Mapping):
        return {
            _key(key, path, problems): _member(value, key, item, (*path, str(key)), problems)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_item(item, (*path, index), problems) for index, item in enumerate(value)]
    if callable(value):
        message = f"a function stands here, where none can; {WHERE}"
        problems.append(Problem(message, path, location=Location(NAME)))
        return None
    message = f"a suite holds text, numbers, lists, mappings and functions, found {type(value).__name__}"
    problems.append(Problem(message, path, location=Location(NAME)))
    return None


def _key(key: Any, path: tuple[str | int, ...], problems: list[Problem]) -> str:
    if not isinstance(key, str):
        message = f"keys are text, found {key!r}"
        problems.append(Problem(message, path, "write it in quotes", Location(NAME)))
    return str(key)


def _member(
    owner: Mapping[Any, Any], key: Any, value: Any, path: tuple[str | int, ...], problems: list[Problem]
) -> Any:
    """A member of a mapping; a function where the mapping takes one."""
    if callable(value):
        if key == "transform":
            return {"type": "python", "value": reference_to(value), "isolate": False}
        if (key, owner.get("type")) == ("target", "python") or (
            key == "value" and owner.get("type") in PYTHON
        ):
            return reference_to(value)
    return _plain(value, path, problems)


def _item(value: Any, path: tuple[str | int, ...], problems: list[Problem]) -> Any:
    """An item of a list; a function among assertions is one of its own."""
    if callable(value) and path[-2] == CASE_ASSERT:
        return {"type": "python", "value": reference_to(value)}
    return _plain(value, path, problems)
