"""Templates: the one place that knows which engine renders them."""

from evenhand.template.engine import Engine, Scope
from evenhand.template.scan import env_names, undefined_names
from evenhand.template.val import Val, authored
from evenhand.template.vars import VarsPlan, order_vars, render_scope, render_vars

__all__ = [
    "Engine",
    "Scope",
    "Val",
    "VarsPlan",
    "authored",
    "env_names",
    "order_vars",
    "render_scope",
    "render_vars",
    "undefined_names",
]
