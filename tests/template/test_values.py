"""Values as templates see them."""

from __future__ import annotations

import contextlib
import copy
from collections import OrderedDict
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evenhand.errors import TemplateError
from evenhand.template import Engine, Scope
from evenhand.template.display import debug_text, display_text
from evenhand.template.faults import Meter
from evenhand.template.values import plain, wrap

ENGINE = Engine()

numbers = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
# What is printable is settled by the Unicode version, and Python's may be older than the engine's.
texts = st.text(st.characters(exclude_categories=("Cs", "Cn")), max_size=8)
scalars = st.none() | st.booleans() | numbers | texts
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("name", [name for name in dir(dict) if not name.startswith("_")])
def test_missing_key_is_undefined_and_never_a_method(name: str) -> None:
    scope = Scope({"vars": {"a": 1}, "deep": {"m": {}}})
    assert not ENGINE.test(f"vars.{name} is defined", scope)
    assert not ENGINE.test(f"vars['{name}'] is defined", scope)
    assert not ENGINE.test(f"'{name}' in vars", scope)
    assert not ENGINE.test(f"deep.m.{name} is defined", scope)
    assert not ENGINE.test(f"{name} is defined", scope)
    assert ENGINE.render(f"{{{{ {name}|default('d') }}}}", scope) == "d"
    for source in (
        f"{{{{ vars.{name} }}}}",
        f"{{{{ {name} }}}}",
        f"{{{{ vars.{name}() }}}}",
        f"{{{{ {name}() }}}}",
    ):
        with pytest.raises(TemplateError):
            ENGINE.render(source, scope)


@pytest.mark.parametrize("name", [name for name in dir(dict) if not name.startswith("_")])
def test_variable_or_key_may_be_called_like_a_method(name: str) -> None:
    scope = Scope({name: {name: "v"}})
    assert ENGINE.render(f"{{{{ {name}.{name} }}}} {{{{ {name}['{name}'] }}}}", scope) == "v v"
    assert ENGINE.evaluate(f"{name}.{name}", scope) == "v"
    assert ENGINE.render(f"{{% for {name} in ['x'] %}}{{{{ {name} }}}}{{% endfor %}}", scope) == "x"
    assert ENGINE.render(f"{{{{ dict({name}=1)|length }}}}", scope) == "1"


@pytest.mark.parametrize(
    "name", ["append", "count", "index", "__class__", "_wrapped", "__wrapped__", "_meter", "copy"]
)
def test_list_has_no_methods_or_inner_parts(name: str) -> None:
    scope = Scope({"l": [1], "m": {"a": 1}, "big": 2**70})
    for owner in ("l", "m", "big"):
        assert not ENGINE.test(f"{owner}.{name} is defined", scope)


@pytest.mark.parametrize(
    "source",
    [
        "{{ vars.update({'a': 2}) }}",
        "{{ vars.l.append(1) }}",
        "{% do vars.clear() %}",
        "{% set vars.a = 2 %}",
        "{% set vars.m.x = 2 %}",
        "{{ update(a=2) }}",
        "{{ vars.pop('a') }}",
        "{{ vars.m|items|list }}{% set vars = 1 %}{% for vars in [1] %}{% endfor %}",
    ],
)
def test_no_template_changes_its_scope(source: str) -> None:
    names: dict[str, Any] = {"vars": {"a": 1, "l": [1], "m": {"x": 1}}, "a": [1]}
    before = copy.deepcopy(names)
    scope = Scope(names)
    with contextlib.suppress(TemplateError):
        ENGINE.render(source, scope)
    assert names == before
    assert ENGINE.evaluate("vars", scope) == before["vars"]
    assert ENGINE.render("{{ vars.a }}{{ a }}", scope) == "1[1]"


def test_mappings_are_iterated_and_printed_in_key_order() -> None:
    scope = Scope({"m": {"b": 1, "a": None, "C": {"z": 1, "y": True}}})
    assert ENGINE.render("{{ m }}", scope) == '{"C": {"y": true, "z": 1}, "a": none, "b": 1}'
    assert ENGINE.render("{% for k in m %}{{ k }}{% endfor %}", scope) == "Cab"
    assert ENGINE.render("{{ m|tojson }}", scope) == '{"C":{"y":true,"z":1},"a":null,"b":1}'


@settings(max_examples=200)
@given(value=values)
def test_value_is_printed_as_the_engine_prints_its_own(value: Any) -> None:
    scope = Scope({"v": value, "w": [value]})
    assert ENGINE.render("{{ v }}", scope) == display_text(value)
    assert ENGINE.render("{{ [v] }}", scope) == ENGINE.render("{{ w }}", scope) == debug_text([value])
    if isinstance(value, (str, int, float, type(None))):
        assert ENGINE.render("{{ [v, v] }}", scope) == f"[{debug_text(value)}, {debug_text(value)}]"


@settings(max_examples=200)
@given(value=values)
def test_value_comes_back_as_it_was(value: Any) -> None:
    scope = Scope({"v": value})
    assert ENGINE.evaluate("v", scope) == value
    assert ENGINE.evaluate("[v][0]", scope) == value
    assert plain(wrap(value, Meter())) == value


def holds_boolean(value: Any) -> bool:
    """Whether a value is or holds true or false."""
    if isinstance(value, dict):
        return any(holds_boolean(item) for item in value.values())
    if isinstance(value, list):
        return any(holds_boolean(item) for item in value)
    return isinstance(value, bool)


@settings(max_examples=200)
@given(left=values.filter(lambda value: not holds_boolean(value)), right=values)
def test_comparison_agrees_with_the_engine_on_its_own_values(left: Any, right: Any) -> None:
    """Wrapped values are ordered as the engine orders lists that it built itself.

    Booleans are left out: the engine puts them before the numbers that they equal, wrapped ones count as those.
    """
    assume(not holds_boolean(right))
    scope = Scope({"a": [left], "b": [right], "x": left, "y": right})
    for operator in ("<", ">", "=="):
        ours = ENGINE.test(f"a {operator} b", scope)
        assert ours == ENGINE.test(f"[x] {operator} [y]", scope)


@given(number=st.integers(-(2**300), 2**300))
def test_integer_of_any_size_is_exact(number: int) -> None:
    scope = Scope({"n": number, "m": {"n": number}, "same": number, "next": number + 1})
    assert ENGINE.render("{{ n }} {{ m.n }} {{ m }}", scope) == f'{number} {number} {{"n": {number}}}'
    assert ENGINE.render("{{ m|tojson }} {{ [n]|tojson }} {{ {'a': n}|to_json }}", scope) == (
        f'{{"n":{number}}} [{number}] {{"a":{number}}}'
    )
    assert ENGINE.evaluate("n", scope) == ENGINE.evaluate("m.n", scope) == number
    assert ENGINE.evaluate("[n, m.n]", scope) == [number, number]
    assert ENGINE.test("n == same and m.n == n", scope)
    assert not ENGINE.test("n == next", scope)


def test_integer_of_thousands_of_digits_is_printed() -> None:
    number = 10**5_000 + 7
    assert ENGINE.render("{{ n }}", Scope({"n": number})) == "1" + "0" * 4_999 + "7"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1.0"),
        (-0.0, "-0.0"),
        (1e16, "10000000000000000.0"),
        (1e300, "1" + "0" * 300 + ".0"),
        (1e-7, "0.0000001"),
        (float("inf"), "inf"),
        (float("-inf"), "-inf"),
        (float("nan"), "NaN"),
    ],
)
def test_float_is_printed_without_exponent(value: float, text: str) -> None:
    assert ENGINE.render("{{ v }}", Scope({"v": value})) == text == display_text(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a\n\t\"'\\", '["a\\n\\t\\"\'\\\\"]'),
        ("é ß 漢 \U0001f600", '["é ß 漢 \U0001f600"]'),
        ("\x00\x1b\x7f", '["\\0\\u{1b}\\u{7f}"]'),
        ("e\u0301\u200b\ufeff", '["e\\u{301}\\u{200b}\\u{feff}"]'),
        (1e16, "[1e16]"),
        (1.5e-7, "[1.5e-7]"),
        (0.0001, "[0.0001]"),
    ],
)
def test_text_in_a_list_is_printed_with_escapes(value: Any, text: str) -> None:
    assert ENGINE.render("{{ v }}", Scope({"v": [value]})) == text == debug_text([value])
    assert ENGINE.render("{{ [v] }}", Scope({"v": value})) == text


@pytest.mark.parametrize("unusable", ["a\ud800", object(), {1, 2}, b"bytes"])
def test_value_that_no_template_can_hold_is_an_error_only_where_it_is_used(unusable: Any) -> None:
    scope = Scope({"bad": unusable, "good": "g", "deep": {"bad": unusable, "good": "g"}, "l": [unusable]})
    assert ENGINE.render("{{ good }}{{ deep.good }}{{ l|length }}", scope) == "gg1"
    for source in (
        "{{ bad }}",
        "{{ deep.bad }}",
        "{{ l[0] }}",
        "{{ bad == 'a' }}",
        "{% for x in l %}{{ x }}{% endfor %}",
    ):
        with pytest.raises(
            TemplateError, match=r"unpaired surrogate|is of type `\w+`, which is no JSON value"
        ):
            ENGINE.render(source, scope)
    assert ENGINE.render("{{ bad }}", scope.extended({"bad": "fine"})) == "fine"


def test_unpaired_surrogate_inside_a_printed_mapping_is_escaped_and_no_json() -> None:
    scope = Scope({"m": {"a": "\udfff"}})
    assert ENGINE.render("{{ m }}", scope) == '{"a": "\\u{dfff}"}'
    with pytest.raises(TemplateError, match="`tojson` cannot be written as JSON"):
        ENGINE.render("{{ m|tojson }}", scope)


def test_values_of_programs_are_taken_by_what_they_are() -> None:
    class Name(str):
        __slots__ = ()

    scope = Scope({"t": (1, (2,)), "o": OrderedDict(b=1, a=2), "s": Name("n"), "k": {1: "one", "a": 2}})
    assert ENGINE.render("{{ t }} {{ o }} {{ s }} {{ t[1][0] }}", scope) == '[1, [2]] {"a": 2, "b": 1} n 2'
    assert ENGINE.render("{{ k }} {{ k.a }}", scope) == '{1: "one", "a": 2} 2'


def test_later_names_win_in_an_extended_scope() -> None:
    scope = Scope({"a": 1, "b": "x"})
    further = scope.extended({"a": 2, "items": [3]})
    assert ENGINE.render("{{ a }}{{ b }}{{ items }}", further) == "2x[3]"
    assert ENGINE.render("{{ a }}{{ b }}", scope) == "1x"
