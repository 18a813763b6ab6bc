"""What a suite's file becomes, and what it is told when it is wrong."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evenhand.config import case_stream
from evenhand.config.load import load_suite
from evenhand.config.locate_suite import SUITE_NAMES
from evenhand.errors import SuiteError
from evenhand.template import Val
from support.written import PROVIDER, load, messages, problems, warnings, write

QUESTION = {"prompts": [{"id": "qa", "template": "Q: {{ q }}"}]}
MIRROR = [{"type": "echo"}]


def test_a_whole_suite_is_finished(tmp_path: Path) -> None:
    text = """
version: 1
project: shop
suite: answers
description: what we promise
providers:
  - {id: app, type: exec, command: [./app.sh]}
  - type: echo
prompts:
  - {id: qa, label: Question, template: "Q: {{ q }}"}
tools:
  - {name: find, description: looks things up, input_schema: {type: object}}
defaults:
  vars: {tone: warm}
  tags: [all]
  threshold: 0.5
  assert:
    - {type: contains, value: x}
runner: {retries: 4, concurrency: 3, timeout_ms: 100}
tests:
  - id: one
    description: first
    tags: [smoke]
    vars: {q: hello}
    only_providers: [app]
    expect_fail: "#12"
    assert:
      - {type: not-equals, value: "{{ q }}", weight: 2}
"""
    suite = load(tmp_path, text)
    assert (suite.project, suite.suite, suite.description) == ("shop", "answers", "what we promise")
    assert [provider.id for provider in suite.providers] == ["app", "echo"]
    assert [(prompt.id, prompt.label, prompt.template) for prompt in suite.prompts] == [
        ("qa", "Question", "Q: {{ q }}")
    ]
    assert [tool.name for tool in suite.tools] == ["find"]
    assert (suite.runner.retries.max, suite.runner.concurrency, suite.runner.timeout_ms) == (4, 3, 100)
    (case,) = suite.cases
    assert (case.id, case.description, case.tags) == ("one", "first", ("smoke", "all"))
    assert dict(case.vars) == {"tone": Val("warm"), "q": Val("hello")}
    assert [(a.kind, a.negate, a.weight) for a in case.assertions] == [
        ("contains", False, 1),
        ("equals", True, 2),
    ]
    assert (case.threshold, case.only_providers, case.expect_fail) == (0.5, ("app",), "#12")
    assert str(case.location) == f"{tmp_path}/evenhand.yaml:21:5"
    assert suite.name == "answers"


@pytest.mark.parametrize("name", SUITE_NAMES)
def test_a_folder_means_the_suite_in_it(name: str, tmp_path: Path) -> None:
    write(tmp_path, {"providers": MIRROR}).rename(tmp_path / name)
    assert load_suite(tmp_path).path == tmp_path / name


def test_the_own_name_is_preferred_in_a_folder(tmp_path: Path) -> None:
    write(tmp_path, {"providers": MIRROR}, {"domarinn.yaml": "version: 9"})
    assert load_suite(str(tmp_path)).path.name == "evenhand.yaml"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (
            "",
            "the folder holds no suite (looked for evenhand.yaml, evenhand.yml, domarinn.yaml and domarinn.yml)",
        ),
        ("nope.yaml", "nope.yaml: cannot be read: no such file or directory"),
        ("a\0b", "the path cannot be used"),
        ("x" * 5000, "the path cannot be used"),
    ],
)
def test_a_path_without_a_suite_is_refused(path: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(SuiteError) as caught:
        load_suite(tmp_path / path)
    assert message in str(caught.value)


def test_a_pipe_in_the_place_of_a_suite_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "evenhand.yaml")
    with pytest.raises(SuiteError, match="is a FIFO"):
        load_suite(tmp_path / "evenhand.yaml")


def test_the_working_folder_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"providers": MIRROR, "nope": 1})
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SuiteError, match=r"^evenhand\.yaml:1:35: nope: unknown key 'nope'"):
        load_suite()


ASSERT_UNDER_VARS = (
    "evenhand.yaml:13:18: tests[0].vars.assert: `assert` stands under `vars`, where nothing would check it; "
    "move it out of `vars`"
)
NO_ENTRY = (
    "evenhand.yaml:16:5: tests[2]: expected a case, or a file:// reference to a file with cases, "
    "found the number 7"
)


def test_every_problem_is_found_at_once_in_the_order_of_places(tmp_path: Path) -> None:
    text = """version: 1
providrs: []
providers:
  - {type: ecko}
  - {type: exec, comand: [x]}
prompts:
  - {id: qa, template: "{{ q }} {{"}
runner: {concurrncy: 3}
defaults:
  assert:
    - {type: contains, valu: x}
tests:
  - vars: {q: 1, assert: []}
    asserts: []
  - file://none/*.yaml
  - 7
"""
    assert messages(tmp_path, text) == [
        "evenhand.yaml:2:1: providrs: unknown key 'providrs'; did you mean 'providers'?",
        "evenhand.yaml:4:12: providers[0].type: unknown provider type 'ecko'; did you mean 'echo'?",
        "evenhand.yaml:5:5: providers[1]: key 'command' is missing; the program and its arguments",
        "evenhand.yaml:5:18: providers[1].comand: unknown key 'comand'; did you mean 'command'?",
        "evenhand.yaml:7:24: prompts[0].template: the template is wrong: this tag does not end; close it with `}}`",
        "evenhand.yaml:8:10: runner.concurrncy: unknown key 'concurrncy'; did you mean 'concurrency'?",
        "evenhand.yaml:11:7: defaults.assert[0]: key 'value' is missing; text to look for",
        "evenhand.yaml:11:24: defaults.assert[0].valu: unknown key 'valu'; did you mean 'value'?",
        ASSERT_UNDER_VARS,
        "evenhand.yaml:14:5: tests[0].asserts: unknown key 'asserts'; did you mean 'assert'?",
        "evenhand.yaml:15:5: tests[1]: 'none/*.yaml' matched no files; check the pattern and the names of the folders",
        NO_ENTRY,
    ]


def test_of_a_thousand_problems_a_hundred_are_listed(tmp_path: Path) -> None:
    found = messages(tmp_path, {"tests": [{"id": str(n), "nope": 1} for n in range(1_000)]})
    assert len(found) == 101
    assert found[-1] == "only the first 100 of 1,000 problems are listed"


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (
            {"version": 2},
            "version 2 of the suite language is not known, this evenhand knows 1; upgrade evenhand",
        ),
        ({"version": 0}, "write `version: 1`"),
        ({"version": "1"}, "version: expected a whole number, found text '1'"),
        ({"providers": []}, "the suite has no `providers`; name at least one system under test"),
        ({"providers": None}, "providers: expected a list, found null"),
        ({"providers": {"type": "echo"}}, "providers: expected a list, found a mapping"),
        ({"providers": [5]}, "providers[0]: expected a mapping with a `type`, found the number 5"),
        ({"providers": [{"id": "x"}]}, "providers[0]: key 'type' is missing; it names the provider type"),
        ({"providers": [{"typ": "echo"}]}, "did you write 'typ' for it?"),
        ({"providers": [{"type": ["echo"]}]}, "type: expected the name of the provider type, found a list"),
        ({"providers": [{"type": "not-echo"}]}, "unknown provider type 'not-echo'"),
        ({"prompts": [{"template": "x"}]}, "prompts[0]: key 'id' is missing"),
        ({"prompts": ["file://p.txt"]}, "prompts[0]: expected a mapping, found text 'file://p.txt'"),
        ({"prompts": [{"id": "a"}]}, "prompt 'a' needs either `template` or `messages`"),
        (
            {"prompts": [{"id": "a", "template": "x", "messages": []}]},
            "needs either `template` or `messages`",
        ),
        ({"runner": {"retries": {"max": 2, "min": 1}}}, "runner.retries.min: unknown key 'min'"),
        ({"runner": {"retries": True}}, "runner.retries: expected a mapping, found true"),
        ({"runner": {"rate_limit": {"rpm": 1}}}, "runner.rate_limit.rpm: unknown key 'rpm'"),
        (
            {"tools": [{"name": "a"}, {"name": "a"}]},
            "tools[1]: duplicate tool 'a', first at evenhand.yaml:1",
        ),
        ({"tools": [{"name": "a", "input_schema": {"type": "objekt"}}]}, "tools[0].input_schema: "),
        (
            {"runner": {"refusal_patterns": ["ok", "(x"]}},
            "runner.refusal_patterns[1]: the pattern is wrong: ",
        ),
        ({"env": "HOME"}, "env: expected a list, found text 'HOME'; write a list, even of one item"),
        ({"tests": {}}, "tests: expected a list, found an empty mapping"),
        ({"tests": ["t.yaml"]}, "a source of tests must be a file:// reference, found 't.yaml'"),
        ({"tests": [{"source": "file://x.csv", "templte": True}]}, "tests[0].templte: unknown key"),
        ({"tests": [{"source": "file://x.csv", "template": True}]}, "tests[0].source: no such file"),
        ({"cashe": {}}, "unknown key 'cashe'; did you mean 'cache'?"),
        ({"grader": {}}, "grader: key 'provider' is missing"),
        ({"baseline": {}}, "baseline: key 'branch' is missing"),
    ],
)
def test_a_wrong_part_is_refused(document: dict[str, object], message: str, tmp_path: Path) -> None:
    assert message in "\n".join(messages(tmp_path, document))


def test_keys_that_begin_with_x_are_free_for_anchors(tmp_path: Path) -> None:
    text = """
x-checks: &checks
  - {type: contains, value: a}
providers: [{type: echo}]
tests:
  - assert: *checks
  - assert: *checks
"""
    assert [len(case.assertions) for case in load(tmp_path, text).cases] == [1, 1]


def test_provider_and_prompt_ids_must_differ(tmp_path: Path) -> None:
    document = {
        "providers": [{"type": "echo"}, {"type": "echo"}, {"id": "echo", **PROVIDER, "type": "exec"}],
        "prompts": [{"id": "a", "template": "x"}, {"id": "a", "template": "y"}],
    }
    document["providers"][2]["id"] = "echo"
    found = messages(tmp_path, document)
    assert [message.partition(": ")[2].partition(", first at evenhand.yaml:1:")[0] for message in found] == [
        "providers[1]: duplicate provider id 'echo'",
        "providers[2]: duplicate provider id 'echo'",
        "prompts[1]: duplicate prompt id 'a'",
    ]


def test_case_ids_must_differ_across_all_sources(tmp_path: Path) -> None:
    files = {"a.jsonl": '{"id": "x"}\n{"id": "y"}\n', "b.csv": "id,q\ny,1\n"}
    document = {"tests": [{"id": "x"}, "file://a.jsonl", "file://b.csv"]}
    assert messages(tmp_path, document, files) == [
        "a.jsonl:1:8: id: duplicate case id 'x', first at evenhand.yaml:1:91; give each case its own `id`",
        "b.csv:2: id: duplicate case id 'y', first at a.jsonl:2:1; give each case its own `id`",
    ]


def test_files_of_one_name_get_ids_by_their_path(tmp_path: Path) -> None:
    files = {"a/t.yaml": "- {}\n", "b/t.yaml": "- {}\n", "u.yaml": "- {}\n"}
    suite = load(tmp_path, {"tests": ["file://a/t.yaml", "file://u.yaml", "file://b/t.yaml"]}, files)
    assert [case.id for case in suite.cases] == ["a/t.yaml/0", "u/0", "b/t.yaml/0"]


def test_cases_are_counted_and_can_be_read_again(tmp_path: Path) -> None:
    files = {"a.jsonl": '{"vars": {"q": 1}}\n' * 3}
    suite = load(tmp_path, {"tests": [{"id": "x"}, "file://a.jsonl", {"matrix": {"k": [1, 2]}}]}, files)
    ids = [case.id for case in suite.cases]
    assert ids == ["x", "a/0", "a/1", "a/2", "inline/2[k=1]", "inline/2[k=2]"]
    assert [case.id for case in suite.cases] == ids
    assert len(suite.cases) == 6


def test_cases_of_small_files_stay_as_they_were_checked(tmp_path: Path) -> None:
    suite = load(tmp_path, {"tests": ["file://a.jsonl"]}, {"a.jsonl": '{"id": "x"}\n'})
    (tmp_path / "a.jsonl").unlink()
    assert [case.id for case in suite.cases] == ["x"]
    assert suite.cases.is_held


@pytest.mark.parametrize(
    "line", ['{"vars": {"q": "%s"}}' % ("x" * 3_000), '{"vars": {"q": {"$file": "doc.txt"}}}']
)
def test_cases_that_may_take_much_memory_are_read_again(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(case_stream, "HELD_BYTES", 4_000)
    suite = load(tmp_path, {"tests": ["file://a.jsonl"]}, {"a.jsonl": line, "doc.txt": "text"})
    assert not suite.cases.is_held
    (tmp_path / "a.jsonl").write_text('{"id": "other"}\n')
    assert [case.id for case in suite.cases] == ["other"]


def test_a_file_that_went_bad_since_it_was_checked_stops_the_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(case_stream, "HELD_BYTES", 0)
    suite = load(tmp_path, {"tests": ["file://a.jsonl"]}, {"a.jsonl": '{"vars": {}}\n'})
    (tmp_path / "a.jsonl").write_text('{"vars": {}}\n{"nope": 1}\n')
    with pytest.raises(SuiteError, match=r"a\.jsonl:2:10: nope: unknown key 'nope'"):
        list(suite.cases)
    (tmp_path / "a.jsonl").write_text("{\n")
    with pytest.raises(SuiteError, match=r"a\.jsonl:1"):
        list(suite.cases)


def test_values_of_data_files_are_data_unless_the_source_says_otherwise(tmp_path: Path) -> None:
    files = {
        "a.csv": "q\n{{ env.X }}\n",
        "b.csv": "q\n{{ env.X }} again\n",
        "c.yaml": "- vars: {q: '{{ env.X }} there'}\n",
    }
    document = {
        "env": ["X"],
        "tests": ["file://a.csv", {"source": "file://b.csv", "template": True}, "file://c.yaml"],
    }
    suite = load(tmp_path, document, files, environ={"X": "1"})
    assert [case.vars["q"].is_constant for case in suite.cases] == [True, False, False]
    assert [str(warning.message) for warning in suite.warnings if "looks like" in warning.message] == [
        "looks like a template, found '{{ env.X }}', but values of data files are sent as they are"
    ]


def test_marks_work_in_every_source(tmp_path: Path) -> None:
    files = {
        "a.jsonl": '{"vars": {"f": {"$file": "doc.txt"}, "r": {"$raw": "{{ x }}"}}}\n',
        "b.yaml": "- vars: {f: !file doc.txt, r: !raw '{{ x }}'}\n",
        "doc.txt": "text of the file",
    }
    suite = load(tmp_path, {"tests": ["file://a.jsonl", "file://b.yaml"]}, files)
    for case in suite.cases:
        assert case.vars["f"].authored == "text of the file"
        assert case.vars["r"].authored == {"$raw": "{{ x }}"}
        assert case.vars["r"].is_constant


def test_a_missing_file_of_a_value_is_reported_at_the_mark(tmp_path: Path) -> None:
    text = "providers: [{type: echo}]\ntests:\n  - vars:\n      a: !file nope.txt\n"
    (found,) = problems(tmp_path, text)
    assert (found.path, found.location and found.location.line) == (("tests", 0, "vars", "a"), 4)


def test_schemas_and_values_of_assertions_may_be_files(tmp_path: Path) -> None:
    files = {"s.json": '{"type": "object"}', "v.txt": "expected"}
    assertions = [
        {"type": "contains-json", "schema": {"$file": "s.json"}},
        {"type": "equals", "value": {"$file": "v.txt"}},
    ]
    (case,) = load(tmp_path, {"tests": [{"assert": assertions}]}, files).cases
    schema, value = case.assertions
    assert schema.schema == {"type": "object"}  # type: ignore[attr-defined]
    assert value.value.authored == "expected"  # type: ignore[attr-defined]


def test_warnings_are_kept_in_the_order_of_places(tmp_path: Path) -> None:
    document = {**QUESTION, "tests": [{"vars": {"q": "1"}}, {"vars": {"q": "2"}, "expect_fail": True}]}
    assert [warning.partition(": ")[2] for warning in warnings(tmp_path, document)] == [
        "tests[0]: the case has no assertions, so nothing is checked; add `assert`",
        "tests[1].expect_fail: the case is expected to fail, but has no assertion that could",
    ]


def test_the_snapshot_holds_placeholders_and_no_cases(tmp_path: Path) -> None:
    provider = {"id": "p", "type": "exec", "command": ["${env:SECRET}"]}
    document = {"providers": [provider], "x-note": 1, "tests": [{"id": "a"}, "file://t.yaml"]}
    suite = load(tmp_path, document, {"t.yaml": "[]"}, environ={"SECRET": "s3cr3t"})
    assert suite.snapshot == {"version": 1, "providers": [provider], "tests": ["file://t.yaml"]}


def test_suite_confined_to_its_folder_neither_reads_outside_nor_runs_anything(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "base.yaml").write_text("providers: [{type: echo}]\n")
    folder = tmp_path / "evals"
    folder.mkdir()
    text = "extends: ../base.yaml\n"
    assert load(folder, text).providers[0].id == "echo"
    assert "refuses to read outside the suite's folder" in messages(folder, text, confined=True)[0]
    assert load(folder, text, confined=True, allow_outside=[tmp_path]).providers[0].id == "echo"
    generated = {"tests": [{"generator": {"command": ["touch", "ran"]}}]}
    assert "generators run code" in "".join(messages(folder, generated, confined=True))
    serving = {"servers": [{"command": ["touch", "ran"], "url": "http://127.0.0.1:1"}]}
    assert "servers are programs" in "".join(messages(folder, serving, confined=True))
    assert not (folder / "ran").exists()


def test_a_server_has_an_address_that_can_be_connected_to(tmp_path: Path) -> None:
    servers = [{"command": ["app"], "url": url} for url in ("http://:80", "http://h:99999", "http://h:0")]
    found = messages(tmp_path, {"servers": servers})
    assert [": no address of a server, found" in message for message in found] == [True] * 3
    assert "servers[1].url" in found[1]
