"""The names that a template sees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.template.faults import Meter, UnusableValue
from evenhand.template.prepare import METHOD_NAMES, PREFIX
from evenhand.template.values import wrap


class Scope:
    """The names that a template sees, wrapped once so that no template can change them.

    Values are JSON. What no template can hold (text with an unpaired surrogate, other types) is an error only
    for the templates that use it.
    """

    __slots__ = ("meter", "names", "unusable")

    def __init__(self, names: Mapping[str, Any]) -> None:
        self.meter = Meter()
        self.names: dict[str, Any] = {}
        self.unusable: dict[str, str] = {}
        """Names whose value no template can hold, with the reason."""
        self.define_all(names)

    def extended(self, names: Mapping[str, Any]) -> Scope:
        """This scope with further names; they win over its own."""
        scope = Scope.__new__(Scope)
        scope.meter = self.meter
        scope.names = dict(self.names)
        scope.unusable = dict(self.unusable)
        scope.define_all(names)
        return scope

    def define_all(self, names: Mapping[str, Any]) -> None:
        """Add names while the scope is being built."""
        own = self.names
        for name, value in names.items():
            if value.__class__ is str and value.isascii() and name not in METHOD_NAMES and not self.unusable:
                own[name] = value  # Most values: nothing can be wrong with one.
            else:
                self.define(name, value)

    def define(self, name: str, value: Any) -> None:
        """Add a name while the scope is being built."""
        meter = self.meter
        meter.reset()
        wrapped = wrap(value, meter)
        fault, meter.fault = meter.fault, None
        if isinstance(fault, UnusableValue):
            self.unusable[name] = fault.why
            self.names.pop(name, None)
            return
        self.names[name] = wrapped
        if name in METHOD_NAMES:
            self.names[PREFIX + name] = wrapped
        if self.unusable:
            self.unusable.pop(name, None)
