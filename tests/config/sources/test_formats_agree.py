"""A case means the same in whatever format it is written."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from evenhand.model.suite import Case
from evenhand.template import Engine, Scope
from support.case_files import read_file
from support.json_values import json_values
from support.written import load

# JSON is YAML but for characters that it escapes as two halves.
TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"], max_codepoint=0xFFFF), max_size=10)
WORD = TEXT.filter(lambda text: text and text.strip() == text and not text.startswith("{"))
TAG = st.from_regex(r"[a-zé]{1,6}", fullmatch=True)
CASES = st.lists(
    st.fixed_dictionaries(
        {
            "id": WORD,
            "description": WORD,
            "tags": st.lists(TAG, min_size=1, max_size=3),
            "vars": st.fixed_dictionaries(
                {
                    "q": WORD,
                    "n": st.integers(),
                    "p": st.floats(allow_nan=False, allow_infinity=False),
                    "d": json_values(4, TEXT),
                }
            ),
            "threshold": st.floats(0, 1),
            "cache_salt": WORD,
            "expect_fail": st.booleans() | WORD.filter(lambda text: text.lower() not in ("true", "false")),
            "assert": st.lists(
                st.fixed_dictionaries({"type": st.just("contains"), "value": WORD}), max_size=2
            ),
            "history": st.lists(
                st.fixed_dictionaries({"role": st.just("user"), "content": WORD}), max_size=2
            ),
        }
    ),
    max_size=3,
)
RESERVED = ["id", "description", "tags", "threshold", "cache_salt", "expect_fail", "__assert", "__history"]
HEADER = [*RESERVED, "q", "n:int", "p:float", "d:json"]


def row(case: dict[str, Any]) -> list[str]:
    expect_fail = case["expect_fail"]
    values = case["vars"]
    return [
        case["id"],
        case["description"],
        ",".join(case["tags"]),
        repr(case["threshold"]),
        case["cache_salt"],
        expect_fail if isinstance(expect_fail, str) else str(expect_fail),
        json.dumps(case["assert"]),
        json.dumps(case["history"]),
        values["q"],
        str(values["n"]),
        repr(values["p"]),
        json.dumps(values["d"]),
    ]


def table(cases: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows([HEADER, *map(row, cases)])
    return text.getvalue()


def contents(cases: list[dict[str, Any]]) -> dict[str, str]:
    """The cases in every format."""
    return {
        "yaml": json.dumps(cases),
        "json": json.dumps({"tests": cases}),
        "jsonl": "".join(json.dumps(case) + "\n" for case in cases),
        "csv": table(cases),
    }


@settings(max_examples=40, deadline=None)
@given(CASES.filter(bool))
def test_a_suite_loads_to_equal_cases_whatever_the_format_of_its_test_file(
    cases: list[dict[str, Any]],
) -> None:
    different = [{**case, "id": f"{number} {case['id']}"} for number, case in enumerate(cases)]
    loaded = []
    for extension, content in contents(different).items():
        with tempfile.TemporaryDirectory() as folder:
            suite = load(
                Path(folder), {"tests": [f"file://same.{extension}"]}, {f"same.{extension}": content}
            )
            loaded.append([shown(case) for case in suite.cases])
    assert all(each == loaded[0] for each in loaded)
    assert [case["id"] for case in loaded[0]] == [case["id"] for case in different]


def shown(case: Case) -> dict[str, Any]:
    """Everything that a case says, but for its place, with values as they render."""
    fields = {**structs.asdict(case), "location": None}
    engine, scope = Engine(), Scope({})
    fields["vars"] = {name: value.render(engine, scope) for name, value in case.vars.items()}
    fields["history"] = [(turn.role, turn.content.render(engine, scope)) for turn in case.history]
    return fields


@given(CASES)
def test_cases_written_in_every_format_are_equal(
    tmp_path_factory: pytest.TempPathFactory, cases: list[dict[str, Any]]
) -> None:
    folder = tmp_path_factory.getbasetemp()
    for extension, content in contents(cases).items():
        read = read_file(folder, f"same.{extension}", content)
        assert not read.problems
        assert read.documents == cases
        assert [case.auto_id for case in read.cases] == [f"same/{index}" for index in range(len(cases))]
