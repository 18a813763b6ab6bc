"""The filters and functions that evenhand adds."""

from __future__ import annotations

import base64
import hashlib
import json
import uuid
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import TemplateError
from evenhand.template import Engine, Scope

ENGINE = Engine()
texts = st.text(max_size=30)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**80), 2**80) | st.floats(-1e9, 1e9) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


def render(source: str, **names: Any) -> str:
    return ENGINE.render(source, Scope(names))


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{{ {'a': [1, none]}|json_encode }}", '{"a":[1,null]}'),
        ("{{ '<&>'|to_json }} {{ '<&>'|tojson }}", '"<&>" "\\u003c\\u0026\\u003e"'),
        ("{{ '\\\\u003c'|to_json }}", '"\\\\u003c"'),
        ("{{ ('{\"a\": [7]}'|from_json).a[0] + 1 }}", "8"),
        ("{{ ('[1.0, 18446744073709551616]'|json_decode) }}", "[1.0, 18446744073709551616]"),
        ("{{ 'héllo'|b64encode }} {{ 'aMOpbGxv'|b64decode }}", "aMOpbGxv héllo"),
        ("{{ 1.0|sha256 }}", hashlib.sha256(b"1.0").hexdigest()),
        ("{{ ''|blake3 }}", "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"),
        ("{{ 'a1b22'|regex_replace('[0-9]+', '<$0>') }}", "a<1>b<22>"),
        ("{{ 'John Smith'|regex_replace('(\\\\w+) (\\\\w+)', '$2 $1') }}", "Smith John"),
        ("{{ 'abc'|regex_match('B') }} {{ 'abc'|regex_match('(?i)B') }}", "false true"),
        ("{{ ' Été, 2 x 3! '|slugify }}", "t-2-x-3"),
        ("{{ 'héllo'|truncate(2) }}{{ 'a'|truncate(5) }}{{ 'a'|truncate(0) }}", "héa"),
        ("{{ 12345|truncate(2) }}", "12"),
        ("{{ 'a-b'|replace('-', '+') }}{{ 'ab'|replace('', '.') }}", "a+b.a.b."),
        ("{{ 'a\\nb\\n\\nc'|indent }}", "a\n    b\n\n    c"),
        ("{{ 'a\\nb'|indent(2, true) }}|{{ 'a\\n\\nb\\n'|indent(width=1, blank=true) }}", "  a\n  b|a\n \n b"),
        ("{{ '%05.1f|%-4d|%s|%x|%%'|format(1.25, 7, none, 255) }}", "001.2|7   |none|ff|%"),
        ("{{ '%(a)s-%(b)03d'|format({'a': 'x', 'b': 5}) }}{{ '%c%5s%.2s'|format('é', 'ab', 'xyz') }}", "x-005é   abxy"),
        ("{{ '%g %e %s %s'|format(0.5, 12345.678, 0.5, true) }}", "0.5 1.234568e+04 0.5 true"),
        ("{{ [1, 2, 3]|batch(2, 'x')|list }} {{ [1, 2, 3]|slice(2)|list }}", '[[1, 2], [3, "x"]] [[1, 2], [3]]'),
        ("{{ {'b': 1, 'a': {}}|tojson(indent=2) }}", '{\n  "b": 1,\n  "a": {}\n}'),
        ("{{ m|tojson(true) }} {{ m|tojson(indent=0) }}", '{\n  "a": [\n    1\n  ]\n} {\n"a": [\n1\n]\n}'),
    ],
)  # fmt: skip
def test_filter_gives(source: str, text: str) -> None:
    assert render(source, m={"a": [1]}) == text


@pytest.mark.parametrize(
    "source",
    [
        "{{ 'x'|from_json }}",
        "{{ '[NaN]'|from_json }}",
        "{{ 'a b'|b64decode }}",
        "{{ '/w=='|b64decode }}",
        "{{ 'x'|regex_replace('[', 'y') }}",
        "{{ 'x'|truncate(-1) }}",
        "{{ 'x'|truncate('2') }}",
        "{{ 'x'|truncate(1.5) }}",
        "{{ 'x'|truncate }}",
        "{{ missing|sha256 }}",
        "{{ 'x'|replace('x') }}",
        "{{ 'x'|indent(first=1, nope=2) }}",
        "{{ '%d'|format('x') }}",
        "{{ '%d'|format(1.5) }}",
        "{{ '%s %s'|format(1) }}",
        "{{ '%q'|format(1) }}",
        "{{ '%'|format(1) }}",
        "{{ '%(a)s'|format(1) }}",
        "{{ [1]|batch(0) }}",
        "{{ rand() }}",
        "{{ rand(missing) }}",
        "{{ uuid(none) }}",
        "{{ randint(10, 1, 5) }}",
        "{{ randint(1.5, 2, 5) }}",
        "{{ randint(1, 2) }}",
        "{{ [1]|tojson(indent=-1) }}",
        "{{ now(5) }}",
    ],
)
def test_misused_filter_or_function_is_an_error(source: str) -> None:
    with pytest.raises(TemplateError):
        render(source)


@given(text=texts)
def test_base64_goes_there_and_back(text: str) -> None:
    assert render("{{ t|b64encode }}", t=text) == base64.b64encode(text.encode()).decode()
    assert render("{{ t|b64encode|b64decode }}", t=text) == text


@given(text=texts)
def test_checksums_are_those_of_the_bytes(text: str) -> None:
    assert render("{{ t|sha256 }}", t=text) == hashlib.sha256(text.encode()).hexdigest()
    assert render("{{ t|md5 }}", t=text) == hashlib.md5(text.encode()).hexdigest()


@settings(max_examples=200)
@given(value=json_values)
def test_json_goes_there_and_back(value: Any) -> None:
    for name in ("tojson", "to_json", "json_encode"):
        assert json.loads(render(f"{{{{ v|{name} }}}}", v=value)) == value
        assert json.loads(render(f"{{{{ [v]|{name} }}}}", v=value)) == [value]
    assert ENGINE.evaluate("v|to_json|from_json", Scope({"v": value})) == value


@given(
    seed=json_values.filter(lambda value: value is not None),
    low=st.integers(-99, 99),
    span=st.integers(0, 99),
)
def test_seeded_functions_depend_on_the_seed_alone(seed: Any, low: int, span: int) -> None:
    source = "{{ uuid(s) }} {{ rand(s) }} {{ randint(low, high, s) }}"
    first = render(source, s=seed, low=low, high=low + span)
    assert first == Engine().render(source, Scope({"s": seed, "low": low, "high": low + span}))
    identifier, fraction, number = first.split()
    assert uuid.UUID(identifier).version == 4
    assert 0 <= float(fraction) < 1
    assert low <= int(number) <= low + span


def test_random_integers_reach_both_ends() -> None:
    assert {render("{{ randint(1, 3, s) }}", s=seed) for seed in range(60)} == {"1", "2", "3"}
