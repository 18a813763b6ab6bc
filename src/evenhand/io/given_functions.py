"""Functions that a caller of the library hands over in a suite, and the names that stand for them in everything else.

A suite is stored, compared and resumed as data, which a function is not. So a function is known by a reference that
names it and its code: another function under the same name is another reference. A reference from a file means
nothing: only this process knows what it stands for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

PREFIX = "function://"

_FUNCTIONS: dict[str, Callable[..., Any]] = {}


def reference_to(function: Callable[..., Any]) -> str:
    """The reference of a function: its module, name and a digest of its code; a number where two share these."""
    module = getattr(function, "__module__", None) or "builtins"
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    start = f"{PREFIX}{module}:{name}#{_digest(function)}"
    reference, number = start, 1
    while _FUNCTIONS.setdefault(reference, function) is not function:
        number += 1
        reference = f"{start}~{number}"
    return reference


def is_reference(text: str) -> bool:
    """Whether a text stands for a function that was handed over."""
    return text.startswith(PREFIX)


def function_of(reference: str) -> Callable[..., Any] | None:
    """The function that a reference stands for in this process."""
    return _FUNCTIONS.get(reference)


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
