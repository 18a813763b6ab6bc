"""Templates of text and names alone are filled in as the engine does it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import TemplateError
from evenhand.template import Engine, Scope
from evenhand.template.holes import MAX_HOLES, holes_of

NAMES = [
    "city",
    "n",
    "x_1",
    "env",
    "output",
    "range",
    "now",
    "items",
    "get",
    "true",
    "None",
    "self",
    "loop",
    "not",
]
VALUES = st.one_of(
    st.text(),
    st.sampled_from(["{{ n }}", "{% if %}", "<b>&'\"", "\x00", "a\r\nb\r", "\ud800", "é", ""]),
    st.integers(-(2**66), 2**66),
    st.sampled_from([True, False, None, 1.0, -0.0, 10**18, [], {}, [1, "a"], {"a": 1}]),
)
TEXTS = st.sampled_from(
    ["", "a", " \n", "\n", "é", "\r\n", "{", "}", "{ {", "}}", "%}", "-", "\\", "'", "{{'{{'}}"]
)
HOLES = st.builds(
    "{{{{{}{}{}}}}}".format, *(st.sampled_from(each) for each in (["", " ", "- "], NAMES, ["", " ", " -"]))
)


@given(
    st.lists(st.one_of(TEXTS, HOLES), max_size=6), st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=6)
)
def test_a_template_of_names_is_filled_in_as_the_engine_renders_it(
    pieces: list[str], names: dict[str, Any]
) -> None:
    source = "".join(pieces)
    holes = holes_of(source)
    scope = Scope(names)
    filled = None if holes is None else holes.filled(scope.names)
    if filled is not None:
        # A comment keeps the engine's own way.
        assert filled == Engine().render("{# #}" + source, scope)


@pytest.mark.parametrize(
    "source",
    [
        "{{ a }}" * (MAX_HOLES + 1),
        "{{ a.b }}",
        "{{- a }}",
        "{{ a|upper }}",
        "{% raw %}{{ a }}{% endraw %}",
        "{{ items }}",
    ],
)
def test_a_template_that_asks_for_more_is_left_to_the_engine(source: str) -> None:
    assert holes_of(source) is None


def test_a_name_that_is_not_there_is_left_to_the_engine() -> None:
    with pytest.raises(TemplateError, match="`b`"):
        Engine().render("{{ a }} {{ b }}", Scope({"a": 1}))
