"""What sources mention, found without rendering."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.template import Engine, Scope, env_names, undefined_names
from evenhand.template.language import FILTERS, FUNCTIONS, TESTS
from evenhand.template.scan import mentions_of, names_in, unknown_names
from evenhand.template.statements import parse_template
from evenhand.template.tokens import Unreadable

TAGS = [
    "{{",
    "}}",
    "{%",
    "%}",
    "{#",
    "#}",
    "'",
    '"',
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "|",
    ".",
    ",",
    "~",
    "*",
    "**",
]
WORDS = [
    "a", "b.c", "if", "endif", "elif", "else", "for", "in", "endfor", "set", "endset", "macro", "endmacro", "m(a)",
    "is", "not", "and", "or", "defined", "default('x')", "filter", "upper", "endfilter", "raw", "endraw", "with",
    "endwith", "call", "endcall", "do", "1", "1.5", "0x1f", "-", "+", " ", "\n", "é", "text", "=", "==", "block",
    "endblock", "recursive", "tojson", "items", "loop", "include", "namespace()", "\\", ":", "%",
]  # fmt: skip

soups = st.lists(st.sampled_from(TAGS + WORDS + [" "]), max_size=30).map(" ".join) | st.lists(
    st.sampled_from(TAGS + WORDS), max_size=30
).map("".join)


def refusal_of(source: str) -> Unreadable | None:
    try:
        parse_template(source)
    except Unreadable as error:
        return error
    return None


@pytest.mark.parametrize(
    ("source", "missing"),
    [
        ("{{ a }} {{ b.c }} {{ a }}", ["a", "b"]),
        ("{{ known }} {{ range(3) }} {{ now() }} {{ true }} {{ none }}", []),
        ("{{ a|default('x') }} {{ a }}", []),
        ("{{ a.b|default('x') }}", ["a"]),
        ("{{ a is defined }} {{ a }}", []),
        ("{% if a is defined and a > 1 %}{{ a }}{% endif %}", []),
        ("{% if a.b is defined %}{% endif %}", ["a"]),
        ("{% if a %}{{ b }}{% endif %}", ["a"]),
        ("{% for x in a %}{{ x }}{{ loop.index }}{{ b }}{% endfor %}", ["a"]),
        ("{% for x in a if y %}{% else %}{{ b }}{% endfor %}{{ x }}", ["a", "x"]),
        ("{% set a = b %}{{ a }}", []),
        ("{% set a = b + 1 %}{{ a }}", ["b"]),
        ("{{ a }}{% set a = 1 %}", ["a"]),
        ("{% if known %}{% set a = 1 %}{% endif %}{{ a }}", []),
        ("{% set ns = namespace(v=a) %}{% set ns.v = 1 %}{{ ns.v }}", []),
        ("{% macro m(x) %}{{ x }}{{ y }}{% endmacro %}{{ m(a) }}{{ caller }}", ["caller"]),
        ("{% call(x) m(1) %}{{ x }}{% endcall %}", []),
        ("{% with a = b|upper %}{{ a }}{% endwith %}{{ a }}", ["b", "a"]),
        ("{% filter upper %}{{ a }}{% endfilter %}{% set t %}{{ b }}{% endset %}{{ t }}", ["a", "b"]),
        ("{{ a and b }} {{ c or d }} {{ e if f else g }}", ["a", "c", "f"]),
        ("{{ a ~ b }} {{ c[d] }} {{ e[f:g] }} {{ not h }} {{ -i }} {{ j in k }}", list("abcdefghijk")),
        ("{{ [a, {b: c}] }} {{ d|tojson }} {{ x|replace(e, 'x') }}", ["a", "b", "c", "d", "x", "e"]),
        ("{{ rand(a) }} {{ dict(x=b) }} {{ a is none }}", ["a"]),
        ("{# {{ a }} #}{% raw %}{{ b }}{% endraw %}{{ '{{ c }}' }}", []),
        ("{{ broken", []),
        ("{{ env.X }}", []),
    ],
)
def test_names_that_are_certainly_undefined_are_found(source: str, missing: list[str]) -> None:
    assert undefined_names(source, {"known", "env"}) == missing


def test_expression_has_names_as_well() -> None:
    assert undefined_names("output and vars.x == expcted", {"output", "vars"}, is_expression=True) == []
    assert undefined_names("vars.x == expcted", {"output", "vars"}, is_expression=True) == ["expcted"]
    assert env_names("env.A == env['B'] and env.C", is_expression=True) == {"A", "B", "C"}


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("{{ env.HOME }} {{ env['REGION'] }} {{ env[\"X\"].y }}", {"HOME", "REGION", "X"}),
        ("{% for x in env.LIST %}{{ x }}{% endfor %}", {"LIST"}),
        ("{{ envy.A }} {{ a.env.B }} {{ 'env.C' }} {# env.D #}{% raw %}{{ env.E }}{% endraw %}", set()),
        ("{{ env[name] }} {{ env }}", set()),
        ("{% set env = {} %}{{ env.A }}", set()),
        ("{{ env.A|default('x') }} {{ env.B is defined }} {{ f(env.C) }}", {"A", "B", "C"}),
        ("{{ env.A", set()),
    ],
)
def test_environment_variables_are_found_where_they_are_named(source: str, names: set[str]) -> None:
    assert env_names(source) == names


def test_names_come_with_their_attributes() -> None:
    source = "{{ a.b.c }}{{ a['d'] }}{{ e[0].f }}{{ x[1:n] }}{% for i in l %}{{ i.z }}{% endfor %}"
    assert names_in(source) == {"a.b.c", "a.d", "e", "x", "n", "l"}
    assert Engine().names_in(source) == names_in(source)
    assert Engine().names_in("{{ broken") == frozenset()


def test_every_name_of_the_language_exists_in_the_engine() -> None:
    engine, scope = Engine(), Scope({"x": [[1, 2]]})
    kinds = {"filter": FILTERS, "test": TESTS}
    for kind, names in kinds.items():
        for name in names:
            assert engine.test(f"'{name}' is {kind}", scope), name
    for name in FUNCTIONS:
        assert engine.test(f"{name} is defined", scope), name


@pytest.mark.parametrize(
    "name", ["pluralize", "filesizeformat", "striptags", "wordcount", "random", "center"]
)
def test_filter_outside_the_language_is_unknown(name: str) -> None:
    engine = Engine()
    assert not engine.test(f"'{name}' is filter", Scope({}))
    assert engine.check_template(f"{{{{ 1|{name} }}}}") is not None


@pytest.mark.parametrize("name", ["debug", "cycler", "joiner", "lipsum", "super"])
def test_function_outside_the_language_is_unknown(name: str) -> None:
    assert Engine().check_template(f"{{{{ {name}() }}}}") is not None


def test_unknown_names_are_found_at_their_places() -> None:
    found = list(
        unknown_names(mentions_of(parse_template("{{ a|upr }} {{ b is od }} {{ c() }} {{ d.zz() }}")))
    )
    assert [offset for offset, _ in found] == [5, 20, 29, 41]
    assert [problem.hint for _, problem in found] == [
        "did you mean `upper`?",
        "did you mean `odd`?",
        "",
        "use a filter",
    ]


@settings(max_examples=300)
@given(source=soups | st.text(max_size=60))
def test_scanning_never_raises(source: str) -> None:
    undefined_names(source, ())
    undefined_names(source, (), is_expression=True)
    env_names(source)
    names_in(source)
    refusal = refusal_of(source)
    assert refusal is None or (0 <= refusal.offset <= len(source) and refusal.message)


@settings(max_examples=300)
@given(source=soups)
def test_what_the_engine_can_read_can_be_scanned(source: str) -> None:
    import minijinja

    try:
        theirs = minijinja.Environment().undeclared_variables_in_str(source)
    except minijinja.TemplateError:
        return
    if (refusal := refusal_of(source)) is not None:
        assert "is not available" in refusal.message
        return
    ours = {name.partition(".")[0] for name in names_in(source)}
    functions = {use.name for use in mentions_of(parse_template(source)).functions}
    assert theirs <= ours | functions | {"self", "super", "loop", "caller"}
