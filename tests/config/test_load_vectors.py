"""The table of right answers about loading, through the door that users take."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evenhand.config.compose import compose
from evenhand.config.findings import Findings
from evenhand.config.sandbox import Sandbox
from evenhand.model.suite import Case, Suite
from support.vectors import row_id, rows, topic
from support.written import load, messages, whole, write

EXPECT_FAIL = {None: None, False: None, True: ""}
"""How `expect_fail` of a finished case reads, for what may be written."""


def checked(row: dict[str, Any], expected_as: str, actual: Any) -> None:
    if expected_as in row["expected"]:
        assert actual == row["expected"][expected_as]


def check_cases(row: dict[str, Any], cases: list[Case]) -> None:
    checked(row, "test_ids", [case.id for case in cases])
    checked(row, "test_tags", [list(case.tags) for case in cases])
    checked(row, "test_vars", [{name: v.authored for name, v in case.vars.items()} for case in cases])
    checked(row, "thresholds", [case.threshold for case in cases])
    checked(row, "cache_salt", [case.cache_salt for case in cases])
    checked(row, "assert_types", [[a.kind for a in case.assertions] for case in cases])
    written = [EXPECT_FAIL.get(reason, reason) for reason in row["expected"].get("expect_fail", ())]
    assert written in ([], [case.expect_fail for case in cases])
    for asserts, case in zip(row["expected"].get("asserts", ()), cases, strict=False):
        for options, assertion in zip(asserts, case.assertions, strict=True):
            assert assertion.kind == options.pop("type")
            assert {name: getattr(assertion, name) for name in options} == options


LOADED = topic("load", "ids", "defaults", "matrix", "csv", "file")


@pytest.mark.parametrize("row", LOADED, ids=row_id)
def test_suite_loads_as_the_table_says(row: dict[str, Any], tmp_path: Path) -> None:
    fragment, files = row["suite_fragment"], row.get("files") or {}
    fragment = fragment if row["expected"].get("reason_contains") == "providrs" else whole(fragment)
    document = json.dumps(fragment)
    if row["expected"]["status"] == "load_error":
        found = "\n".join(messages(tmp_path, document, files))
        assert row["expected"].get("reason_contains", "") in found
    else:
        check_cases(row, list(load(tmp_path, document, files).cases))


@pytest.mark.parametrize("row", topic("merge"), ids=row_id)
def test_layers_merge_as_the_table_says(row: dict[str, Any], tmp_path: Path) -> None:
    path = write(tmp_path, row["suite_fragment"], row["files"])
    findings = Findings()
    composed = compose(path, str(path), Sandbox(tmp_path), findings).value
    findings.raise_if_any()
    assert composed is not None
    checked(row, "composed", composed)
    part = row["expected"].get("composed_contains", {})
    assert {name: composed[name] for name in part} == part


def with_command(fragment: dict[str, Any]) -> dict[str, Any]:
    """The same suite with a provider type that exists from the start: what was a model is a command."""
    texts = [provider["model"] for provider in fragment["providers"]]
    return {**fragment, "providers": [{"id": "p", "type": "exec", "command": texts}]}


@pytest.mark.parametrize("row", topic("env"), ids=row_id)
def test_environment_is_filled_in_as_the_table_says(row: dict[str, Any], tmp_path: Path) -> None:
    fragment, environ = with_command(row["suite_fragment"]), row.get("env") or {}
    if row["expected"]["status"] == "load_error":
        found = "\n".join(messages(tmp_path, fragment, environ=environ))
        assert row["expected"].get("reason_contains", "") in found
        return
    suite = load(tmp_path, fragment, environ=environ)
    assert command_of(suite) == row["expected"]["resolved"]
    check_cases(row, list(suite.cases))
    assert suite.snapshot["providers"][0]["command"] == fragment["providers"][0]["command"]


def command_of(suite: Suite) -> str:
    return str(suite.providers[0].command[0])  # type: ignore[attr-defined]


FIELD = {row["id"]: row for row in rows("field-cases") if row["kind"] in ("yaml", "loading", "csv")}
"""Faults that users of such tools met."""


@pytest.mark.parametrize(
    "name", [name for name, row in FIELD.items() if row["kind"] == "yaml" and "yaml" in row["input"]]
)
def test_faulty_yaml_is_refused(name: str, tmp_path: Path) -> None:
    row = FIELD[name]
    assert row["expected"]["status"] == "load_error"
    found = "\n".join(messages(tmp_path, row["input"]["yaml"]))
    for word in {"yaml-tabs": ["tab"], "yaml-unquoted-template": ["quote the template"]}.get(name, []):
        assert word in found


def test_unknown_assertion_types_are_refused_with_the_nearest_name(tmp_path: Path) -> None:
    row = FIELD["unknown-assert-type"]
    for kind in row["input"]["each_type"]:
        found = messages(tmp_path, {"tests": [{"assert": [{"type": kind, "value": "x"}]}]})
        assert any(f"unknown assertion type {kind!r}; " in message for message in found)


def test_glob_without_a_match_is_refused(tmp_path: Path) -> None:
    found = messages(tmp_path, {"tests": [FIELD["glob-no-match"]["input"]["tests"]]})
    assert "matched no files" in found[0]


def test_assertions_of_the_defaults_stand_in_each_case_once(tmp_path: Path) -> None:
    row = FIELD["default-asserts-duplicated"]["input"]
    suite = load(tmp_path, {"defaults": row["defaults"], "tests": [{"id": str(n)} for n in range(3)]})
    assert [len(case.assertions) for case in suite.cases] == [1, 1, 1]


CSV = {
    "csv-bom-quoted-header",
    "csv-numeric-looking",
    "csv-ragged-rows",
}


@pytest.mark.parametrize("name", sorted(CSV))
def test_tables_load_as_users_expect(name: str, tmp_path: Path) -> None:
    row = FIELD[name]
    files = {"c.csv": row["input"]["csv"]}
    if row["expected"].get("status") == "load_error":
        assert all("c.csv:" in message for message in messages(tmp_path, {"tests": ["file://c.csv"]}, files))
        return
    cases = load(tmp_path, {"tests": ["file://c.csv"]}, files).cases
    assert [{name: v.authored for name, v in case.vars.items()} for case in cases] == row["expected"]["vars"]
