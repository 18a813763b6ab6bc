"""The vars of a case: put in order once, at load, and rendered for each cell."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from typing import Any

from evenhand.errors import Problem, TemplateError
from evenhand.template.engine import Engine, Scope
from evenhand.template.scan import names_in
from evenhand.template.val import Val

ENVIRONMENT = "env"
"""The name under which templates see the environment, whatever vars there are."""

MAX_REMEMBERED = 5_000
"""Templates whose names are remembered."""


class VarsPlan:
    """Vars in the order in which they can be rendered."""

    __slots__ = ("constants", "engine", "names", "problem", "varying")

    def __init__(
        self,
        engine: Engine,
        names: tuple[str, ...],
        constants: dict[str, Any],
        varying: tuple[tuple[str, Val], ...],
        problem: Problem | None = None,
    ) -> None:
        self.engine = engine
        self.names = names
        """All vars, in the order in which they were written."""
        self.constants = constants
        """The values of vars without templates."""
        self.varying = varying
        """The others, each behind those that it refers to."""
        self.problem = problem
        """Vars that refer to each other in a circle, with the way round."""


def order_vars(vars: Mapping[str, Val], engine: Engine) -> VarsPlan:
    """Find out which vars refer to which others; a circle becomes the plan's `problem`."""
    names = tuple(vars)
    constants: dict[str, Any] = {}
    varying: dict[str, Val] = {}
    for name, value in vars.items():
        if value.is_constant:
            constants[name] = value.render(engine, _NOTHING)
        else:
            varying[name] = value
    if not varying:
        return VarsPlan(engine, names, constants, ())
    needs = {name: {other for other in _needs(value) if other in varying} for name, value in varying.items()}
    if not any(needs.values()):
        return VarsPlan(engine, names, constants, tuple(varying.items()))
    try:
        order = tuple((name, varying[name]) for name in TopologicalSorter(needs).static_order())
    except CycleError as error:
        circle: list[str] = error.args[1][::-1]
        return VarsPlan(engine, names, constants, tuple(varying.items()), _circle_problem(circle))
    return VarsPlan(engine, names, constants, order)


def render_vars(plan: VarsPlan, env: Mapping[str, str]) -> dict[str, Any]:
    """The values of the vars for one cell. Raises `TemplateError`, which names the var."""
    return render_scope(plan, env)[0] if plan.varying else dict(plan.constants)


def render_scope(plan: VarsPlan, env: Mapping[str, str]) -> tuple[dict[str, Any], Scope]:
    """The values of the vars for one cell, and the scope with them and `env` that its other templates see.

    Raises `TemplateError`, which names the var.
    """
    if plan.problem is not None:
        raise TemplateError(plan.problem.message, depends_on_data=False)
    scope = Scope({**plan.constants, ENVIRONMENT: env})
    if not plan.varying:
        return dict(plan.constants), scope
    values = dict(plan.constants)
    for name, value in plan.varying:
        try:
            rendered = value.render(plan.engine, scope)
        except TemplateError as error:
            message = f"var `{name}`: {error.message}"
            raise TemplateError(message, line=error.line, depends_on_data=error.depends_on_data) from None
        values[name] = rendered
        if name != ENVIRONMENT:
            scope.define(name, rendered)
    return {name: values[name] for name in plan.names}, scope


def _needs(value: Val) -> frozenset[str]:
    """The variables that the templates of a value take from their scope."""
    return frozenset().union(*(_roots(template) for _, template in value.templates()))


@lru_cache(maxsize=MAX_REMEMBERED)
def _roots(template: str) -> frozenset[str]:
    return frozenset(name.partition(".")[0] for name in names_in(template)) - {ENVIRONMENT}


def _circle_problem(circle: list[str]) -> Problem:
    way = " → ".join(circle)
    return Problem(
        f"the vars refer to each other in a circle: {way}",
        path=(circle[0],),
        hint="take one of the references out",
    )


_NOTHING = Scope({})
