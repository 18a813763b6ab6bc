"""Functions that a caller of the library hands over in a suite, and the names that stand for them in everything else.

A suite is stored, compared and resumed as data, which a function is not. So a function is known by a reference that
names it and its code: another function under the same name is another reference. A reference from a file means
nothing: only this process knows what it stands for, for as long as the suite that was given lives.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from typing import Any
from weakref import WeakValueDictionary

PREFIX = "function://"


class GivenFunction:
    """A function and the reference that stands for it; whoever needs the reference keeps this."""

    __slots__ = ("__weakref__", "function", "reference")

    def __init__(self, function: Callable[..., Any], reference: str) -> None:
        self.function = function
        self.reference = reference


_given: WeakValueDictionary[str, GivenFunction] = WeakValueDictionary()
_lock = threading.Lock()


def hand_over(function: Callable[..., Any]) -> GivenFunction:
    """The function under its reference: its module, name and a digest of its code; a number where two share these."""
    module = getattr(function, "__module__", None) or "builtins"
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    start = f"{PREFIX}{module}:{name}#{_digest(function)}"
    reference, number = start, 1
    with _lock:
        while (known := _given.get(reference)) is not None:
            if known.function is function:
                return known
            number += 1
            reference = f"{start}~{number}"
        handed = _given[reference] = GivenFunction(function, reference)
    return handed


def is_reference(text: str) -> bool:
    """Whether a text stands for a function that was handed over."""
    return text.startswith(PREFIX)


def function_of(reference: str) -> Callable[..., Any] | None:
    """The function that a reference stands for in this process."""
    given = _given.get(reference)
    return None if given is None else given.function


def _digest(function: Callable[..., Any]) -> str:
    """12 hex digits over the code of a function; of a callable object, over that of its class."""
    code = getattr(function, "__code__", None)
    if code is None:
        code = getattr(vars(type(function)).get("__call__"), "__code__", None)
    parts = (b"",) if code is None else (code.co_code, repr(code.co_names).encode(), _constants(code))
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:12]


def _constants(code: Any) -> bytes:
    """What a function's code holds beside instructions; functions inside of it by their own code."""
    held = (
        each.co_code + _constants(each) if hasattr(each, "co_code") else repr(each).encode()
        for each in code.co_consts
    )
    return b"\0".join(held)
