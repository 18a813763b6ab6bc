"""The JSON Schema says of a suite what loading says, as far as a schema can."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from evenhand.config.load import load_suite
from evenhand.config.schema import suite_schema
from evenhand.config.yaml_reader import read_yaml
from evenhand.errors import SuiteError
from evenhand.model.assertion import ASSERTIONS
from evenhand.model.provider import PROVIDERS
from support.written import whole

SCHEMA = suite_schema()
VALIDATOR = jsonschema_rs.validator_for(SCHEMA, offline=True)
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*/evenhand.yaml"))


def errors(document: Any) -> list[str]:
    return [str(error) for error in VALIDATOR.iter_errors(document)]


def test_the_schema_is_one() -> None:
    jsonschema_rs.meta.validate(SCHEMA)


def test_every_declared_type_and_its_negation_is_in_the_schema() -> None:
    for name in ASSERTIONS.all():
        kind = SCHEMA["$defs"][f"assertion-{name}"]
        assert kind["properties"]["type"] == {"enum": [name, f"not-{name}"]}
        assert kind["description"]
    assert {f"provider-{name}" for name in PROVIDERS.all()} <= SCHEMA["$defs"].keys()


def test_every_key_of_a_suite_is_described() -> None:
    bare = [
        f"{name}.{key}"
        for name, definition in {"suite": SCHEMA, **SCHEMA["$defs"]}.items()
        for key, value in definition.get("properties", {}).items()
        if not value.get("description") and key != "type" and not name.startswith("provider-")
    ]
    assert bare == []


def test_no_name_of_a_class_shows() -> None:
    text = str(SCHEMA)
    assert "Written" not in text
    assert "'title'" not in str(SCHEMA["$defs"])


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_examples_that_load_are_valid(path: Path) -> None:
    document = read_yaml(path.read_text(encoding="utf-8"), str(path)).value
    try:
        suite = load_suite(path)
    except SuiteError:
        return
    # A part of a suite need not be whole in itself; what it is put together to must be.
    assert errors(suite.snapshot if "extends" in document else document) == []


VALID: list[dict[str, Any]] = [
    {},
    {"x-anything": {"goes": 1}},
    {"runner": {"retries": 3}},
    {"runner": {"retries": {"max": 3, "jitter": False}, "rate_limit": {"rps": 2}, "timeout_ms": 5}},
    {"tests": ["file://a/*.yaml", {"source": "file://c.csv", "template": True}]},
    {"tests": [{"generator": {"command": ["x"], "config": {"a": 1}}}, {"generator": "file://g.py:make"}]},
    {
        "tests": [
            {"vars": {"a": {"$raw": "x"}}, "assert": [{"type": "not-contains", "value": "x", "weight": 0}]}
        ]
    },
    {"tests": [{"history": "file://h.yaml"}, {"history": [{"role": "user", "content": "x"}]}]},
    {"tests": [{"matrix": {"a": [1, "x", None]}, "expect_fail": "why"}]},
    {
        "prompts": [
            {"id": "a", "template": "x"},
            {"id": "b", "messages": ["history", {"role": "user", "content": []}]},
        ]
    },
    {"defaults": {"assert": [{"type": "equals", "value": {"a": [1]}}], "vars": {"x": [1]}, "tags": ["x"]}},
    {"tools": [{"name": "x", "input_schema": {"type": "object"}}], "env": ["HOME"]},
    {"project": None, "suite": "s", "description": "d"},
]
INVALID: list[dict[str, Any]] = [
    {"providrs": []},
    {"version": 2},
    {"providers": [{"type": "ecko"}]},
    {"providers": [{"type": "echo", "command": ["x"]}]},
    {"runner": {"concurrncy": 1}},
    {"runner": {"retries": {"most": 1}}},
    {"tests": ["a.yaml"]},
    {"tests": [{"asserts": []}]},
    {"tests": [{"assert": [{"type": "contans", "value": "x"}]}]},
    {"tests": [{"assert": [{"type": "contains", "valu": "x"}]}]},
    {"tests": [{"assert": [{"type": "contains"}]}]},
    {"tests": [{"matrix": {"a": []}}]},
    {"tests": [{"source": "file://c.csv", "templates": True}]},
    {"tests": [{"history": [{"role": "nobody", "content": "x"}]}]},
    {"defaults": {"expect_fail": True}},
    {"prompts": [{"id": "a", "text": "x"}]},
    {"prompts": [{"template": "x"}]},
]


@pytest.mark.parametrize("fragment", VALID, ids=str)
def test_what_can_be_written_is_valid(fragment: dict[str, Any]) -> None:
    assert errors(whole(fragment)) == []


@pytest.mark.parametrize("fragment", INVALID, ids=str)
def test_what_loading_refuses_is_invalid(fragment: dict[str, Any]) -> None:
    assert errors(whole(fragment))


def test_a_part_without_providers_needs_to_extend_something() -> None:
    assert errors({"version": 1})
    assert not errors({"version": 1, "extends": "base.yaml"})
