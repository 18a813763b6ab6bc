"""What differs between two suites."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from evenhand.analysis.suite_diff import setting_changes

values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab", max_size=2),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "id"]), inner, max_size=3)
    ),
    max_leaves=8,
)


def found(base: Any, head: Any) -> list[dict[str, Any]]:
    return [msgspec.to_builtins(change) for change in setting_changes(base, head)]


def test_each_setting_is_named_by_where_it_stands() -> None:
    base = {"providers": [{"id": "a", "params": {"t": 1}}, {"id": "b"}], "runner": {"retries": {"max": 2}}}
    head = {"providers": [{"id": "b"}, {"id": "a", "params": {"t": 0}}], "cache": {"grader": False}}
    assert found(base, head) == [
        {"path": "providers[a].params.t", "base": 1, "head": 0},
        {"path": "cache", "head": {"grader": False}},
        {"path": "runner", "base": {"retries": {"max": 2}}},
    ]


def test_items_without_ids_go_by_their_index() -> None:
    assert found({"command": ["x", 1]}, {"command": ["x", 2, 3]}) == [
        {"path": "command[1]", "base": 1, "head": 2},
        {"path": "command[2]", "head": 3},
    ]


def test_values_of_different_types_differ_as_a_whole() -> None:
    assert found({"a": True}, {"a": 1}) == [{"path": "a", "base": True, "head": 1}]
    assert found({"a": {"0": 1}}, {"a": [1]}) == [{"path": "a", "base": {"0": 1}, "head": [1]}]
    assert found(None, {}) == [{"path": "suite", "base": None, "head": {}}]


@given(base=values, head=values)
def test_there_is_a_change_exactly_where_two_suites_differ_but_for_the_order_of_named_items(
    base: Any, head: Any
) -> None:
    assert found(base, base) == []
    there, back = found(base, head), found(head, base)
    assert {change["path"] for change in there} == {change["path"] for change in back}
    if not there:
        assert ordered(base) == ordered(head)
    for change in there:
        assert "base" in change or "head" in change


def ordered(value: Any) -> Any:
    """The value with named items in the order of their names, and with its types beside it."""
    if isinstance(value, dict):
        return {name: ordered(inner) for name, inner in value.items()}
    if not isinstance(value, list):
        return (type(value), value)
    ids = [item.get("id") if isinstance(item, dict) else None for item in value]
    if all(isinstance(name, str) for name in ids) and len(set(ids)) == len(ids):
        value = sorted(value, key=lambda item: item["id"])
    return [ordered(item) for item in value]
