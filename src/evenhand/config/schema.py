"""The JSON Schema of a suite file, made from the declarations, for editors and for the reference."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from evenhand.config.document import (
    BLOCKS,
    FREE_KEY_PREFIX,
    WrittenCase,
    WrittenPrompt,
    WrittenSource,
    WrittenSuite,
    WrittenTurn,
)
from evenhand.config.sources.generator import WrittenGenerated, WrittenGenerator
from evenhand.model.assertion import ASSERTIONS, NEGATION_PREFIX
from evenhand.model.grading import Grader
from evenhand.model.provider import PROVIDERS
from evenhand.template import Val

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_WORD = re.compile(r"[A-Z][a-z0-9]*")
_DEFINITION = "#/$defs/"
_VALUE = {
    "description": "Any value. Text inside is a template. `{$raw: …}` is taken as it stands, `{$file: …}` is what a "
    "file holds."
}
_TEST = {
    "anyOf": [
        {
            "type": "string",
            "pattern": "^file://",
            "description": "Files of cases, relative to the suite's folder.",
        },
        {"$ref": f"{_DEFINITION}case"},
        {"$ref": f"{_DEFINITION}source"},
        {"$ref": f"{_DEFINITION}generated"},
    ]
}


def suite_schema() -> dict[str, Any]:
    """JSON Schema 2020-12 of a suite file."""
    definitions = _definitions()
    kinds, providers = ASSERTIONS.all(), PROVIDERS.all()
    for kind in kinds:
        types = {"enum": [kind, NEGATION_PREFIX + kind]}
        definitions[f"assertion-{kind}"]["properties"]["type"] = types
    definitions |= {
        "assertion": _any_of(f"assertion-{kind}" for kind in kinds),
        "block": _any_of(f"block-{name}" for name in BLOCKS),
        "provider": _any_of(f"provider-{name}" for name in providers),
        "test": _TEST,
        "value": _VALUE,
    }
    definitions["generated"]["properties"]["generator"]["anyOf"] = [
        {"$ref": f"{_DEFINITION}generator"},
        {"type": "string", "pattern": "^file://.+:"},
    ]
    retries = definitions["runner"]["properties"]["retries"]
    retries["anyOf"] = [{"$ref": retries.pop("$ref")}, {"type": "integer", "minimum": 0}]
    return _rooted(definitions)


def _rooted(definitions: dict[str, Any]) -> dict[str, Any]:
    root = definitions.pop("suite")
    return {
        "$schema": DIALECT,
        "title": "evenhand suite",
        **root,
        "patternProperties": {f"^{FREE_KEY_PREFIX}": {"description": "Free, for anchors and notes."}},
        "anyOf": [{"required": [key]} for key in ("providers", "extends", "imports")],
        "$defs": dict(sorted(definitions.items())),
    }


def _definitions() -> dict[str, Any]:
    named: dict[str, type[msgspec.Struct]] = {
        "suite": WrittenSuite,
        "case": WrittenCase,
        "generated": WrittenGenerated,
        "generator": WrittenGenerator,
        "prompt": WrittenPrompt,
        "source": WrittenSource,
        "turn": WrittenTurn,
        "grader": Grader,
        **{f"block-{name}": cls for name, cls in BLOCKS.items()},
        **{f"provider-{name}": cls for name, cls in PROVIDERS.all().items()},
        **{f"assertion-{name}": cls for name, cls in ASSERTIONS.all().items()},
    }
    references, components = msgspec.json.schema_components(
        named.values(), schema_hook=_custom, ref_template=f"{_DEFINITION}{{name}}"
    )
    names = {reference["$ref"]: name for reference, name in zip(references, named, strict=True)}
    names |= {_DEFINITION + own: _plain(own) for own in components if _DEFINITION + own not in names}
    return {names[_DEFINITION + own]: _tidied(schema, names) for own, schema in components.items()}


def _plain(name: str) -> str:
    """The name of a definition that no other page gives: `WrittenToolCall` is `tool-call`."""
    words = _WORD.findall(name.removeprefix("Written"))
    return "-".join(words).lower()


def _tidied(schema: Any, names: Mapping[str, str]) -> Any:
    """A schema with the names of this page in its references, without the names of classes."""
    if isinstance(schema, list):
        return [_tidied(item, names) for item in schema]
    if not isinstance(schema, dict):
        return schema
    tidied = {key: _tidied(item, names) for key, item in schema.items() if key != "title"}
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference in names:
        tidied["$ref"] = _DEFINITION + names[reference]
    return tidied


def _any_of(names: Iterable[str]) -> dict[str, Any]:
    return {"anyOf": [{"$ref": _DEFINITION + name} for name in names]}


def _custom(cls: type) -> dict[str, Any]:
    if cls is Val:
        return {"$ref": f"{_DEFINITION}value"}
    raise NotImplementedError(f"no schema for {cls.__name__}")
