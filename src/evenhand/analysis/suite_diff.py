"""What differs between the suites of two runs, setting by setting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from evenhand.model.exchange import Json


class SettingChange(msgspec.Struct, frozen=True, kw_only=True):
    """One setting of a suite that another run had otherwise; a side that did not set it has no value."""

    path: str
    """Where it stands: `providers[small].params.temperature`. Items with an `id` go by it, others by their index."""
    base: Json | msgspec.UnsetType = msgspec.UNSET
    head: Json | msgspec.UnsetType = msgspec.UNSET


def setting_changes(base: Json, head: Json) -> Iterator[SettingChange]:
    """The settings that differ between two suites as runs store them, in the order of the head, then of the base.

    A value that is there on one side only is one change, however much it holds. The cases are not among them: they
    are stored with their results.
    """
    return _changes("", base, head)


def _changes(path: str, base: Any, head: Any) -> Iterator[SettingChange]:
    one, two = _members(base), _members(head)
    if one is None or two is None or isinstance(base, Mapping) != isinstance(head, Mapping):
        if type(base) is not type(head) or base != head:
            yield SettingChange(path=path or "suite", base=base, head=head)
        return
    for name in [*two, *(name for name in one if name not in two)]:
        inner = f"{path}{name}" if name.startswith("[") or not path else f"{path}.{name}"
        if name not in one:
            yield SettingChange(path=inner, head=two[name])
        elif name not in two:
            yield SettingChange(path=inner, base=one[name])
        else:
            yield from _changes(inner, one[name], two[name])


def _members(value: Any) -> Mapping[str, Any] | None:
    """The parts of a value by what a path calls them; None for a value without parts."""
    if isinstance(value, Mapping):
        return value
    if not isinstance(value, (list, tuple)):
        return None
    ids = [item.get("id") if isinstance(item, Mapping) else None for item in value]
    if all(isinstance(name, str) for name in ids) and len(set(ids)) == len(ids):
        return {f"[{name}]": item for name, item in zip(ids, value, strict=True)}
    return {f"[{index}]": item for index, item in enumerate(value)}
