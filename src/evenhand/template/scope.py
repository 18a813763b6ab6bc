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
        self._add(names)

    def extended(self, names: Mapping[str, Any]) -> Scope:
        """This scope with further names; they win over its own."""
        scope = Scope.__new__(Scope)
        scope.meter = self.meter
        scope.names = dict(self.names)
        scope.unusable = dict(self.unusable)
        scope._add(names)
        return scope

    def _add(self, names: Mapping[str, Any]) -> None:
        meter = self.meter
        meter.fault = None
        own = self.names
        for name, value in names.items():
            own[name] = value if value.__class__ is str and value.isascii() else wrap(value, meter)
            if isinstance(meter.fault, UnusableValue):
                self.unusable[name] = meter.fault.why
                del own[name]
                meter.fault = None
            elif self.unusable:
                self.unusable.pop(name, None)
            if name in METHOD_NAMES and name in own:
                own[PREFIX + name] = own[name]
