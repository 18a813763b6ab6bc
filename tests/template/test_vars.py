"""Vars that refer to each other."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import TemplateError
from evenhand.template import Engine, Val, order_vars, render_scope, render_vars

ENGINE = Engine()


def rendered(vars: dict[str, Any], env: dict[str, str] | None = None) -> dict[str, Any]:
    return render_vars(order_vars({name: Val(value) for name, value in vars.items()}, ENGINE), env or {})


@pytest.mark.parametrize(
    ("vars", "values"),
    [
        ({}, {}),
        ({"a": 1, "b": [None]}, {"a": 1, "b": [None]}),
        ({"a": "{{ b }}!", "b": "{{ c }}?", "c": "x"}, {"a": "x?!", "b": "x?", "c": "x"}),
        ({"c": "x", "b": "{{ c }}", "a": "{{ b }}{{ c }}"}, {"c": "x", "b": "x", "a": "xx"}),
        (
            {"a": {"k": ["{{ b.x }}"]}, "b": {"x": "{{ c }}"}, "c": 5},
            {"a": {"k": ["5"]}, "b": {"x": "5"}, "c": 5},
        ),
        ({"a": "{{ env.WHO }}", "b": "{{ a }}"}, {"a": "sam", "b": "sam"}),
        ({"a": "{{ b }}", "b": {"$raw": "{{ a }}"}}, {"a": "{{ a }}", "b": "{{ a }}"}),
        ({"a": "{{ x|default('d') }}"}, {"a": "d"}),
        ({"a": "{% for b in [1] %}{{ b }}{% endfor %}", "b": "{{ a }}"}, {"a": "1", "b": "1"}),
        ({"items": ["{{ keys }}"], "keys": "k"}, {"items": ["k"], "keys": "k"}),
        ({"range": "r", "a": "{{ range }}"}, {"range": "r", "a": "r"}),
        ({"env": "mine", "a": "{{ env.WHO }}"}, {"env": "mine", "a": "sam"}),
        ({"a": "{{ env.WHO }}", "env": "{{ env.WHO }}!"}, {"a": "sam", "env": "sam!"}),
    ],
)
def test_vars_render_in_the_order_of_their_references(vars: dict[str, Any], values: dict[str, Any]) -> None:
    found = rendered(vars, {"WHO": "sam"})
    assert found == values
    assert list(found) == list(vars)


@pytest.mark.parametrize(
    ("vars", "way"),
    [
        ({"a": "{{ a }}"}, "a → a"),
        ({"a": "{{ a|default('x') }}"}, "a → a"),
        ({"a": "{{ b }}", "b": "{{ a }}"}, "a → b → a"),
        ({"x": "{{ a }}", "a": "{{ b }}", "b": ["{{ c.d }}"], "c": {"d": "{{ a }}"}}, "a → b → c → a"),
    ],
)
def test_vars_in_a_circle_are_a_problem_that_names_the_way(vars: dict[str, Any], way: str) -> None:
    plan = order_vars({name: Val(value) for name, value in vars.items()}, ENGINE)
    assert plan.problem is not None
    steps = plan.problem.message.removeprefix("the vars refer to each other in a circle: ").split(" → ")
    start = steps.index(way.split(" → ")[0])
    turned = steps[start:-1] + steps[:start]
    assert " → ".join([*turned, turned[0]]) == way
    assert plan.problem.path[0] in vars
    with pytest.raises(TemplateError, match="circle") as caught:
        render_vars(plan, {})
    assert not caught.value.depends_on_data


def test_error_names_the_var() -> None:
    with pytest.raises(TemplateError) as caught:
        rendered({"greeting": "a\n{{ nmae }}", "name": "x"})
    assert caught.value.message == "var `greeting`: undefined variable `nmae`; did you mean `name`?"
    assert caught.value.line == 2
    assert caught.value.depends_on_data


def test_scope_holds_vars_and_environment() -> None:
    plan = order_vars({"a": Val("{{ b }}"), "b": Val(1), "env": Val("shadowed")}, ENGINE)
    values, scope = render_scope(plan, {"X": "y"})
    assert values == {"a": "1", "b": 1, "env": "shadowed"}
    assert ENGINE.render("{{ a }}{{ b }}{{ env.X }}", scope) == "11y"
    constants, scope = render_scope(order_vars({"a": Val(1)}, ENGINE), {})
    assert constants == {"a": 1}
    assert ENGINE.render("{{ a }}{{ env }}", scope) == "1{}"


def test_rendered_vars_are_nobody_elses() -> None:
    plan = order_vars({"a": Val(1)}, ENGINE)
    render_vars(plan, {})["b"] = 2
    assert render_vars(plan, {}) == {"a": 1}


@pytest.mark.parametrize(
    "template",
    [
        "{{ a|upper }}{{ items }}{{ items|length }}",
        "{% for a in items %}{{ a }}{{ loop.index }}{% endfor %}{{ a }}",
        "{% set b = a ~ 'x' %}{{ b }}{% if keys is defined %}{{ keys.k }}{% endif %}",
        "{% macro m(x) %}{{ x }}{{ a }}{% endmacro %}{{ m(items) }}",
        "{{ 'ü'|upper }}{{ items|map('upper')|join(a) }}",
        "{{ env.HOME|lower }}{{ missing is defined }}{{ not_there|default(a) }}",
    ],
)
def test_template_sees_the_same_among_many_names(template: str) -> None:
    few = {"a": "q", "items": ["x", "y"], "keys": {"k": 1}, "found": template}
    many = {**few, **{f"further{number}": number for number in range(100)}}
    env = {"HOME": "H"}
    assert rendered(many, env)["found"] == rendered(few, env)["found"]


@given(order=st.permutations(range(6)))
def test_order_of_writing_does_not_matter(order: list[int]) -> None:
    chain = {f"v{number}": f"{{{{ v{number + 1} }}}}{number}" for number in range(5)} | {"v5": "end"}
    found = rendered({f"v{number}": chain[f"v{number}"] for number in order})
    assert found["v0"] == "end43210"


@given(text=st.text(max_size=20))
def test_rendered_var_is_never_rendered_again(text: str) -> None:
    raw = {"$raw": text + "{{ 7 * 7 }}{% if"}
    assert rendered({"a": "{{ b }}", "b": "{{ c }}", "c": raw})["a"] == raw["$raw"]
