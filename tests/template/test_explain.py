"""What errors say, and what they never say."""

from __future__ import annotations

from typing import Any

import pytest

from evenhand.errors import TemplateError
from evenhand.template import Engine, Scope

SECRET = "s3cr3t-value"
NAMES: dict[str, Any] = {
    "name": SECRET,
    "number": 41_424_344,
    "zero": 0,
    "items": [SECRET],
    "user": {"mail": SECRET, "nothing": None, "age": 7},
    "env": {"REGION": SECRET},
}

# source, message, line, whether other data could help
TABLE = [
    ("{{ nmae }}", "undefined variable `nmae`; did you mean `name`?", 1, True),
    ("a\n\n{{ nmae }}", "undefined variable `nmae`; did you mean `name`?", 3, True),
    ("ü{{ user.mial }}", "undefined: `user` has no key `mial`; did you mean `mail`?", 1, True),
    ("{{ user.a.b }}", "undefined: `user` has no key `a`", 1, True),
    ("{{ user.nothing.x }}", "undefined: `user.nothing` is none, which has no `x`", 1, True),
    ("{{ user.age.x }}", "undefined: `user.age` is a number, which has no `x`", 1, True),
    ("{{ name.x }}", "undefined: `name` is a text, which has no `x`", 1, True),
    ("{{ items[3] }}", "undefined: `items` has no item 3", 1, True),
    ("{{ items.first }}", "undefined: `items` has no key `first`, it is a list", 1, True),
    ("{{ env.REGON }}", "undefined: `env` has no key `REGON`; did you mean `REGION`?", 1, True),
    ("{{ nmae|upper }}", "undefined variable `nmae`; did you mean `name`?", 1, True),
    ("{{ nmae|tojson }}", "undefined variable `nmae`; did you mean `name`?", 1, True),
    ("{{ nmae|join }}", "undefined variable `nmae`; did you mean `name`?", 1, True),
    ("{{ [nmae] }}", "undefined variable `nmae`; did you mean `name`?", 1, True),
    ("{{ {'a': user.x} }}", "undefined: `user` has no key `x`", 1, True),
    ("{{ name|replace(nmae, 'x') }}", "undefined variable `nmae`; did you mean `name`?", 1, True),
    ("{{ items|join(nmae) }}", "undefined variable `nmae`; did you mean `name`?", 1, True),
    ("{{ nmae + 1 }}", "undefined variable `nmae`; did you mean `name`?", 1, True),
    ("{{ 'a' * nmae }}", "undefined variable `nmae`; did you mean `name`?", 1, True),
    ("{{ range(nmae) }}", "undefined variable `nmae`; did you mean `name`?", 1, True),
    ("{{ 1 if nmae == 2 }}", "undefined variable `nmae`; did you mean `name`?", 1, True),
    ("{{ 'a' in nmae }}", "undefined variable `nmae`; did you mean `name`?", 1, True),
    ("{% for x in nmae %}{% endfor %}", "undefined variable `nmae`; did you mean `name`?", 1, True),
    ("{% if nmae %}{% endif %}", "undefined variable `nmae`; did you mean `name`?", 1, True),
    ("{% for x in items %}{{ x.y }}{% endfor %}", "undefined value in `x.y`", 1, True),
    ("{{ keys }}", "undefined variable `keys`", 1, True),
    ("{{ user.items }}", "undefined: `user` has no key `items`", 1, True),
    ("{{ nmae.x|default('d') }}", "undefined variable `nmae`; did you mean `name`?", 1, True),
    ("{{ number + name }}", "tried to use + operator on unsupported types number and string in ", 1, True),
    ("{{ number % zero }}", "this is not possible with these values in `number % zero`", 1, True),
    ("{{ 5 % 0 }}", "this is not possible with these values in `5 % 0`", 1, False),
    ("{{ -name }}", "this is not possible with these values in `-name`", 1, True),
    ("{{ name|int }}", "invalid float literal in `name|int`", 1, True),
    ("{{ name|from_json }}", "`from_json` needs a JSON text, found something else", 1, True),
    ("{{ '{'|from_json }}", "`from_json` needs a JSON text, found something else", 1, False),
    ("{{ name|regex_match(name ~ '(') }}", "`regex_match` needs a valid regular expression as pattern", 1, True),
    ("{{ name|regex_match('(') }}", "`regex_match` needs a valid regular expression as pattern", 1, False),
    ("{{ name|truncate }}", "`truncate` takes other arguments: (value, length)", 1, False),
    ("{{ name|upper(1) }}", "too many arguments in `name|upper(1)`", 1, False),
    ("{{ name.upper() }}", "values have no method `upper()` in templates; use the filter `|upper`", 1, False),
    ("{{ user.mial() }}", "values have no method `mial()` in templates", 1, False),
    ("{% set x = 1 %}{{ x.foo() }}", "values have no method `foo()` in templates; use a filter", 1, False),
    ("{{ rand() }}", "`rand` takes other arguments: (seed)", 1, False),
    ("{{ randint(number, 1, 5) }}", "`randint` needs a lower bound that is not above the upper one", 1, True),
    ("{% for a, b in items %}{% endfor %}", "value is not iterable", 1, True),
]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "message", "line", "depends_on_data"), TABLE, ids=lambda value: str(value)[:40]
)
def test_error_says_what_is_wrong_and_where(
    source: str, message: str, line: int, depends_on_data: bool
) -> None:
    with pytest.raises(TemplateError) as caught:
        Engine().render(source, Scope(NAMES))
    assert caught.value.message.startswith(message)
    assert caught.value.line == line
    assert caught.value.depends_on_data is depends_on_data


@pytest.mark.parametrize("source", [row[0] for row in TABLE])
def test_error_never_holds_values(source: str) -> None:
    with pytest.raises(TemplateError) as caught:
        Engine().render(source, Scope(NAMES))
    told = f"{caught.value!r} {caught.value} {caught.value.details} {caught.value.__cause__}"
    assert SECRET not in told
    assert "41424344" not in told
    assert caught.value.__suppress_context__


def test_message_quotes_no_more_than_a_line_of_the_template() -> None:
    source = "{{ " + " ~\n".join(["'" + "x" * 50 + "'"] * 9) + " ~ -name }}"
    with pytest.raises(TemplateError) as caught:
        Engine().render("{{ (" + source[3:-3] + ")|int }}", Scope(NAMES))
    assert len(caught.value.message) < 200
    assert "\n" not in caught.value.message


def test_expression_errors_are_explained_in_its_own_words() -> None:
    with pytest.raises(TemplateError, match=r"undefined: `user` has no key `mial`; did you mean `mail`\?"):
        Engine().test("user.mial == 'x'", Scope(NAMES))
