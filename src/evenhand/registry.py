"""Named classes that a suite can mention: assertion kinds, provider types.

Built-ins and plugins register in the same way. A package that extends evenhand declares an entry point in the
group `evenhand.plugins`; its module is imported the first time that a name is not found.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from evenhand.errors import PluginError

T = TypeVar("T", bound=type)

ENTRY_POINT_GROUP = "evenhand.plugins"


class Registry(Generic[T]):
    """The classes of one kind of thing, by the name that a suite uses for them."""

    def __init__(self, what: str, load_builtins: Callable[[], object]) -> None:
        self.what = what
        self._load_builtins = load_builtins
        self._classes: dict[str, T] = {}
        self._has_builtins = False
        self._has_plugins = False

    def register(self, cls: T) -> T:
        """Add a class under its `tag`; use as a decorator. Refuses a taken name and a missing docstring."""
        name = cls.__struct_config__.tag  # type: ignore[attr-defined]
        if not isinstance(name, str):
            raise TypeError(f"{cls.__name__} has no `tag`")
        if not cls.__doc__:
            raise TypeError(f"{self.what} {name!r} has no docstring")
        if name in self._classes:
            raise TypeError(f"{self.what} {name!r} is already taken by {self._classes[name].__qualname__}")
        self._classes[name] = cls
        return cls

    def find(self, name: str) -> T | None:
        """The class of that name, or None."""
        self._load_builtins_once()
        if name not in self._classes:
            self._load_plugins_once()
        return self._classes.get(name)

    def all(self) -> dict[str, T]:
        """Every class by name, in alphabetical order."""
        self._load_builtins_once()
        self._load_plugins_once()
        return dict(sorted(self._classes.items()))

    def _load_builtins_once(self) -> None:
        if not self._has_builtins:
            self._load_builtins()
            self._has_builtins = True

    def _load_plugins_once(self) -> None:
        if not self._has_plugins:
            self._has_plugins = True
            # Looking for entry points reads the metadata of every installed package.
            from importlib import metadata

            for entry in metadata.entry_points(group=ENTRY_POINT_GROUP):
                try:
                    entry.load()
                except Exception as error:
                    self._has_plugins = False
                    reason = f"{type(error).__name__}: {error}"
                    raise PluginError(
                        f"the plugin {entry.name!r} cannot be loaded from `{entry.value}`: {reason}; mend or "
                        "uninstall its package"
                    ) from error


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that a person who typed `name` most likely meant, or None."""
    wanted = name.casefold()
    by_folded = {candidate.casefold(): candidate for candidate in candidates}
    close = difflib.get_close_matches(wanted, by_folded, n=1, cutoff=0.6)
    return by_folded[close[0]] if close else None
