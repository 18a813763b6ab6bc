"""Suites that a caller of the library gives as mappings, with functions in them."""

from __future__ import annotations

import gc
import json
import weakref
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand import Outcome, SuiteError, load_suite, run_suite
from evenhand.model.outcome import Status
from evenhand.model.result import CaseResult

ECHO = {"providers": [{"type": "echo"}], "prompts": [{"id": "p", "template": "{{ q }}"}]}


def judged(output: str, *asserts: Any, **case: Any) -> CaseResult:
    """The result of one case whose output is this text."""
    suite = load_suite(
        {**ECHO, "tests": [{"id": "a", "vars": {"q": output}, "assert": list(asserts), **case}]}
    )
    (result,) = run_suite(suite, save=False).cases()
    return result


def with_context(output: str, context: dict[str, Any]) -> dict[str, Any]:
    return {"pass": context["vars"]["q"] == output, "score": 0.9, "reason": "as asked"}


async def slowly(output: str) -> bool:
    return output == "Hello world"


class Longer:
    """A callable object."""

    def __init__(self, than: int) -> None:
        self.than = than

    def __call__(self, output: str) -> bool:
        return len(output) > self.than


@pytest.mark.parametrize(
    ("check", "status", "score"),
    [
        (lambda output: "world" in output, "pass", 1.0),
        (lambda output: "moon" in output, "fail", 0.0),
        ({"type": "python", "value": lambda output: 0.4, "threshold": 0.5}, "fail", 0.4),
        ({"type": "python", "value": len, "threshold": 3}, "pass", 11.0),
        (with_context, "pass", 0.9),
        (slowly, "pass", 1.0),
        (Longer(3), "pass", 1.0),
        (Longer(30), "fail", 0.0),
        (lambda output: {"pass": True, "score": 0.7, "reason": "fn"}, "pass", 0.7),
        (lambda output: Outcome(status=Status.FAIL, score=0.2, reason="no"), "fail", 0.2),
        ({"type": "not-python", "value": lambda output: "moon" in output}, "pass", 1.0),
        (lambda output: None, "fail", 0.0),
        (lambda output: 1 / 0, "fail", 0.0),
        ({"type": "not-python", "value": lambda output: 1 / 0}, "fail", 0.0),
    ],
)
def test_a_function_is_a_check(check: Any, status: str, score: float) -> None:
    (found,) = judged("Hello world", check).asserts
    assert (found.status.value, found.score) == (status, score)


def test_a_function_gets_the_output_as_text_whatever_it_was() -> None:
    seen = []

    def answer(request: Any) -> dict[str, int]:
        return {"a": 1}

    def check(output: str) -> bool:
        seen.append(output)
        return json.loads(output) == {"a": 1}

    suite = {"providers": [{"id": "app", "type": "python", "target": answer}], "tests": [{"assert": [check]}]}
    assert run_suite(load_suite(suite), save=False).passed
    assert seen == ['{"a":1}']


def test_functions_stand_in_groups_defaults_and_transforms() -> None:
    suite = {
        **ECHO,
        "defaults": {"assert": [lambda output: output.isupper()]},
        "tests": [
            {
                "vars": {"q": "hello"},
                "transform": lambda output: output.upper(),
                "assert": [
                    {"type": "any-of", "assert": [lambda output: False, lambda output: output == "HELLO"]},
                    {"type": "equals", "value": "5", "transform": lambda output: str(len(output))},
                ],
            }
        ],
    }
    (result,) = run_suite(load_suite(suite), save=False).cases()
    assert (result.status, result.output, result.raw_output) == ("pass", "HELLO", "hello")


def test_functions_of_the_caller_run_in_safe_mode_too() -> None:
    suite = {
        **ECHO,
        "runner": {"safe_mode": True},
        "tests": [{"vars": {"q": "x"}, "assert": [lambda output: True]}],
    }
    assert run_suite(load_suite(suite), save=False).passed


def test_a_result_names_the_function_and_no_other_shares_its_name() -> None:
    checks = [lambda output, than=than: len(output) > than for than in (1, 100)]
    one, two = judged("Hello world", *checks).asserts
    names = [found.criteria["value"] for found in (one, two)]
    assert all(name.startswith("function://") and "<lambda>#" in name for name in names)
    assert (one.status, two.status, len(set(names))) == ("pass", "fail", 2)


def test_a_changed_function_makes_another_question_of_checks() -> None:
    suites = [
        load_suite({"providers": [{"type": "echo"}], "tests": [{"id": "a", "assert": [f]}]})
        for f in (slowly, with_context)
    ]
    assert suites[0].digests["asserts"] != suites[1].digests["asserts"]
    assert suites[0].digests["tests"] == suites[1].digests["tests"]


@pytest.mark.parametrize(
    ("suite", "message"),
    [
        ({"providers": [{"type": "ecko"}]}, "suite: providers[0].type: unknown provider type 'ecko'"),
        ({"providers": [{"type": "echo", "id": print}]}, "suite: providers[0].id: a function stands here"),
        (
            {**ECHO, "tests": [{"assert": [{"type": "contains", "value": len}]}]},
            "suite: tests[0].assert[0].value: a function stands here, where none can; it can be an entry of `assert`",
        ),
        (
            {**ECHO, "tests": [{"assert": [{"type": "javascript", "value": len}]}]},
            "suite: tests[0].assert[0].value: a function stands here",
        ),
        ({**ECHO, 1: 2}, "suite: keys are text, found 1"),
        ({**ECHO, "tests": [{"vars": {"q": {1, 2}}}]}, "suite: tests[0].vars.q: a suite holds text, numbers"),
        (
            {**ECHO, "tests": [{"assert": [{"type": "python", "value": "function://x:y#0"}]}]},
            "suite: tests[0].assert[0].value: no function was handed over as 'function://x:y#0'; give it in Python",
        ),
        (
            {"providers": [{"type": "python", "target": "function://x:y#0"}]},
            "no function was handed over as 'function://x:y#0'",
        ),
    ],
)
def test_what_is_wrong_with_a_mapping_is_told_with_its_place(suite: dict[Any, Any], message: str) -> None:
    with pytest.raises(SuiteError) as caught:
        load_suite(suite)
    assert message in str(caught.value.problems[0])


def test_a_suite_that_contains_itself_is_refused() -> None:
    suite: dict[str, Any] = {**ECHO}
    suite["x-self"] = suite
    with pytest.raises(SuiteError, match="levels"):
        load_suite(suite)


def test_references_start_from_the_folder_that_is_named(tmp_path: Path) -> None:
    (tmp_path / "cases.jsonl").write_text('{"id": "one", "vars": {"q": "x"}}\n', encoding="utf-8")
    suite = load_suite({**ECHO, "tests": ["file://cases.jsonl"]}, directory=tmp_path)
    assert [case.id for case in suite.cases] == ["one"]


cases = st.fixed_dictionaries(
    {"id": st.sampled_from(["a", "b"])},
    optional={
        "vars": st.dictionaries(
            st.sampled_from("qr"), st.integers() | st.text("ab ", max_size=6), max_size=2
        ),
        "tags": st.lists(st.sampled_from(["x", "y"]), max_size=2, unique=True),
        "assert": st.lists(
            st.builds(lambda value: {"type": "contains", "value": value}, st.sampled_from(["a", "b"])),
            max_size=2,
        ),
        "threshold": st.floats(0.1, 1),
    },
)


@settings(max_examples=40, deadline=None)
@given(tests=st.lists(cases, max_size=2, unique_by=lambda case: case["id"]))
def test_a_mapping_and_a_file_with_the_same_content_load_to_equal_cases(
    tests: list[Any], tmp_path_factory
) -> None:
    document = {"version": 1, "providers": [{"type": "echo"}], "tests": tests}
    folder = tmp_path_factory.mktemp("suite")
    (folder / "evenhand.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")

    def loaded(source: Any) -> list[Any]:
        return [
            (case.id, case.tags, case.vars, case.assertions, case.threshold)
            for case in load_suite(source, directory=folder).cases
        ]

    assert loaded(document) == loaded(folder)


def test_functions_live_as_long_as_the_suite_that_they_were_given_in() -> None:
    class Check:
        def __call__(self, output: str) -> bool:
            return bool(output)

    check = Check()
    left = weakref.ref(check)
    suite = load_suite({**ECHO, "tests": [{"vars": {"q": "x"}, "assert": [check]}]})
    del check
    gc.collect()
    assert left() is not None
    assert run_suite(suite, save=False).passed
    del suite
    gc.collect()
    assert left() is None
