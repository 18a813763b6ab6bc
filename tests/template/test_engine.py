"""Rendering, evaluating, testing and checking."""

from __future__ import annotations

from typing import Any

import pytest

from evenhand.errors import ErrorClass, TemplateError
from evenhand.template import Engine, Scope
from evenhand.template.engine import is_template, sole_expression

NAMES: dict[str, Any] = {
    "name": "Ada",
    "n": 3,
    "price": 1.0,
    "flag": True,
    "nothing": None,
    "items": ["a", "b"],
    "user": {"mail": "a@b.c", "age": 36, "tags": ["x"]},
    "env": {"REGION": "eu"},
}


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine()


@pytest.fixture(scope="module")
def scope() -> Scope:
    return Scope(NAMES)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("no braces", "no braces"),
        ("{{ name }}", "Ada"),
        ("{{name}}\n", "Ada\n"),
        ("{{ nothing }} {{ flag }} {{ price }} {{ n }}", "none true 1.0 3"),
        ("{{ items }} {{ user }}", '["a", "b"] {"age": 36, "mail": "a@b.c", "tags": ["x"]}'),
        ("{{ user.mail }} {{ user['age'] }} {{ items[0] }} {{ items.1 }}", "a@b.c 36 a b"),
        ("{{ env.REGION }}", "eu"),
        ("{% for key, value in user|items %}{{ key }};{% endfor %}", "age;mail;tags;"),
        ("{% if n > 2 and flag %}yes{% else %}no{% endif %}", "yes"),
        ("{{ missing|default('d') }} {{ missing is defined }}", "d false"),
        ("{{ {'b': 1, 'a': [none, true, 1.0]} }}", '{"b": 1, "a": [none, true, 1.0]}'),
        ("{{ 'ab' * 3 }} {{ [1] * 2 }} {{ 2 * 3 }} {{ 'x' * n }}", "ababab [1, 1] 6 xxx"),
        ("{{ [price, 2.5]|join(' ') }} {{ {'p': price}|tojson }}", '1.0 2.5 {"p":1.0}'),
        ("{{ price|replace('.', ',') }}", "1,0"),
        ("{% set total = n + 1 %}{{ total }}", "4"),
        ("{% macro hi(who) %}hi {{ who }}{% endmacro %}{{ hi('you') }}", "hi you"),
        ("{% filter upper %}a{{ name }}{% endfilter %}", "AADA"),
        ("{% set text %}x{{ n }}{% endset %}{{ text }}", "x3"),
        (
            "{% set ns = namespace(c=0) %}{% for i in items %}{% set ns.c = ns.c + 1 %}{% endfor %}{{ ns.c }}",
            "2",
        ),
        ("{# {{ missing }} #}{% raw %}{{ raw }}{% endraw %}", "{{ raw }}"),
        ("a {{- name -}} b", "aAdab"),
        ("{%- for i in items -%} {{ i }} {%- endfor -%}", "ab"),
        ("{{ '<b>' }}", "<b>"),
        (
            "{% autoescape true %}{{ '<' }}{{ user.tags|tojson }}{{ ['<']|tojson }}{% endautoescape %}",
            '&lt;["x"]["\\u003c"]',
        ),
        ("{% for i in [1, 1, 2] %}{{ loop.changed(i)|tojson }} {% endfor %}", "true false true "),
        ("{% for i in items %}{{ loop.cycle('x', 'y') * 2 }}{{ loop.index|tojson }}{% endfor %}", "xx1yy2"),
        ("{{ 10**20 }} {{ 2**70 }}", "100000000000000000000 1180591620717411303424"),
    ],
)
def test_template_renders(engine: Engine, scope: Scope, source: str, text: str) -> None:
    assert engine.render(source, scope) == text
    assert engine.check_template(source) is None


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("n", 3),
        ("price", 1.0),
        ("1.0", 1.0),
        ("n * price", 3.0),
        ("user", NAMES["user"]),
        ("user.tags", ["x"]),
        ("user.tags[0]", "x"),
        ("nothing", None),
        ("flag", True),
        ("[n, price, name]", [3, 1.0, "Ada"]),
        ("{'a': user.age, 'b': [none]}", {"a": 36, "b": [None]}),
        ("items|map('upper')|list", ["A", "B"]),
        ("'text'", "text"),
        ("'<&>'|upper", "<&>"),
        ("2**70", 2**70),
        ("-(2**70)", -(2**70)),
        ("1e30", 1e30),
        ("name == 'Ada'", True),
    ],
)
def test_expression_keeps_its_type(engine: Engine, scope: Scope, expression: str, value: Any) -> None:
    found = engine.evaluate(expression, scope)
    assert found == value
    assert type(found) is type(value)
    if isinstance(value, list):
        assert [type(item) for item in found] == [type(item) for item in value]


@pytest.mark.parametrize("expression", ["missing", "user.nope", "items[7]", "items|first|upper|attr('x')"])
def test_undefined_expression_is_an_error(engine: Engine, scope: Scope, expression: str) -> None:
    with pytest.raises(TemplateError) as caught:
        engine.evaluate(expression, scope)
    assert caught.value.depends_on_data
    assert caught.value.error_class is ErrorClass.RENDER_FAILED


@pytest.mark.parametrize("expression", ["1e999", "0.0 / 0.0"])
def test_number_that_is_not_finite_is_no_value(engine: Engine, scope: Scope, expression: str) -> None:
    with pytest.raises(TemplateError, match="finite"):
        engine.evaluate(expression, scope)


@pytest.mark.parametrize(
    ("expression", "verdict"),
    [
        ("n == 3", True),
        ("'' or 0", False),
        ("'0'", True),
        ("' '", True),
        ("[]", False),
        ("[0]", True),
        ("0.0", False),
        ("none", False),
        ("missing", False),
        ("user.nope", False),
        ("missing is defined", False),
        ("true or missing", True),
        ("user", True),
        ("{}", False),
        ("'a' in items", True),
        ("'mail' in user", True),
        ("'items' in user", False),
    ],
)
def test_expression_is_true_or_false(engine: Engine, scope: Scope, expression: str, verdict: bool) -> None:
    assert engine.test(expression, scope) is verdict
    assert engine.check_expression(expression) is None


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("{{ name", "this tag does not end"),
        ("{% if n %}", "expected `{% endif %}`"),
        ("{% foo %}", "'foo' is no statement"),
        ("{# x", "this comment does not end"),
        ("Explain what {% means", "this tag does not end"),
        ("{{ 'a }}", "this text does not end"),
        ("{{ a b }}", "expected `}}`, found 'b'"),
        ("{{ }}", "expected a value"),
        ("{{ name|uper }}", "unknown filter `uper`; did you mean `upper`?"),
        ("{% filter shout %}x{% endfilter %}", "unknown filter `shout`"),
        ("{% set x | nosuch %}{% endset %}", "unknown filter `nosuch`"),
        ("{{ items|map('upr') }}", "unknown filter `upr`; did you mean `upper`?"),
        ("{{ name is defnd }}", "unknown test `defnd`; did you mean `defined`?"),
        ("{{ items|select('ood') }}", "unknown test `ood`; did you mean `odd`?"),
        ("{{ rnge(3) }}", "unknown function `rnge`; did you mean `range`?"),
        ("{{ user.items() }}", "values have no method `items()` in templates; use the filter `|items`"),
        ("{% include 'x' %}", "`include` is not available"),
        ("{% extends name %}", "`extends` is not available"),
        ("{{ 'x'|regex_match('[') }}", "the pattern is no regular expression"),
        ("a\nb {{ name|uper }}", "line 2: unknown filter `uper`"),
        ("{{ 1 }}\n{{ '\\u12' }}", "line 2: a text holds a bad escape"),
        ("{{ __evenhand_keep(1) }}", "names that begin with `__evenhand_` are taken"),
        ("{% set __evenhand_step = 1 %}", "names that begin with `__evenhand_` are taken"),
        ("{% set loop = 1 %}", "reserved"),
        ("{{ f(a=1, 2) }}", "non-keyword arg after keyword arg"),
    ],
)
def test_broken_template_is_found_without_data(engine: Engine, source: str, message: str) -> None:
    problem = engine.check_template(source)
    assert problem is not None
    assert message in str(problem)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("", "the expression is empty"),
        ("  ", "the expression is empty"),
        ("output ==", "expected a value"),
        ("a, b", "nothing more after the expression"),
        ("a) + (b", "`)` closes nothing"),
        ("a }} b", "`}` closes nothing"),
        ("a }}{{ b", "`}` closes nothing"),
        ("{{ a }}", "expected"),
        ("output|nosuch", "unknown filter `nosuch`"),
        ("output.strip() == 'x'", "values have no method `strip()`"),
    ],
)
def test_broken_expression_is_found_without_data(engine: Engine, expression: str, message: str) -> None:
    problem = engine.check_expression(expression)
    assert problem is not None
    assert message in str(problem)
    with pytest.raises(TemplateError) as caught:
        engine.test(expression, Scope({"a": 1, "b": 1, "output": "x"}))
    assert not caught.value.depends_on_data


def test_text_is_a_template_only_with_an_opening_mark() -> None:
    assert is_template("{{ a }}")
    assert is_template("{% raw")
    assert is_template("{#")
    assert not is_template("{ a } } }} %}")


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("{{ a.b }}", "a.b"),
        ("{{- n + 1 -}}", "n + 1"),
        ("{{ '}}' ~ a }}", "'}}' ~ a"),
        ("{{ a }}{{ b }}", None),
        ("{{ a }} x }}", None),
        (" {{ a }}", None),
        ("{{ a", None),
        ("{% if a %}{% endif %}", None),
    ],
)
def test_text_that_is_exactly_one_expression_is_recognised(text: str, expression: str | None) -> None:
    assert sole_expression(text) == expression


def test_engine_forgets_templates_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenhand.template.engine.MAX_TEMPLATES", 3)
    engine, scope = Engine(), Scope({"a": 1})
    for number in range(10):
        assert engine.render(f"{{{{ a }}}}{number}", scope) == f"1{number}"
        assert engine.test(f"a < {number + 2}", scope)
        assert engine.render("{% for i in [1, 2] %}{{ i * a }}{% endfor %}", scope) == "12"


def test_engine_works_on_after_the_rust_side_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenhand.template.bounded.MAX_ITEMS", 10**30)
    engine, scope = Engine(), Scope({"l": [1]})
    with pytest.raises(TemplateError, match="makes the engine fail") as caught:
        engine.render("{{ l|batch(1000000000000000000) }}", scope)
    assert not caught.value.depends_on_data
    assert engine.render("{{ l }}", scope) == "[1]"


def test_error_of_one_rendering_never_shows_up_in_another() -> None:
    engine = Engine()
    for source in ("{{ a|from_json }}", "{{ a|upper|nosuch }}", "{{ b }}", "{{ a.b() }}"):
        with pytest.raises(TemplateError) as first:
            engine.render(source, Scope({"a": "x"}))
        with pytest.raises(TemplateError) as second:
            engine.render("{{ other }}", Scope({"a": "x"}))
        assert second.value.message == "undefined variable `other`"
        assert first.value.message != second.value.message
