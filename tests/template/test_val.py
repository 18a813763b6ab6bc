"""Values of a suite that may hold templates."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import TemplateError
from evenhand.template import Engine, Scope, Val, authored
from evenhand.template.val import MAX_DEPTH, is_raw

ENGINE = Engine()
SCOPE = Scope({"n": 3, "f": 1.0, "s": "text", "l": [1, {"a": None}], "braces": "{{ n }}"})

plain_texts = st.text(max_size=8).filter(lambda text: "{" not in text)
plain_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | plain_texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(plain_texts, inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("written", "rendered"),
    [
        ("{{ n }}", "3"),
        ("n", "n"),
        ("line\n", "line\n"),
        (
            {"{{ n }}": "{{ n }}", "k": [1, None, True, "x{{ s }}"]},
            {"{{ n }}": "3", "k": [1, None, True, "xtext"]},
        ),
        ({"$raw": "{{ 7 * 7 }}"}, "{{ 7 * 7 }}"),
        ({"$raw": {"a": ["{{ n }}"]}}, {"a": ["{{ n }}"]}),
        ([{"deep": {"$raw": "{{ n }}"}, "t": "{{ n }}"}], [{"deep": "{{ n }}", "t": "3"}]),
        ({"$raw": 1, "other": 2}, {"$raw": 1, "other": 2}),
        ({"$raw": "{{ n }}", "other": "{{ n }}"}, {"$raw": "3", "other": "3"}),
        ({"$raw": {"$raw": "x"}}, {"$raw": "x"}),
        ("{{ braces }}", "{{ n }}"),
        (["{{ l }}"], ['[1, {"a": none}]']),
    ],
)
def test_value_renders(written: Any, rendered: Any) -> None:
    assert Val(written).render(ENGINE, SCOPE) == rendered


@pytest.mark.parametrize(
    ("written", "rendered"),
    [
        ("{{ n }}", 3),
        ("{{ f }}", 1.0),
        ("{{ l }}", [1, {"a": None}]),
        ("{{ n }} ", "3 "),
        ("{{ n }}{{ n }}", "33"),
        ("{{ n + 1 }}", 4),
        ("{{ s }}", "text"),
        ("{{ braces }}", "{{ n }}"),
        ({"a": ["{{ n }}", "x{{ n }}", {"$raw": "{{ n }}"}], "b": 1}, {"a": [3, "x3", "{{ n }}"], "b": 1}),
    ],
)
def test_leaf_that_is_one_expression_keeps_its_type(written: Any, rendered: Any) -> None:
    found = Val(written).render(ENGINE, SCOPE, typed=True)
    assert found == rendered
    assert type(found) is type(rendered)


@pytest.mark.parametrize("typed", [True, False])
def test_undefined_leaf_is_an_error(typed: bool) -> None:
    for written in ("{{ missing }}", {"a": ["{{ l[9] }}"]}):
        with pytest.raises(TemplateError, match="undefined"):
            Val(written).render(ENGINE, SCOPE, typed=typed)


@pytest.mark.parametrize("written", ["{{ n }} {% if %}", {"a": ["{{ n }}", "{# "]}])
def test_data_is_never_a_template(written: Any) -> None:
    value = Val(written, is_data=True)
    assert value.is_constant
    assert value.render(ENGINE, SCOPE) is written
    assert value.render(ENGINE, SCOPE, typed=True) is written
    assert list(value.templates()) == []
    assert list(value.problems(ENGINE)) == []


def test_raw_mark_means_in_data_what_it_means_elsewhere() -> None:
    value = Val({"a": {"$raw": "{{ n }}"}, "b": "{{ n }}", "c": {"$raw": 1, "d": 2}}, is_data=True)
    assert value.render(ENGINE, SCOPE) == {"a": "{{ n }}", "b": "{{ n }}", "c": {"$raw": 1, "d": 2}}


def test_templates_and_their_problems_come_with_their_paths() -> None:
    value = Val(
        {"a": ["{{ n }}", {"b": "{{ n|uper }}"}], "c": {"$raw": "{{ x"}, "d": "{% if %}", "e": "plain"}
    )
    assert not value.is_constant
    assert list(value.templates()) == [
        (("a", 0), "{{ n }}"),
        (("a", 1, "b"), "{{ n|uper }}"),
        (("d",), "{% if %}"),
    ]
    problems = list(value.problems(ENGINE))
    assert [problem.path for problem in problems] == [("a", 1, "b"), ("d",)]
    assert str(problems[0]) == "a[1].b: unknown filter `uper`; did you mean `upper`?"


@given(value=plain_values)
def test_value_without_templates_is_constant_and_not_copied(value: Any) -> None:
    val = Val(value)
    assert val.is_constant
    assert val.render(ENGINE, SCOPE) is value
    assert val == Val(value)


def test_constant_parts_are_shared_and_others_made_anew() -> None:
    constant = {"x": [1]}
    val = Val({"c": constant, "t": ["{{ n }}"]})
    first, second = val.render(ENGINE, SCOPE), val.render(ENGINE, SCOPE)
    assert first == second == {"c": {"x": [1]}, "t": ["3"]}
    assert first["t"] is not second["t"]
    assert val.authored == {"c": {"x": [1]}, "t": ["{{ n }}"]}


def test_deep_value_is_data_or_an_error() -> None:
    deep: Any = "plain"
    for _ in range(100_000):
        deep = [deep]
    assert Val(deep).is_constant
    assert Val(deep, is_data=True).is_constant
    innermost = deep
    while isinstance(innermost[0], list):
        innermost = innermost[0]
    innermost[0] = "{{ n }}"
    with pytest.raises(TemplateError, match=f"more than {MAX_DEPTH} levels"):
        Val(deep)
    while isinstance(deep, list):
        deep = deep.pop()


def test_val_is_stored_as_it_was_written() -> None:
    value = Val({"a": "{{ n }}", "b": {"$raw": 1}})
    assert msgspec.json.decode(msgspec.json.encode({"v": value}, enc_hook=authored)) == {"v": value.authored}
    with pytest.raises(TypeError, match="cannot encode object"):
        authored(object())
    assert repr(value) == "Val({'a': '{{ n }}', 'b': {'$raw': 1}})"
    assert value != "x"
    assert is_raw({"$raw": 1})
    assert not is_raw({"$raw": 1, "x": 1})
