"""Templates: the one place that knows which engine renders them."""

from evenhand.template.engine import Engine, Scope
from evenhand.template.val import Val, authored

__all__ = ["Engine", "Scope", "Val", "authored"]
