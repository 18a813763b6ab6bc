"""The bound on a validator's work."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.text.schema import MAX_VISITS, SchemaUnsupported, compile_schema
from evenhand.text.schema_cost import CEILING, SchemaCost


def doubled(times: int, keyword: str) -> dict[str, Any]:
    """A schema of a few lines that holds 2^times schemas against one value."""
    names = {"s0": {"type": "string"}}
    for number in range(1, times + 1):
        names[f"s{number}"] = {keyword: [{"$ref": f"#/$defs/s{number - 1}"}] * 2}
    return {"$defs": names, "$ref": f"#/$defs/s{times}"}


def stacked(times: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"prefixItems": [True]}
    for _ in range(times):
        schema = {"allOf": [schema], "unevaluatedItems": False}
    return schema


def nested(depth: int) -> Any:
    value: Any = {}
    for _ in range(depth):
        value = {"a": value}
    return value


def count_meetings(schema: Any, value: Any, document: Any) -> int:
    """What a validator that never stops early does, for a few keywords."""
    if not isinstance(schema, dict):
        return 0
    total = 1
    for keyword in ("allOf", "anyOf", "oneOf"):
        total += sum(count_meetings(each, value, document) for each in schema.get(keyword, ()))
    if "$ref" in schema:
        total += count_meetings(document["$defs"][schema["$ref"].rpartition("/")[2]], value, document)
    if isinstance(value, dict):
        for name, inner in value.items():
            total += count_meetings(schema.get("properties", {}).get(name), inner, document)
            total += count_meetings(schema.get("additionalProperties"), inner, document)
    if isinstance(value, list):
        total += sum(count_meetings(schema.get("items"), inner, document) for inner in value)
    return total


def schemas(names: int) -> st.SearchStrategy[dict[str, Any]]:
    """Schemas that refer to lower numbers in place, and to any from inside."""

    def one(number: int) -> st.SearchStrategy[dict[str, Any]]:
        to_lower = st.builds(lambda n: {"$ref": f"#/$defs/s{n}"}, st.integers(0, max(number - 1, 0)))
        to_any = st.builds(lambda n: {"$ref": f"#/$defs/s{n}"}, st.integers(0, names - 1))
        in_place = st.just([]) if number == 0 else st.lists(to_lower, max_size=3)
        return st.fixed_dictionaries(
            {"anyOf": in_place},
            optional={
                "properties": st.dictionaries(st.sampled_from("ab"), to_any, max_size=2),
                "additionalProperties": to_any,
                "items": to_any,
            },
        )

    return st.tuples(*map(one, range(names))).map(
        lambda found: {
            "$defs": {f"s{n}": schema for n, schema in enumerate(found)},
            "$ref": f"#/$defs/s{names - 1}",
        }
    )


VALUES = st.recursive(
    st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(document=schemas(4), value=VALUES)
def test_a_validator_never_does_more_than_the_bound_says(document: dict[str, Any], value: Any) -> None:
    assert count_meetings(document, value, document) <= SchemaCost(document).visits(value)


def test_a_tree_of_any_depth_meets_few_schemas_though_every_property_refers_to_its_own_kind() -> None:
    node = {"$ref": "#/$defs/node"}
    schema = {
        "$defs": {"node": {"properties": dict.fromkeys(("left", "right", "test", "body"), node)}},
        **node,
    }
    assert SchemaCost(schema).meetings(200) == 2


@pytest.mark.parametrize("keyword", ["anyOf", "allOf", "oneOf"])
def test_doubling_is_counted(keyword: str) -> None:
    assert SchemaCost(doubled(10, keyword)).meetings(0) == 2**12 - 2
    assert SchemaCost(doubled(200, keyword)).meetings(0) == CEILING


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (doubled(60, "anyOf"), 5),
        (doubled(60, "allOf"), "text"),
        (doubled(60, "oneOf"), "text"),
        (stacked(45), [1]),
        ({"anyOf": [{"properties": {"a": {"$ref": "#"}}, "required": ["x"]}] * 2}, nested(60)),
    ],
)
def test_a_value_that_a_schema_would_look_at_without_end_is_an_error_and_never_a_verdict(
    schema: Any, value: Any
) -> None:
    with pytest.raises(SchemaUnsupported, match=f"more than {MAX_VISITS:,} times"):
        compile_schema(schema).failures(value)


def test_a_schema_that_branches_too_much_to_explain_still_decides() -> None:
    failures, total = compile_schema(doubled(18, "anyOf")).failures(5)
    assert total == 1
    assert failures[0].message == "it does not match; the schema branches too much to say where"
    assert compile_schema(doubled(18, "anyOf")).failures("text") == ([], 0)


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
        {"$id": "urn:x", "$defs": {"a": {"$anchor": "here", "$ref": "urn:x"}}, "$ref": "#here"},
    ],
)
def test_a_circle_of_references_is_counted_once(schema: Any) -> None:
    assert SchemaCost(schema).meetings(3) < 10


def test_a_chain_of_references_as_long_as_a_file_is_no_recursion_of_ours() -> None:
    names = {f"s{n}": {"$ref": f"#/$defs/s{n + 1}"} for n in range(20_000)} | {"s20000": {}}
    assert SchemaCost({"$defs": names, "$ref": "#/$defs/s0"}).meetings(0) == 20_002
