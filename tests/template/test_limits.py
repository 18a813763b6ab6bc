"""No template can hang, take the memory, or end the process."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from evenhand.errors import TemplateError
from evenhand.template import Engine, Scope

SCOPE = Scope({"s": "x", "l": [1, 2], "n": 10**12, "long": "y" * 10_000, "many": ["z"] * 20_000})

NAMESPACE = "{% set ns = namespace(s='aaaa', n=0) %}"

BOMBS = {
    "repeated text": "{{ 'a' * 10**9 }}",
    "repeated text, folded by the compiler": "{{ 'a' * 10**18 }}",
    "repeated text in brackets": "{{ 'a' * ('b' * 10**18) }}",
    "repeated by data": "{{ s * n }}",
    "repeated list": "{{ (l * n)|length }}",
    "repeated list in a loop": "{% for x in l * 10**12 %}{% endfor %}",
    "range": "{{ range(10**9) }}",
    "ranges inside each other": "{% for i in range(90000) %}{% for j in range(90000) %}{% endfor %}{% endfor %}",
    "doubled text": NAMESPACE + "{% for i in range(60) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
    "doubled text without a loop": "{% set a = 'aaaa' %}" + "{% set a = a ~ a %}" * 60,
    "doubled text with `with`": "{% with a = 'aaaa' %}" + "{% with a = a ~ a %}" * 60 + "{% endwith %}" * 61,
    "doubled text by capture": "{% set a %}xxxx{% endset %}" + "{% set a %}{{ a }}{{ a }}{% endset %}" * 40,
    "doubled text by a macro": "{% macro m(a) %}{{ m(a ~ a) }}{% endmacro %}{{ m('aaaa') }}",
    "doubled text by a recursive loop": "{% for x in ['a'] recursive %}{{ loop([x ~ x]) }}{% endfor %}",
    "doubled list": "{% set a = ['x'] %}" + "{% set a = [a, a] %}" * 60 + "{{ a }}",
    "doubled list by a macro": "{% macro m(a, n) %}{{ m([a, a], n - 1) if n else a }}{% endmacro %}{{ m(['x'], 60) }}",
    "nested list": "{% set ns = namespace(l=[]) %}{% for i in range(9999) %}{% set ns.l = [ns.l] %}{% endfor %}",
    "multiplied by replacements": "{{ s|replace('', 'aaaaaaaaaa')"
    + "|replace('a', 'aaaaaaaaaa')" * 30
    + " }}",
    "multiplied by escapes": "{{ '\\\\'" + "|tojson" * 60 + " }}",
    "wide indent": "{{ s|indent(10**18) }}",
    "wide indent of a block": "{% filter indent(n) %}x{% endfilter %}",
    "wide JSON": "{{ l|tojson(indent=10**18) }}",
    "wide JSON from data": "{{ l|tojson(n) }}",
    "wide field": "{{ '%1000000000000d'|format(1) }}",
    "precise field": "{{ '%.999999999999f'|format(1.5) }}",
    "large batch": "{{ l|batch(10**11) }}",
    "large slice": "{{ l|slice(n) }}",
    "long separator": "{{ many|join(s * 100000) }}",
    "filter by name": "{{ l|map('batch', n)|list }}",
    "filter by a name from data": "{{ l|map(s, n)|list }}",
    "printed text": "{% for i in range(90000) %}{% for j in l %}{{ long }}{% endfor %}{% endfor %}",
    "printed text in a plain loop": "{% for i in many %}{{ long }}{% endfor %}",
    "printed constant": "{% for i in range(90000) %}" + "x" * 2_000 + "{% endfor %}",
    "endless macro": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "endless loop": "{% for a in [1] recursive %}{{ loop([1]) }}{% endfor %}",
    "endless block": "{% block a %}{{ self.a() }}{% endblock %}",
    "namespace in itself": "{% set ns = namespace() %}{% set ns.me = ns %}{{ ns }}",
    "namespace in a list in itself": "{% set ns = namespace() %}{% set ns.me = [ns] %}{{ ns.me }}",
    "namespace behind a name": "{% for ns in [namespace()] %}{% set ns.me = ns %}{{ ns }}{% endfor %}",
    "many steps": "{% for i in range(99999) %}{% if " + "i is odd and " * 9 + "i %}{% endif %}{% endfor %}",
}

DEEP = {
    "sum": "{{ " + "1+" * 20_000 + "1 }}",
    "concatenation": "{{ " + "s~" * 20_000 + "s }}",
    "attributes": "{{ s" + ".a" * 20_000 + " }}",
    "subscripts": "{{ s" + "[0]" * 20_000 + " }}",
    "filters": "{{ s" + "|upper" * 20_000 + " }}",
    "tests": "{{ 1 " + "is defined " * 20_000 + " }}",
    "negations": "{{ " + "not " * 20_000 + "1 }}",
    "signs": "{{ " + "-" * 20_000 + "1 }}",
    "brackets": "{{ " + "(" * 2_000 + "1" + ")" * 2_000 + " }}",
    "lists": "{{ " + "[" * 20_000 + "]" * 20_000 + " }}",
    "choices": "{{ " + "1 if 0 else " * 20_000 + "1 }}",
    "conjunctions": "{{ " + "1 and " * 20_000 + "1 }}",
    "calls": "{{ s" + "()" * 20_000 + " }}",
    "branches": "{% if 0 %}" + "{% elif 0 %}" * 20_000 + "{% endif %}",
    "loops": "{% for i in l %}" * 20_000 + "{% endfor %}" * 20_000,
    "mixed": "{{ " + "(1 or 1 and 1 == 1 + 1 ~ 1 * 1 ** " * 2_000 + "1" + ")" * 2_000 + " }}",
}


@pytest.mark.parametrize("source", BOMBS.values(), ids=BOMBS.keys())
def test_bomb_ends_as_an_error(source: str) -> None:
    with pytest.raises(TemplateError) as caught:
        Engine().render(source, SCOPE)
    assert not caught.value.depends_on_data


@pytest.mark.parametrize("source", DEEP.values(), ids=DEEP.keys())
def test_deep_source_ends_as_an_error(source: str) -> None:
    engine = Engine()
    assert engine.check_template(source) is not None
    with pytest.raises(TemplateError) as caught:
        engine.render(source, SCOPE)
    assert not caught.value.depends_on_data


def test_source_of_too_many_tags_is_refused_at_once() -> None:
    problem = Engine().check_template("{{ s }}" * 100_000)
    assert problem is not None
    assert "more than 50,000 names and marks" in problem.message


def test_deepest_sources_that_are_allowed_render_on_a_small_stack() -> None:
    sources = [
        "{{ " + "1+" * 390 + "1 }}",
        "{{ " + "not " * 390 + "1 }}",
        "{{ " + "(" * 70 + "1" + ")" * 70 + " }}",
        "{% if 0 %}" + "{% elif 0 %}" * 140 + "{% endif %}",
        "{% if 1 %}" * 60 + "x" + "{% endif %}" * 60,
    ]
    rendered: list[str] = []

    def render_all() -> None:
        engine = Engine()
        rendered.extend(engine.render(source, SCOPE) for source in sources)

    before = threading.stack_size(512 * 1024)
    try:
        thread = threading.Thread(target=render_all)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert rendered == ["391", "true", "1", "", "x"]


def test_work_without_steps_is_cut_off_by_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenhand.template.faults.MAX_SECONDS", 0.05)
    slow = "{% set ns = namespace(l=[1]) %}{% for i in range(90000) %}{% set ns.l = ns.l[0:] %}{% endfor %}"
    with pytest.raises(TemplateError, match="takes longer than"):
        Engine().render(slow, SCOPE)


DEEP_USES = ("{{ d }}", "{{ e|tojson }}", "{{ d|list }}", "{{ [d, e] }}", "{{ d == e }}", "{{ [d]|tojson }}")


def nested(depth: int) -> list[Any]:
    data: list[Any] = ["end"]
    for _ in range(depth):
        data = [data]
    return data


@pytest.mark.parametrize("source", DEEP_USES)
def test_nested_data_is_used_whole_or_refused(source: str) -> None:
    engine = Engine()
    shallow = nested(90)
    assert engine.render(source, Scope({"d": shallow, "e": [shallow]}))
    deep = nested(100_000)
    scope = Scope({"d": deep, "e": [deep], "x": 1})
    assert engine.render("{{ x }}{{ d|length }}", scope) == "11"
    assert engine.test("d[0] is defined", scope)
    with pytest.raises(TemplateError) as caught:
        engine.render(source, scope)
    assert caught.value.depends_on_data
    while isinstance(deep, list):
        deep = deep.pop()


def test_large_but_honest_templates_render() -> None:
    engine = Engine()
    rows = [{"q": f"question {number}", "a": f"answer {number}"} for number in range(2_000)]
    text = engine.render("{% for row in rows %}{{ row.q }}: {{ row.a }}\n{% endfor %}", Scope({"rows": rows}))
    assert len(text.splitlines()) == 2_000
    counted = NAMESPACE + "{% for row in rows %}{% set ns.n = ns.n + row.q|length %}{% endfor %}{{ ns.n }}"
    assert engine.render(counted, Scope({"rows": rows})) == str(sum(len(row["q"]) for row in rows))
    assert len(engine.render("{{ text }}" * 3, Scope({"text": "é" * 5_000_000}))) == 15_000_000
