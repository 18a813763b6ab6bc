"""Expressions that are a boolean whatever their data, which the engine prints instead of handing them over."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import TemplateError
from evenhand.template import Engine, Scope

OPERANDS = st.sampled_from(
    [
        "a",
        "b",
        "missing",
        "a | length",
        "1",
        "1.5",
        "'x'",
        "[a]",
        "none",
        "(a and b)",
        "not a",
        "a is string",
        "2**70",
    ]
)
VALUES = st.sampled_from([None, True, False, 0, 1, 2**70, 1.5, "", "x", "1", [], [1], ["x"], {}, {"x": 1}])


@given(
    st.builds(
        "{} {} {}".format,
        OPERANDS,
        st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "in", "not in"]),
        OPERANDS,
    ),
    st.sampled_from(["{}", "not ({})", "not {}", "({}) == true", "({}) is true"]),
    st.fixed_dictionaries({"a": VALUES, "b": VALUES}),
)
def test_a_comparison_holds_as_the_choice_that_it_makes(
    expression: str, form: str, names: dict[str, Any]
) -> None:
    expression = form.format(expression)

    def found(text: str) -> Any:
        try:
            return Engine().test(text, Scope(names))
        except TemplateError as error:
            return error.depends_on_data

    # A choice is handed over as a value, a comparison is printed.
    assert found(expression) is found(f"true if ({expression}) else false")


@pytest.mark.parametrize(
    ("expression", "value"), [("a == 1", True), ("a in [2]", False), ("not a", False), ("a is string", False)]
)
def test_a_comparison_evaluates_to_a_boolean(expression: str, value: bool) -> None:
    assert Engine().evaluate(expression, Scope({"a": 1})) is value
