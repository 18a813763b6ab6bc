"""Cases: merged with the defaults, repeated over their matrix, negated alike in every source."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.template import Val
from evenhand.template.engine import is_template
from support.written import load, messages

ASSERT = [{"type": "not-contains", "value": "x", "negate": False, "weight": 2}]


def in_each_source(case: dict[str, Any]) -> list[tuple[list[Any], dict[str, str]]]:
    """The `tests` and files of suites that hold one case, written in every form."""
    line = json.dumps(case)
    quoted = json.dumps(case["assert"]).replace('"', '""')
    return [
        ([case], {}),
        (["file://c.yaml"], {"c.yaml": f"- {line}\n"}),
        (["file://c.yml"], {"c.yml": f"tests: [{line}]\n"}),
        (["file://c.json"], {"c.json": f"[{line}]"}),
        (["file://c.jsonl"], {"c.jsonl": f"{line}\n"}),
        (["file://c.ndjson"], {"c.ndjson": f"{line}\n"}),
        (["file://c.csv"], {"c.csv": f'id,__assert\n{case["id"]},"{quoted}"\n'}),
        (["file://c.tsv"], {"c.tsv": f'id\t__assert\n{case["id"]}\t"{quoted}"\n'}),
        (
            [{"generator": {"command": ["python3", "make.py"]}}],
            {"make.py": f"print({json.dumps(line)})"},
        ),
    ]


@pytest.mark.parametrize("index", range(9))
def test_one_not_prefix_negates_in_every_source_whatever_negate_says(index: int, tmp_path: Path) -> None:
    tests, files = in_each_source({"id": "c", "assert": ASSERT})[index]
    (case,) = load(tmp_path, {"tests": tests}, files).cases
    (assertion,) = case.assertions
    assert (case.id, assertion.kind, assertion.negate, assertion.weight) == ("c", "contains", True, 2)


@pytest.mark.parametrize("index", range(9))
def test_unknown_keys_of_assertions_are_refused_in_every_source(index: int, tmp_path: Path) -> None:
    case = {"id": "c", "assert": [{"type": "contains", "valu": "x"}, {"type": "containz"}]}
    tests, files = in_each_source(case)[index]
    found = "\n".join(messages(tmp_path, {"tests": tests}, files))
    assert "unknown key 'valu'; did you mean 'value'?" in found
    assert "unknown assertion type 'containz'; did you mean 'contains'?" in found


@pytest.mark.parametrize(
    ("assertion", "message"),
    [
        ("contains", "assert[0]: expected a mapping with a `type`, found text 'contains'"),
        ({"contains": "x"}, "assert[0]: key 'type' is missing; write `type: contains`"),
        ({"not-contains": "x"}, "key 'type' is missing; write `type: not-contains`"),
        ({"type": "not-not-contains", "value": "x"}, "unknown assertion type 'not-not-contains'"),
        ({"type": "not-"}, "unknown assertion type 'not-'"),
        ({"type": 5}, "assert[0].type: expected the name of the assertion type, found the number 5"),
        (
            {"type": "contains", "value": "x", "weight": -0.5},
            "a weight is a number of 0 or more, found the number -0.5",
        ),
        (
            {"type": "contains", "value": "x", "weight": "2"},
            "assert[0].weight: expected a number, found text '2'",
        ),
        ({"type": "contains", "value": ""}, "assert[0].value: the text to look for is empty"),
        ({"type": "equals", "value": ["{{ a"]}, "assert[0].value[0]: the template is wrong: "),
        ({"type": "equals", "value": {"x": "{{ 1 | nope }}"}}, "assert[0].value.x: the template is wrong: "),
    ],
)
def test_a_wrong_assertion_is_refused(assertion: Any, message: str, tmp_path: Path) -> None:
    assert message in "\n".join(messages(tmp_path, {"tests": [{"assert": [assertion]}]}))


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (
            {"tags": "smoke"},
            "tests[0].tags: expected a list, found text 'smoke'; write a list, even of one item",
        ),
        ({"vars": ["x"]}, "tests[0].vars: expected a mapping, found a list"),
        ({"vars": {"assert": []}}, "tests[0].vars.assert: `assert` stands under `vars`"),
        ({"assrt": []}, "tests[0].assrt: unknown key 'assrt'; did you mean 'assert'?"),
        ({"asserts": []}, "did you mean 'assert'?"),
        ({"assert": {"type": "contains"}}, "tests[0].assert: expected a list, found a mapping"),
        ({"threshold": "high"}, "tests[0].threshold: expected a number, found text 'high'"),
        ({"expect_fail": 1}, "tests[0].expect_fail: expected true or false or text, found the number 1"),
        ({"id": 7}, "tests[0].id: expected text, found the number 7"),
        ({"matrix": {"a": []}}, "tests[0].matrix.a: the list of values must not be empty"),
        ({"matrix": {"a": "x"}}, "tests[0].matrix.a: expected a list of values, found text 'x'"),
        ({"matrix": {"a": [1] * 400, "b": [1] * 400}}, "160,000 combinations are too many"),
        ({"matrix": {"a": [1]}, "matrix_id": "{{ b }}"}, "tests[0].matrix_id: `matrix_id` does not render"),
        ({"matrix": {"a": [1]}, "matrix_id": "{{ a"}, "tests[0].matrix_id: `matrix_id` does not render"),
        ({"matrix_id": "{{ a }}"}, "tests[0].matrix_id: there is no `matrix` that it could name"),
        ({"cache_salt": "$digest: *.nope"}, "tests[0].cache_salt: '*.nope' matched no files"),
        ({"cache_salt": "$digest: {{ x }}"}, "tests[0].cache_salt: the pattern of `$digest` does not render"),
    ],
)
def test_a_wrong_case_is_refused(case: dict[str, Any], message: str, tmp_path: Path) -> None:
    assert message in "\n".join(messages(tmp_path, {"tests": [case]}))


def test_equal_ids_of_combinations_are_refused(tmp_path: Path) -> None:
    case = {"matrix": {"a": [1, 2]}, "matrix_id": "same"}
    assert "duplicate case id 'same'" in messages(tmp_path, {"tests": [case]})[0]


def test_matrix_values_may_be_templates_raw_and_files(tmp_path: Path) -> None:
    case = {
        "id": "c",
        "vars": {"n": "x"},
        "matrix": {"v": ["{{ n }}", {"$raw": "{{ m }}"}, {"$file": "f.txt"}]},
    }
    cases = list(load(tmp_path, {"tests": [case]}, {"f.txt": "text"}).cases)
    assert [case.id for case in cases] == ["c[v={{ n }}]", "c[v={{ m }}]", 'c[v={"$file":"f.txt"}]']
    assert [case.vars["v"].authored for case in cases] == ["{{ n }}", {"$raw": "{{ m }}"}, "text"]


def test_defaults_fill_what_a_case_leaves_open(tmp_path: Path) -> None:
    defaults = {
        "vars": {"a": "d", "b": "d"},
        "tags": ["x", "y"],
        "threshold": 0.5,
        "cache_salt": "s",
        "history": [{"role": "user", "content": "before"}],
        "assert": [{"type": "is-json"}],
    }
    own = {
        "vars": {"b": "own"},
        "tags": ["y", "z"],
        "threshold": 1,
        "cache_salt": "",
        "history": [],
        "assert": [{"type": "contains", "value": "x"}],
    }
    bare, full = load(tmp_path, {"defaults": defaults, "tests": [{}, own]}).cases
    assert (bare.tags, bare.threshold, bare.cache_salt, len(bare.history)) == (("x", "y"), 0.5, "s", 1)
    assert (full.tags, full.threshold, full.cache_salt, full.history) == (("y", "z", "x"), 1, "", ())
    assert full.vars == {"a": Val("d"), "b": Val("own")}
    assert [assertion.kind for assertion in full.assertions] == ["is-json", "contains"]
    assert bare.assertions[0] is full.assertions[0]


@pytest.mark.parametrize(
    ("written", "reason"), [(True, ""), (False, None), ("known bug", "known bug"), ("", ""), (None, None)]
)
def test_expectations_of_failure(written: Any, reason: str | None, tmp_path: Path) -> None:
    (case,) = load(tmp_path, {"tests": [{"expect_fail": written}]}).cases
    assert case.expect_fail == reason


@pytest.mark.parametrize(
    "key", ["expect_fail", "only_providers", "skip_providers", "matrix", "id", "description"]
)
def test_defaults_take_no_key_that_belongs_to_one_case(key: str, tmp_path: Path) -> None:
    assert f"defaults.{key}: unknown key {key!r}" in messages(tmp_path, {"defaults": {key: []}})[0]


def test_a_problem_in_inherited_defaults_points_to_their_own_file(tmp_path: Path) -> None:
    files = {"base.yaml": "defaults:\n  assert:\n    - type: contains\n      valu: x\n"}
    text = "extends: base.yaml\nproviders: [{type: echo}]\ndefaults:\n  assert: [{type: containz}]\n"
    assert messages(tmp_path, text, files) == [
        "base.yaml:3:7: defaults.assert[0]: key 'value' is missing; text to look for",
        "base.yaml:4:7: defaults.assert[0].valu: unknown key 'valu'; did you mean 'value'?",
        "evenhand.yaml:4:19: defaults.assert[1].type: unknown assertion type 'containz'; did you mean 'contains'?",
    ]


def test_a_row_of_a_table_is_named_with_file_and_line(tmp_path: Path) -> None:
    files = {"c.csv": 'q,__assert\na,"[{""type"": ""containz""}]"\n'}
    (found,) = messages(tmp_path, {"tests": ["file://c.csv"]}, files)
    assert found.startswith("c.csv:2: assert[0].type: unknown assertion type 'containz'")


def test_digests_of_files_salt_a_case(tmp_path: Path) -> None:
    files = {"a.md": "hello", "b.md": "world"}
    tests = [
        {"id": "1", "vars": {"f": "a"}, "cache_salt": "$digest: {{ f }}.md"},
        {"id": "2", "cache_salt": "$digest: a.md"},
        {"id": "3", "matrix": {"f": ["a", "b"]}, "cache_salt": "$digest: {{ f }}.md"},
    ]
    one, two, *repeated = (case.cache_salt for case in load(tmp_path, {"tests": tests}, files).cases)
    assert one == two == repeated[0] != repeated[1]
    assert str(one).startswith("blake3:")


VALUES = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), max_size=8
).filter(lambda text: not is_template(text))
"""Texts that mean themselves wherever they stand."""
ROWS = st.lists(
    st.fixed_dictionaries(
        {"id": st.uuids().map(str), "vars": st.fixed_dictionaries({"q": VALUES, "a": VALUES})},
        optional={
            "tags": st.lists(st.sampled_from(["x", "y"]), unique=True, min_size=1),
            "description": VALUES.filter(str.strip),
            "threshold": st.sampled_from([0.25, 0.5, 1.0]),
        },
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda row: str(row["id"]),
)


def shown(folder: Path, tests: list[Any], files: dict[str, str]) -> list[Any]:
    cases = load(folder, {"tests": tests}, files).cases
    return [
        (c.id, c.tags, c.description, c.threshold, {n: v.authored for n, v in c.vars.items()}) for c in cases
    ]


@settings(max_examples=30, deadline=None)
@given(rows=ROWS)
def test_every_form_of_a_suite_loads_to_equal_cases(
    rows: list[dict[str, Any]], tmp_path_factory: Any
) -> None:
    folder = tmp_path_factory.mktemp("forms")
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    written = shown(folder, [*rows], {})
    assert written == shown(folder, ["file://c.json"], {"c.json": f"[{','.join(lines)}]"})
    assert written == shown(folder, ["file://c.jsonl"], {"c.jsonl": "\n".join(lines)})
    assert written == shown(folder, ["file://c.yaml"], {"c.yaml": f"tests: [{', '.join(lines)}]"})
