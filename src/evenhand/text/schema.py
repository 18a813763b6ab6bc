"""JSON Schema over values from outside: nothing is fetched, no pattern runs away, no value crashes the library.

The draft is the one that `$schema` names, else 2020-12; `format` is checked in every draft. Patterns are ECMA-262
without look-around, in linear time; a schema with look-around has its patterns tried on every text first, under a
limit of steps, since the library would take a search that hit its limit for one that found nothing. What a schema can
make the library do is counted before it does it (`schema_cost`), because nothing stops it afterwards.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from evenhand.errors import BrokenAssertion
from evenhand.registry import nearest
from evenhand.text.excerpt import clipped, escaped, middle_cut
from evenhand.text.json_limits import UnsupportedValue, depth_of
from evenhand.text.schema_cost import SchemaCost

if TYPE_CHECKING:
    import jsonschema_rs

MAX_SCHEMA_DEPTH = 100
"""Levels of lists and objects that a schema may have."""

MAX_VALUE_DEPTH = 250
"""Levels of lists and objects that the library takes in a value."""

MAX_LEVELS = 5_000
"""Calls inside one another that the library's stack surely holds."""

MAX_PATTERN_STEPS = 100_000
"""Steps back of one search for a pattern with look-around."""

MAX_VISITS = 30_000_000
"""Times that schemas are held against places of one value: about a third of a second."""

MAX_EXPLAINED_VISITS = 500_000
"""The same for a list of what is wrong: up to 10 µs each, since every failure carries those that led to it."""

FEW_MEETINGS = 64
"""Schemas that meet in one place before the places are counted; real schemas stay far below."""

MAX_BRANCHING_VISITS = 50_000
"""As `MAX_EXPLAINED_VISITS`, where more than `FEW_MEETINGS` meet: a list then takes up to 60 µs each."""

MAX_MESSAGE_LENGTH = 300

_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
_IN_PLACE = _REFERENCES | {
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentSchemas",
    "dependencies",
}
"""Keywords whose schemas look at the same value as the schema they stand in."""


class SchemaError(ValueError):
    """A JSON Schema that cannot be used."""


class SchemaUnsupported(BrokenAssertion):
    """A value that cannot be held against a schema: nothing is known about it."""


class SchemaFailure(NamedTuple):
    """One place where a value breaks its schema: a JSON Pointer (empty for the whole value) and what is wrong."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"at `{clipped(self.path, length=100)}`: {self.message}" if self.path else self.message


class Schema:
    """A compiled JSON Schema. Share it freely."""

    def __init__(self, document: Any) -> None:
        """`document` is plain JSON, at most `MAX_SCHEMA_DEPTH` deep. Raises `SchemaError`."""
        import jsonschema_rs

        self._runaway = [found for found in map(_look_around, _patterns(document)) if found]
        options = _engines()[bool(self._runaway)]
        try:
            self._validator = jsonschema_rs.validator_for(
                document, offline=True, validate_formats=True, pattern_options=options
            )
        except jsonschema_rs.ValidationError as error:
            raise SchemaError(_explained(error)) from None
        except ValueError as error:
            raise SchemaError(_cut(str(error))) from None
        keywords = [keyword for each in _objects(document) for keyword in each]
        self._is_recursive = not _REFERENCES.isdisjoint(keywords)
        self._calls_per_level = 1 + sum(keyword in _IN_PLACE for keyword in keywords)
        self._cost = SchemaCost(document)

    def failures(self, value: Any, limit: int = 10) -> tuple[list[SchemaFailure], int]:
        """The first failures in the order of (path, message), and how many there are in all.

        Raises `SchemaUnsupported` for a value that the library does not take.
        """
        meetings = self._check(value)
        try:
            if self._validator.is_valid(value):
                return [], 0
            if not self._is_explained(value, meetings):
                return [SchemaFailure("", "it does not match; the schema branches too much to say where")], 1
            found = sorted(
                SchemaFailure(_pointer(error.instance_path), _cut(error.message))
                for error in self._validator.iter_errors(value)
            )
        except ValueError as error:
            raise SchemaUnsupported(
                f"the value cannot be held against the schema: {_cut(str(error))}"
            ) from None
        if not found:
            raise SchemaUnsupported("the schema library contradicts itself about this value")
        return found[:limit], len(found)

    def _is_explained(self, value: Any, meetings: float) -> bool:
        """Whether a list of what is wrong takes a bounded time."""
        limit = MAX_EXPLAINED_VISITS if meetings <= FEW_MEETINGS else MAX_BRANCHING_VISITS
        return self._cost.visits(value) <= limit

    def _check(self, value: Any) -> float:
        """How many schemas meet in one place of a value that can be held against this schema at all."""
        try:
            depth = depth_of(value, MAX_VALUE_DEPTH)
        except UnsupportedValue as error:
            raise SchemaUnsupported(f"the value cannot be held against the schema: {error}") from None
        if self._is_recursive and depth * self._calls_per_level > MAX_LEVELS:
            raise SchemaUnsupported(
                f"the value has {depth} levels, too many for a schema with so many references"
            )
        for validator in self._runaway:
            for text in _texts(value):
                refusal = next(validator.iter_errors(text), None)
                if refusal and "executing regex" in refusal.message:
                    raise SchemaUnsupported(
                        f"a pattern with look-around was stopped after {MAX_PATTERN_STEPS:,} steps back"
                    )
        meetings = max(map(self._cost.meetings, range(depth + 1)))
        if meetings > FEW_MEETINGS and self._cost.visits(value) > MAX_VISITS:
            raise SchemaUnsupported(
                "the schema branches too much for this value: it would be looked at more than "
                f"{MAX_VISITS:,} times; refer to a schema once instead of in each branch"
            )
        return meetings


_BY_IDENTITY: dict[int, tuple[object, Schema]] = {}
_MAX_KEPT = 256


def compile_schema(schema: object) -> Schema:
    """The schema, ready to check values. Schemas that are equal as JSON share one.

    Raises `SchemaError` with what is wrong and where, also for a reference to anything outside of the schema.
    """
    kept = _BY_IDENTITY.get(id(schema))
    if kept and kept[0] is schema:
        return kept[1]
    compiled = _compiled(_canonical(schema))
    if len(_BY_IDENTITY) >= _MAX_KEPT:
        _BY_IDENTITY.clear()
    # The entry holds the object itself, so that its identity cannot pass to another one.
    _BY_IDENTITY[id(schema)] = (schema, compiled)
    return compiled


def mismatch(failures: list[SchemaFailure], total: int) -> str:
    """How a reason tells of failures: the first of them, and the number of others."""
    others = f" (and {total - 1} more)" if total > 1 else ""
    return f"JSON does not match schema: {failures[0]}{others}"


@functools.lru_cache(maxsize=_MAX_KEPT)
def _compiled(canonical: str) -> Schema:
    return Schema(json.loads(canonical))


def _canonical(schema: object) -> str:
    if not isinstance(schema, (dict, bool)):
        raise SchemaError(f"a schema is an object, `true` or `false`, found {type(schema).__name__}")
    try:
        depth_of(schema, MAX_SCHEMA_DEPTH)
        return json.dumps(schema, sort_keys=True, separators=(",", ":"))
    except UnsupportedValue as error:
        raise SchemaError(f"the schema cannot be read: {error}") from None
    except TypeError:
        raise SchemaError("the schema holds a value that is no plain JSON") from None


def _objects(document: Any) -> Iterator[dict[str, Any]]:
    """Every object inside a document, itself included."""
    waiting = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            yield value
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)


def _patterns(document: Any) -> set[str]:
    found: set[str] = set()
    for each in _objects(document):
        if isinstance(each.get("pattern"), str):
            found.add(each["pattern"])
        if isinstance(each.get("patternProperties"), dict):
            found.update(each["patternProperties"])
    return found


@functools.cache
def _engines() -> tuple[jsonschema_rs.RegexOptions, jsonschema_rs.FancyRegexOptions]:
    """The linear engine, and the one that takes look-around and counts its steps."""
    import jsonschema_rs

    return jsonschema_rs.RegexOptions(), jsonschema_rs.FancyRegexOptions(backtrack_limit=MAX_PATTERN_STEPS)


def _look_around(pattern: str) -> Any:
    """A validator for a pattern that only the engine that counts steps takes; None for any other."""
    import jsonschema_rs

    linear, stepped = _engines()
    for options in (linear, stepped):
        try:
            validator = jsonschema_rs.Draft202012Validator(
                {"pattern": pattern}, offline=True, mask="text", pattern_options=options
            )
        except ValueError:
            continue
        return validator if options is stepped else None
    return None


def _texts(value: Any) -> Iterator[str]:
    """Every text in a value, keys included."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            yield from item
            waiting.extend(item.values())
        elif isinstance(item, (list, tuple)):
            waiting.extend(item)


def _pointer(path: list[str | int]) -> str:
    """A path as a JSON Pointer (RFC 6901)."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path)


def _cut(message: str) -> str:
    return middle_cut(message, length=MAX_MESSAGE_LENGTH)


def _explained(error: jsonschema_rs.ValidationError) -> str:
    """What is wrong with a schema, in words that say what to do."""
    quoted_name = error.message.split("'")[1] if error.message.count("'") > 1 else ""
    if error.message.startswith("Resource "):
        return f"`$ref` to {quoted_name!r} is not followed; put the schema it means under `$defs` and refer to that"
    if error.message.startswith("Unknown meta-schema"):
        return f"`$schema` {quoted_name!r} is not known; known are the drafts 4, 6, 7, 2019-09 and 2020-12"
    path = [*error.instance_path]
    where = f"at `{escaped(_pointer(path))}`: " if path else ""
    if path[-1:] == ["type"]:
        named = error.instance if isinstance(error.instance, list) else [error.instance]
        unknown = next((each for each in named if each not in _TYPES), None)
        if isinstance(unknown, str):
            guess = nearest(unknown, _TYPES)
            hint = f"did you mean {guess!r}?" if guess else f"types are {', '.join(_TYPES)}"
            return f"{where}unknown type {escaped(unknown)!r}; {hint}"
    return where + _cut(error.message)
