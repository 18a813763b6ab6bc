"""What holds for every template and all data."""

from __future__ import annotations

import contextlib
import copy
from typing import Any

import minijinja
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import TemplateError
from evenhand.template import Engine, Scope
from evenhand.template.faults import Meter
from evenhand.template.source import Source
from evenhand.template.tokens import Unreadable
from evenhand.template.values import wrap

ENGINE = Engine()
CONTEXT: dict[str, Any] = {"a": 3, "b": 1.5, "l": [3, 1, 2], "m": {"k": "v", "x": [1, 2]}, "s": "abc<'é"}
RAW_CONTEXT = {name: wrap(value, Meter()) for name, value in CONTEXT.items()}

hostile_texts = st.lists(
    st.sampled_from(
        ["{{", "}}", "{%", "%}", "{#", "#}", "{{ a }}", "{% raw %}", "{% endraw %}", "x", "'", "\n", "\\"]
    )
    | st.text(max_size=4),
    max_size=8,
).map("".join)

names = st.sampled_from(["a", "b", "l", "m", "s", "m.k", "m.x", "l[0]", "nope", "m.nope"])
literals = st.sampled_from(["0", "2", "1.5", "'q'", '"x y"', "true", "none", "[]", "{}", "'}}'", "'%}'"])
filters = st.sampled_from(
    ["upper", "length", "default('d')", "tojson", "join('-')", "first", "last", "list", "sort", "reverse", "int",
     "string", "trim", "replace('a', 'bb')", "indent(2)", "batch(2)", "unique", "round", "sum", "map('string')"]
)  # fmt: skip
tests = st.sampled_from(["defined", "none", "odd", "number", "string", "in l", "divisibleby 3", "mapping"])
operators = st.sampled_from(
    ["+", "-", "*", "/", "//", "%", "~", "==", "!=", "<", "in", "not in", "and", "or"]
)


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, operators, inner).map(lambda parts: f"({' '.join(parts)})"),
        st.tuples(inner, filters).map("|".join),
        st.tuples(inner, tests).map(" is ".join),
        st.tuples(inner, inner, inner).map(lambda parts: f"({parts[0]} if {parts[1]} else {parts[2]})"),
        st.tuples(inner, inner).map(lambda parts: f"[{', '.join(parts)}]"),
        inner.map(lambda part: f"{{'z': {part}}}"),
        st.tuples(inner, inner).map(lambda parts: f"({parts[0]})[{parts[1]}]"),
        inner.map(lambda part: f"not {part}"),
    )


expressions = st.recursive(names | literals, _larger, max_leaves=6)
marks = st.sampled_from(["", "-"])


def _statements(body: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    def write(parts: tuple[str, str, str, str]) -> str:
        kind, expression, inner, mark = parts
        head, tail = f"{{%{mark} ", f" {mark}%}}"
        return {
            "if": f"{head}if {expression}{tail}{inner}{head}else{tail}no{head}endif{tail}",
            "for": f"{head}for i in {expression}{tail}{inner}{{{{ i }}}}{head}endfor{tail}",
            "set": f"{head}set a = {expression}{tail}{inner}",
            "capture": f"{head}set q{tail}{inner}{head}endset{tail}{{{{ q }}}}",
            "with": f"{head}with w = {expression}{tail}{inner}{{{{ w }}}}{head}endwith{tail}",
            "filter": f"{head}filter upper{tail}{inner}{head}endfilter{tail}",
            "macro": f"{head}macro f(x){tail}{inner}{{{{ x }}}}{head}endmacro{tail}{{{{ f({expression}) }}}}",
        }[kind]

    kinds = st.sampled_from(["if", "for", "set", "capture", "with", "filter", "macro"])
    return st.tuples(kinds, expressions, body, marks).map(write)


pieces = st.one_of(
    st.tuples(marks, expressions, marks).map(lambda parts: f"{{{{{parts[0]} {parts[1]} {parts[2]}}}}}"),
    st.sampled_from([" text ", "\n", "{# c #}", "{% raw %}{{ x }}{% endraw %}", "é"]),
)
templates = st.recursive(
    st.lists(pieces, min_size=1, max_size=3).map("".join),
    lambda inner: st.lists(_statements(inner) | inner, min_size=1, max_size=3).map("".join),
    max_leaves=4,
)


@given(text=hostile_texts)
def test_data_comes_out_as_it_went_in(text: str) -> None:
    scope = Scope({"v": text, "m": {"k": text}, "l": [text]})
    assert ENGINE.render("{{ v }}", scope) == text
    assert ENGINE.render("[{{ m.k }}|{{ l[0] }}]\n", scope) == f"[{text}|{text}]\n"
    assert ENGINE.render("{% for x in l %}{{ x }}{% endfor %}", scope) == text
    assert ENGINE.evaluate("v ~ ''", scope) == text
    assert ENGINE.test("v == l[0]", scope)


@given(text=hostile_texts)
def test_text_around_a_tag_is_kept(text: str) -> None:
    if "{" not in text:
        assert ENGINE.render(text + "{{ v }}" + text, Scope({"v": 1})) == f"{text}1{text}"
        assert ENGINE.render(text, Scope({})) == text


@settings(max_examples=400)
@given(source=templates)
def test_preparation_leaves_no_trace_in_the_result(source: str) -> None:
    """The prepared template renders as the engine renders the one that was written."""
    raw = minijinja.Environment(
        undefined_behavior="strict", debug=False, pycompat=False, keep_trailing_newline=True, fuel=100_000
    )
    try:
        expected = raw.render_str(source, None, **RAW_CONTEXT)
    except Exception:
        with pytest.raises(TemplateError):
            ENGINE.render(source, Scope(CONTEXT))
        return
    try:
        assert ENGINE.render(source, Scope(CONTEXT)) == expected
    except TemplateError as error:
        assert "undefined" in error.message  # noqa: PT017  (stricter: an undefined value that is passed on)


@settings(max_examples=300)
@given(source=templates | hostile_texts | st.text(max_size=40), data=hostile_texts)
def test_rendering_raises_nothing_but_template_errors(source: str, data: str) -> None:
    names = {**CONTEXT, "s": data, "nope": None}
    before = copy.deepcopy(names)
    scope = Scope(names)
    for run in (ENGINE.render, ENGINE.evaluate, ENGINE.test):
        with contextlib.suppress(TemplateError):
            run(source, scope)
    assert names == before
    ENGINE.check_template(source)
    ENGINE.check_expression(source)


@settings(max_examples=300)
@given(source=templates)
def test_place_of_an_error_leads_back_into_the_source(source: str) -> None:
    try:
        prepared = Source(source).prepared()
    except Unreadable:
        return
    origins = [prepared.origin(offset) for offset in range(len(prepared.source))]
    assert all(0 <= origin <= len(source) for origin in origins)


@settings(max_examples=200)
@given(expression=expressions)
def test_evaluated_expression_is_printed_as_it_is_rendered(expression: str) -> None:
    scope = Scope(CONTEXT)
    try:
        value = ENGINE.evaluate(expression, scope)
    except TemplateError:
        return
    if not isinstance(value, (list, dict)):
        again = ENGINE.render("{{ v }}", Scope({"v": value}))
        assert again == ENGINE.render("{{ " + expression + " }}", scope)
