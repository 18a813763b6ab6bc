"""YAML 1.2 core with places, and every way in which a file can be no such thing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.config import yaml_reader
from evenhand.config.yaml_reader import read_yaml
from evenhand.errors import Location, SuiteError


def refused(text: str) -> list[str]:
    with pytest.raises(SuiteError) as caught:
        read_yaml(text, "f.yaml")
    assert all(problem.location and problem.location.line for problem in caught.value.problems)
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("# only a comment\n", None),
        ("no", "no"),
        ("off", "off"),
        ("on", "on"),
        ("yes", "yes"),
        ("Y", "Y"),
        ("true", True),
        ("False", False),
        ("tRUE", "tRUE"),
        ("~", None),
        ("null", None),
        ("'null'", "null"),
        ("2024-01-05", "2024-01-05"),
        ("2024-01-05T10:00:00Z", "2024-01-05T10:00:00Z"),
        ("12:30", "12:30"),
        ("007", "007"),
        ("-012", "-012"),
        ("0", 0),
        ("+12", 12),
        ("0x1F", 31),
        ("0o17", 15),
        ("1_000", "1_000"),
        ("1e3", 1000.0),
        ("0.10", 0.1),
        (".5", 0.5),
        ("5.", 5.0),
        (".", "."),
        ("-", [None]),
        ("+", "+"),
        ("9007199254740993", 9007199254740993),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("=", "="),
        ("!!str 012", "012"),
        ("!raw '{{7*7}}'", {"$raw": "{{7*7}}"}),
        ("!raw 5", {"$raw": 5}),
        ("!raw {a: [1]}", {"$raw": {"a": [1]}}),
        ("!file data/x.json", {"$file": "data/x.json"}),
        ("[1, [2, {a: b}]]", [1, [2, {"a": "b"}]]),
        ("a: |\n  x\n  y\n", {"a": "x\ny\n"}),
        ("a: >-\n  x\n  y\n", {"a": "x y"}),
        ("'日本': é", {"日本": "é"}),
        ('"\\u0000"', "\0"),
    ],
)
def test_values_follow_the_core_schema(text: str, value: Any) -> None:
    assert read_yaml(text, "f.yaml").value == value
    assert type(read_yaml(text, "f.yaml").value) is type(value)


def test_byte_order_mark_and_windows_line_ends_are_ignored() -> None:
    assert read_yaml("\ufeffa: 1\r\nb:\r\n  - x\r\n", "f.yaml").value == {"a": 1, "b": ["x"]}


def test_anchors_aliases_and_merge_keys_work() -> None:
    text = "b: &b {x: 1, y: 2}\na:\n  <<: *b\n  x: 9\nc:\n  <<: [{x: 3, z: 4}, *b]\nd: *b\ne: {'<<': 1}"
    assert read_yaml(text, "f.yaml").value == {
        "b": {"x": 1, "y": 2},
        "a": {"x": 9, "y": 2},
        "c": {"x": 3, "y": 2, "z": 4},
        "d": {"x": 1, "y": 2},
        "e": {"<<": 1},
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\na: 2", "f.yaml:2:1: a: key 'a' is given twice, first at 1:1; keep one of them"),
        ("tests:\n\t- vars: {q: a}\n", "f.yaml:2:1: not valid YAML: a tab is used for indentation"),
        ("a:\n  b: 1\n\tc: 2", "f.yaml:3:1: not valid YAML: a tab is used for indentation"),
        ("value: {{ name }}", "f.yaml:1:9: value: a key must be text, found a mapping"),
        ("value: {{ name }}", 'quote the template: "{{ … }}"'),
        ("value: {{ name }} x", "a template stands without quotes; quote the template"),
        ("- {% if x %}", "a template stands without quotes; quote the template"),
        ("a: 1\n---\nb: 2", "f.yaml:2:1: not valid YAML: the file holds more than one document"),
        ("a: [.inf]", "f.yaml:1:5: a[0]: a number must be finite, found `.inf`"),
        ("a: .nan", "a number must be finite"),
        ("a: 1e999", "the number `1e999` is out of range"),
        ("a: " + "9" * 5000, "an integer of 5,000 digits is too long"),
        ("1: x", 'f.yaml:1:1: a key must be text, found a number `1`; quote it: "1"'),
        ("true: x", "found a boolean `true`"),
        ("~: x", "found null `~`"),
        (".inf: x", "found a number `.inf`"),
        ("? [a]\n: x", "found a list or a mapping"),
        ("!raw a: x", "unknown tag `!raw`; write keys without tags"),
        ("a: !secret x", "f.yaml:1:4: a: unknown tag `!secret`; use `!raw`, `!file` or no tag"),
        ("a: !!python/object:os.system x", "unknown tag `!!python/object:os.system`"),
        ("a: !!map x", "unknown tag `!!map`"),
        ("a: !e!x 1", "the tag is not known"),
        ("a: *b", "f.yaml:1:4: not valid YAML: the alias names an anchor that is not defined before it"),
        ("a: &x [*x]", "the alias refers to a value that contains it"),
        ("a: &x 1\nb: &x 2", "f.yaml:2:4: not valid YAML: the anchor is defined twice, first at line 1"),
        ("a: {<<: 5}", "the merge key `<<` takes a mapping or a list of mappings"),
        ("a: @x", "f.yaml:1:4: not valid YAML: a value cannot begin with `@`; quote the text"),
        ("a: 'x", "f.yaml:1:4: not valid YAML: a quote is opened here and never closed"),
        (r'a: "\d+"', "use single quotes, in which a backslash is only itself"),
        ('a: "x {{ b }}\nb: c', "f.yaml:1:4: not valid YAML: a quote is opened here and never closed"),
        ("a: it's {{ b }}: c", "a template stands without quotes"),
        ("a: 'x' {{ b }}: c", "a template stands without quotes"),
        (r'a: "\q {{ b }}"', "the backslash in double quotes is followed by no valid escape"),
        (r'a: "\ud83d x"', "half of a surrogate pair; write the character itself"),
        ("a: b: c", "a `:` stands where none can be"),
        ("a:\n  {b: 1", "the `{` has no matching `}`, or a `,` is missing (in what begins at line 2)"),
        ("a: \0", "f.yaml:1:4: not valid YAML: NUL character U+0000"),
        ("a:\n  b\x07", "f.yaml:2:4: not valid YAML: control character U+0007"),
        ("a: \ud800", "unassigned character U+D800"),
        ("a: " + "[" * 300 + "]" * 300, "nested too deeply (more than 100 levels)"),
        ("[" * 100_000, "nested too deeply"),
        ("- " * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_document_is_explained_with_its_place(text: str, message: str) -> None:
    assert message in "\n".join(refused(text))


def test_a_character_may_be_written_as_json_writes_it() -> None:
    text = '{"a": ["\\ud83d\\ude00", {"b": 1, "c": no, "d": !raw x}], "\\ud83d\\ude00": 012}'
    document = read_yaml(text, "f.yaml")
    assert document.value == {
        "a": ["\U0001f600", {"b": 1, "c": "no", "d": {"$raw": "x"}}],
        "\U0001f600": "012",
    }
    assert str(document.locate(("a", 1, "b"))) == "f.yaml:1:30"


def test_an_escape_of_json_is_only_text_outside_double_quotes() -> None:
    text = "a: '\\ud83d\\ude00'\nb: \"\\ud83d\\ude00\"\nc: \\ud83d\\ude00"
    assert read_yaml(text, "f.yaml").value == {
        "a": "\\ud83d\\ude00",
        "b": "\U0001f600",
        "c": "\\ud83d\\ude00",
    }


def test_every_problem_of_a_document_is_found_at_once() -> None:
    assert len(refused("a: .inf\nb: {c: 1, c: 2}\nd: !x 1\n2: 3\n")) == 4


def test_alias_bomb_is_refused_before_anything_expands() -> None:
    levels = ["a: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"b{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 30)]
    assert "more than 2,000,000 values once aliases are followed" in refused("\n".join(levels))[0]


def test_merge_bomb_is_refused_before_anything_expands() -> None:
    levels = ["a0: &a0 {k: 1}"]
    levels += [f"a{i}: &a{i} {{<<: [*a{i - 1}, *a{i - 1}], k{i}: 1}}" for i in range(1, 60)]
    assert "more than 2,000,000 values" in refused("\n".join(levels))[0]


def test_reading_stops_after_a_hundred_problems() -> None:
    assert len(refused("\n".join(f"{i}: x" for i in range(500)))) == yaml_reader.MAX_PROBLEMS


DOCUMENT = read_yaml(
    "base: &base\n  inner: {a: 1}\ntests:\n  - id: x\n    vars:\n      <<: *base\n      r: !raw [7]\n",
    "f.yaml",
)


@pytest.mark.parametrize(
    ("path", "value_place", "key_place"),
    [
        ((), (1, 1), (1, 1)),
        (("tests",), (4, 3), (3, 1)),
        (("tests", 0), (4, 5), (4, 5)),
        (("tests", 0, "id"), (4, 9), (4, 5)),
        (("tests", 0, "vars", "inner", "a"), (2, 14), (2, 11)),
        (("tests", 0, "vars", "r", "$raw", 0), (7, 16), (7, 16)),
        (("tests", 0, "vars", "missing", "deep"), (6, 7), (6, 7)),
        (("tests", 9), (4, 3), (4, 3)),
        (("tests", "no"), (4, 3), (4, 3)),
        ((0,), (1, 1), (1, 1)),
        (("tests", 0, "id", "of", "text"), (4, 9), (4, 9)),
    ],
)
def test_values_and_keys_are_located(
    path: tuple[str | int, ...], value_place: tuple[int, int], key_place: tuple[int, int]
) -> None:
    assert DOCUMENT.locate(path) == Location("f.yaml", *value_place)
    assert DOCUMENT.locate_key(path) == Location("f.yaml", *key_place)


def test_an_empty_document_is_located_at_its_file() -> None:
    assert read_yaml("", "f.yaml").locate(("a",)) == Location("f.yaml")


YAML_PIECES = [
    *"a[]{},'\"|>#1~%\té\r\0\n",
    ": ",
    "  ",
    "- ",
    "&x ",
    "*x",
    "<<",
    "!raw ",
    "!x",
    "? ",
    "---",
    "...",
]
YAML_PIECES += [".inf", "{{ a }}", "\ud800", "\ufeff"]


@given(st.lists(st.sampled_from(YAML_PIECES), max_size=40).map("".join) | st.text(max_size=60))
def test_any_text_is_read_or_refused_with_a_place(text: str) -> None:
    problems = []
    try:
        read_yaml(text, "f.yaml").locate(("a", 0, "b"))
    except SuiteError as error:
        problems = error.problems
    assert all(problem.location for problem in problems)


TEXT = st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]), max_size=40)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(JSON_VALUES)
def test_json_is_yaml(value: Any) -> None:
    assert read_yaml(json.dumps(value), "f.yaml").value == value
