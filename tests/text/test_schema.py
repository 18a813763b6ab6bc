"""JSON Schema: right verdicts, no network, and no value or pattern that crashes, hangs or passes unseen."""

import functools
import http.server
import math
import threading
import time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.text.schema import (
    MAX_VALUE_DEPTH,
    Schema,
    SchemaError,
    SchemaFailure,
    SchemaUnsupported,
    compile_schema,
    mismatch,
)

HANG_GUARD_S = 60
DRAFTS = [
    None,
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
]


def holds(schema: Any, value: Any) -> bool:
    failures, total = compile_schema(schema).failures(value)
    assert bool(failures) == bool(total)
    return not total


def nested(levels: int, innermost: Any = 1) -> Any:
    return functools.reduce(lambda inner, _: [inner], range(levels), innermost)


@pytest.mark.parametrize("draft", DRAFTS)
def test_formats_are_checked_in_every_draft(draft):
    schema = {"format": "date", **({"$schema": draft} if draft else {})}
    assert holds(schema, "2025-12-31")
    assert not holds(schema, "2025-13-45")


def test_draft_is_the_one_that_the_schema_names():
    tuple_items = {"type": "array", "items": [{"type": "string"}, {"type": "integer"}]}
    assert not holds({"$schema": DRAFTS[3], **tuple_items}, ["a", "b"])
    with pytest.raises(SchemaError, match="/items"):
        compile_schema(tuple_items)


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"properties": {"n": {"type": "integer", "example": 3}}}, {"n": 3}, True),
        ({"properties": {"x": {"type": ["string", "null"]}}}, {"x": None}, True),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}, 1, False),
        ({"$defs": {"n": {"items": {"$ref": "#/$defs/n"}}}, "$ref": "#/$defs/n"}, [[[]]], True),
        ({"type": "integer"}, 1.0, True),
        ({"type": "integer"}, Decimal("1.0"), True),
        ({"type": "integer"}, True, False),
        ({"const": 0.1}, Decimal("0.1"), True),
        ({"maximum": 10}, Decimal("1e400"), False),
        ({"const": 9007199254740992}, 9007199254740993, False),
        ({"maximum": 10}, 10**3_900, False),
        ({"multipleOf": 0.1}, 1.3, True),
        ({"pattern": r"^\d+$"}, "٣", False),
        ({"pattern": r"^(?!.*secret).*$"}, "a secret", False),
        ({"pattern": r"(?<=a)b"}, "ab", True),
        ({"type": "object"}, {"ключ": "😀"}, True),
        (True, nested(MAX_VALUE_DEPTH), True),
        (False, None, False),
    ],
)
def test_verdicts(schema, value, expected):
    assert holds(schema, value) is expected


def test_failures_come_in_order_with_their_number():
    schema = {"items": {"type": "string"}, "minItems": 99}
    failures, total = compile_schema(schema).failures(list(range(30)), limit=3)
    assert total == 31
    assert [failure.path for failure in failures] == ["", "/0", "/1"]
    assert failures[1] == SchemaFailure("/0", '0 is not of type "string"')


def test_mismatch_tells_the_first_failure_and_counts_the_others():
    failures, total = compile_schema({"properties": {"a/b": {"type": "string"}}}).failures({"a/b": 2})
    assert mismatch(failures, total) == 'JSON does not match schema: at `/a~1b`: 2 is not of type "string"'
    assert mismatch(failures, 3).endswith("(and 2 more)")


def test_messages_are_short_and_escaped():
    failures, _ = compile_schema({"type": "number"}).failures("\x1b[31m\n" + "x" * 1_000_000)
    assert len(failures[0].message) < 400
    assert failures[0].message.isprintable()


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "strin"}, "at `/type`: unknown type 'strin'; did you mean 'string'?"),
        ({"type": ["string", "nul"]}, "unknown type 'nul'; did you mean 'null'?"),
        ({"type": "nonsense"}, "types are array, boolean"),
        ({"properties": {"s": {"pattern": "("}}}, "at `/properties/s/pattern`: "),
        ({"minimum": "x"}, 'at `/minimum`: "x" is not of type "number"'),
        ({"$ref": "#/$defs/x"}, "'/$defs/x' does not exist"),
        (
            {"$ref": "https://schemas.example/x.json"},
            "`$ref` to 'https://schemas.example/x.json' is not followed",
        ),
        ({"$ref": "file:///etc/passwd"}, "`$ref` to 'file:///etc/passwd' is not followed"),
        ({"$ref": "other.json"}, "is not followed"),
        (
            {"$schema": "https://schemas.example/mine"},
            "`$schema` 'https://schemas.example/mine' is not known",
        ),
        ({"$schema": 3}, "at `/$schema`: "),
        ([1], "found list"),
        (None, "found NoneType"),
        ("object", "found str"),
        ({1: 2}, "key that is no text"),
        ({"const": math.nan}, "not finite"),
        ({"const": 10**5_000}, "longer than"),
        ({"const": "\ud800"}, "unpaired surrogate"),
        ({"enum": [Decimal(1)]}, "no plain JSON"),
        ({"enum": [{1, 2}]}, "no JSON value"),
        ({"const": nested(5_000)}, "more than 100 levels"),
    ],
)
def test_schema_that_cannot_be_used_is_refused_with_what_is_wrong(schema, message):
    with pytest.raises(SchemaError) as caught:
        compile_schema(schema)
    assert message in str(caught.value)


def test_no_reference_is_fetched():
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        address = f"http://127.0.0.1:{server.server_port}/s.json"
        for schema in ({"$ref": address}, {"$schema": address}, {"$id": address, "$ref": "t.json"}):
            with pytest.raises(SchemaError):
                compile_schema(schema)
        server.shutdown()
        thread.join()
    assert not asked


def test_no_file_is_read(tmp_path):
    (tmp_path / "s.json").write_text("{}")
    for reference in (f"file://{tmp_path}/s.json", str(tmp_path / "s.json")):
        with pytest.raises(SchemaError, match="is not followed"):
            compile_schema({"$ref": reference})


@pytest.mark.parametrize(
    "value",
    [
        nested(MAX_VALUE_DEPTH + 1),
        nested(100_000),
        {"a": "\ud800"},
        {"\udfff": 1},
        10**5_000,
        -(10**5_000),
        Decimal("NaN"),
        math.inf,
        {1: 2},
        [object()],
    ],
    ids=[
        "251 levels",
        "100000 levels",
        "surrogate",
        "surrogate key",
        "huge",
        "-huge",
        "NaN",
        "inf",
        "key",
        "object",
    ],
)
@pytest.mark.parametrize("schema", [True, {"maximum": 10}, {"items": {"$ref": "#"}}, {"uniqueItems": True}])
def test_value_that_the_library_does_not_take_is_an_error_and_never_a_verdict(schema, value):
    with pytest.raises(SchemaUnsupported, match="cannot be held against the schema"):
        compile_schema(schema).failures(value)


def test_references_times_levels_are_bounded():
    chain: dict[str, Any] = {f"a{n}": {"$ref": f"#/$defs/a{n + 1}"} for n in range(400)}
    chain["a400"] = {"items": {"$ref": "#/$defs/a0"}}
    schema = compile_schema({"$defs": chain, "$ref": "#/$defs/a0"})
    assert schema.failures(nested(10))[1] == 0
    with pytest.raises(SchemaUnsupported, match="too many for a schema with so many references"):
        schema.failures(nested(200))


RUNAWAY = r"((a+)+)(?=a*b)\1c"
TEXT = "a" * 3_000


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"pattern": RUNAWAY}, TEXT),
        ({"not": {"pattern": RUNAWAY}}, TEXT),
        ({"if": {"pattern": RUNAWAY}, "then": True, "else": True}, TEXT),
        ({"anyOf": [{"pattern": RUNAWAY}, {"type": "string"}]}, TEXT),
        ({"contains": {"pattern": RUNAWAY}, "minContains": 0}, [TEXT]),
        ({"patternProperties": {RUNAWAY: {"type": "integer"}}}, {TEXT: "x"}),
    ],
)
def test_a_pattern_at_its_limit_is_an_error_wherever_it_stands(schema, value):
    with pytest.raises(SchemaUnsupported, match="steps back"):
        compile_schema(schema).failures(value)


@pytest.mark.parametrize("pattern", [r"^(x+x+)+y$", r"^(a|aa)+$", r"(.*)*,(.*)*="])
def test_a_runaway_pattern_without_look_around_is_decided(pattern):
    started = time.monotonic()
    assert not holds({"properties": {"s": {"pattern": pattern}}}, {"s": "x" * 50_000})
    assert time.monotonic() - started < HANG_GUARD_S


def test_schemas_that_are_equal_as_json_are_compiled_once():
    first = compile_schema({"type": "object", "required": ["a"]})
    assert compile_schema({"required": ["a"], "type": "object"}) is first
    assert compile_schema({"const": 1}) is not compile_schema({"const": True})


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()) | st.decimals()
keys = st.text(st.characters(), max_size=4)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=10,
)
keywords = st.sampled_from(
    [
        "type",
        "const",
        "enum",
        "items",
        "properties",
        "not",
        "anyOf",
        "$ref",
        "pattern",
        "maximum",
        "format",
        "required",
    ]
)
schemas = st.recursive(
    st.booleans() | st.dictionaries(keywords, json_values, max_size=2),
    lambda inner: st.dictionaries(keywords, inner | st.lists(inner, max_size=2), max_size=3),
    max_leaves=6,
)


@given(schema=schemas, value=json_values)
@settings(max_examples=300, deadline=None)
def test_anything_ends_in_failures_or_in_an_error_of_ours(schema, value):
    compiled: Schema | None = None
    try:
        compiled = compile_schema(schema)
    except SchemaError as error:
        refusal = str(error)
    if compiled is None:
        assert refusal
        return
    try:
        failures, total = compiled.failures(value, limit=2)
    except SchemaUnsupported:
        return
    assert failures == sorted(failures)
    assert len(failures) == min(total, 2)


@given(value=json_values)
def test_a_value_is_equal_to_itself_as_a_constant(value):
    try:
        schema = compile_schema({"const": value})
    except SchemaError:
        return
    assert schema.failures(value)[1] == 0
