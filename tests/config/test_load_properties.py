"""Whatever stands in a suite, loading ends in a suite or in problems with places."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from evenhand.config.load import load_suite
from evenhand.config.schema import suite_schema
from evenhand.errors import Problem, SuiteError
from evenhand.model.suite import Case, Prompt, Suite
from support.written import write

KEYS = sorted(
    {key for part in suite_schema()["$defs"].values() for key in part.get("properties", ())}
    | set(suite_schema()["properties"])
    | {"$raw", "$file", "x-free", "id", "type"}
)
NAMES = ["echo", "exec", "contains", "not-equals", "is-json", "user", "history", "text", "p"]
TEMPLATES = ["{{ q }}", "{{ env.A }}", "{{", "{% if %}", "${env:A}", "${env:"]
REFERENCES = ["file://c.csv", "file://p.txt", "file://", "$digest: *.txt", ""]
WORDS = st.sampled_from([*NAMES, *TEMPLATES, *REFERENCES])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)
ASSERTIONS = st.lists(
    st.fixed_dictionaries({"type": WORDS}, optional={"value": VALUES, "weight": VALUES, "negate": VALUES})
    | VALUES,
    max_size=2,
)
CASES = st.fixed_dictionaries(
    {},
    optional={
        "id": WORDS,
        "vars": st.dictionaries(st.sampled_from(["q", "assert"]), VALUES, max_size=2),
        "assert": ASSERTIONS,
        "matrix": st.dictionaries(st.sampled_from("ab"), st.lists(VALUES, max_size=2), max_size=2),
        "threshold": VALUES,
        "history": VALUES,
        "cache_salt": WORDS,
        "only_providers": st.lists(WORDS, max_size=2),
        "surplus": VALUES,
    },
)
SUITES = st.fixed_dictionaries(
    {"providers": st.just([{"type": "echo"}]) | VALUES},
    optional={
        "version": st.just(1) | VALUES,
        "prompts": st.lists(st.fixed_dictionaries({"id": WORDS, "template": WORDS}), max_size=2) | VALUES,
        "tests": st.lists(CASES | WORDS | VALUES, max_size=3),
        "defaults": st.fixed_dictionaries(
            {}, optional={"assert": ASSERTIONS, "vars": VALUES, "history": VALUES}
        ),
        "runner": VALUES,
        "env": VALUES,
        "tools": VALUES,
        "imports": st.lists(st.just("part.yaml") | VALUES, max_size=2),
        "surplus": VALUES,
    },
)
FILES: dict[str, str | bytes] = {
    "c.csv": "q,n:int\na,1\n",
    "p.txt": "{{ q }}",
    "part.yaml": "defaults: {assert: [{type: is-json}]}\n",
}


def placeless(part: Case | Prompt) -> Case | Prompt:
    """A part of a suite without its location, which names a temporary folder."""
    return structs.replace(part, location=None)


def loaded(text: str | bytes, files: dict[str, str | bytes] = FILES) -> Suite | list[str]:
    """The suite, or its problems as they are shown; anything else fails the test."""
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder), text, files)
        problems: list[Problem] = []
        try:
            suite = load_suite(path, environ={"A": "1"})
            assert len(list(suite.cases)) == len(suite.cases)
        except SuiteError as error:
            problems = error.problems
        else:
            return suite
        assert problems
        assert all(
            problem.location for problem in problems if not problem.message.startswith("only the first")
        )
        return [str(problem).replace(folder, "") for problem in problems]


@settings(max_examples=150, deadline=None)
@given(SUITES)
def test_a_suite_of_any_shape_is_loaded_or_refused_alike_each_time(document: dict[str, Any]) -> None:
    text = json.dumps(document)
    first, second = loaded(text), loaded(text)
    if isinstance(first, list):
        assert first == second
    else:
        assert isinstance(second, Suite)
        assert first.digests == second.digests
        assert (first.providers, first.tools) == (second.providers, second.tools)
        assert list(map(placeless, first.prompts)) == list(map(placeless, second.prompts))
        assert list(map(placeless, first.cases)) == list(map(placeless, second.cases))
        assert len(first.warnings) == len(second.warnings)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=80))
def test_any_bytes_are_loaded_or_refused(data: bytes) -> None:
    loaded(data)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=5))
def test_any_document_is_loaded_or_refused(document: dict[str, Any]) -> None:
    loaded(json.dumps(document))


REFERRING: dict[str, dict[str, Any]] = {
    **{
        f"t.{extension}": {"tests": [f"file://t.{extension}"]}
        for extension in ("yaml", "json", "jsonl", "csv", "tsv")
    },
    "h.yaml": {"tests": [{"history": "file://h.yaml"}]},
    "p.txt": {"prompts": [{"id": "a", "template": "file://p.txt"}], "tests": [{"vars": {"q": 1}}]},
    "v.json": {"tests": [{"vars": {"q": {"$file": "v.json"}}}]},
    "i.png": {
        "prompts": [
            {"id": "a", "messages": [{"role": "user", "content": [{"type": "image", "file": "i.png"}]}]}
        ]
    },
    "part.yaml": {"imports": ["part.yaml"]},
}
BYTES = st.binary(max_size=60) | st.text("id,vasert:[]{}\"'\n\t;-0 ", max_size=60).map(str.encode)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(sorted(REFERRING)), BYTES)
def test_whatever_stands_in_a_file_that_a_suite_names_is_loaded_or_refused(name: str, data: bytes) -> None:
    document = {"version": 1, "providers": [{"type": "exec", "command": ["true"]}], **REFERRING[name]}
    loaded(json.dumps(document), {name: data})
