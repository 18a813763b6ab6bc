"""JSON Schema: compiled once, with every failure named by its place."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import jsonschema_rs

from evenhand.text.json_reader import compact_json, read_json

MAX_VALUE_DEPTH = 500
"""Levels of a value that are validated; the library recurses and would end the process on hostile depth."""


class SchemaError(ValueError):
    """A schema that does not compile."""


class SchemaFailure(NamedTuple):
    """One place where a value breaks a schema: a JSON pointer and what is wrong there."""

    path: str
    message: str


class Schema:
    """A compiled schema."""

    def __init__(self, schema: Any) -> None:
        try:
            self._validator = jsonschema_rs.validator_for(
                schema,
                offline=True,
                validate_formats=True,
                pattern_options=jsonschema_rs.FancyRegexOptions(backtrack_limit=100_000),
            )
        except (ValueError, TypeError) as error:
            raise SchemaError(str(getattr(error, "message", error))) from None

    def failures(self, value: Any, limit: int = 10) -> tuple[list[SchemaFailure], int]:
        """The failures of a value in the order of their places, at most `limit` of them, and how many there are."""
        if _is_deeper_than(value, MAX_VALUE_DEPTH):
            return [SchemaFailure("", f"nested deeper than {MAX_VALUE_DEPTH} levels")], 1
        if self._validator.is_valid(value):
            return [], 0
        found = sorted(
            SchemaFailure("".join(f"/{step}" for step in error.instance_path), error.message)
            for error in self._validator.iter_errors(value)
        )
        return found[:limit], len(found)


def compile_schema(schema: Any) -> Schema:
    """The compiled schema, the same object for equal schemas. Raises `SchemaError`."""
    return _compiled(compact_json(schema))


@lru_cache(maxsize=500)
def _compiled(text: str) -> Schema:
    return Schema(read_json(text))


def _is_deeper_than(value: Any, levels: int) -> bool:
    layer = [value]
    for _ in range(levels):
        layer = [
            item
            for container in layer
            if isinstance(container, (dict, list))
            for item in (container.values() if isinstance(container, dict) else container)
        ]
        if not layer:
            return False
    return True
