"""What is wrong or suspicious about a case, given the rest of the suite."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from evenhand.config.case_checks import CaseChecker
from evenhand.config.defaults import Defaults
from evenhand.config.findings import Findings, Place
from evenhand.config.yaml_reader import read_yaml
from evenhand.model.assertion import Assertion
from evenhand.model.provider import Provider
from evenhand.model.suite import Case
from evenhand.template import Engine
from support.written import load, messages, problems, warnings

CHECK = {"assert": [{"type": "is-json"}]}
QA = {"prompts": [{"id": "qa", "template": "Q: {{ q }}"}]}
TWO = {"providers": [{"id": "app", "type": "exec", "command": ["true"]}, {"type": "echo"}]}


NEVER_LOOKS = (
    "tests[0].assert[0].value: the expression never looks at the answer; use `output` or `output_json` in it"
)
CANNOT_REPORT = (
    "tests[0].assert[0]: provider 'echo' cannot report tool calls, so that this check always fails; "
    "leave it out with `skip_providers`"
)


def of(case: dict[str, Any], **suite: Any) -> dict[str, Any]:
    return {**suite, "tests": [{**CHECK, **case}]}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (
            of({}, **QA),
            "tests[0]: prompt 'qa' needs the variable 'q', which the case does not define; add it to `vars`",
        ),
        (of({"vars": {"qq": 1}}, **QA), "did you mean 'qq'?"),
        (of({"vars": {"a": "{{ b }}"}}), "tests[0]: var 'a' needs the variable 'b'"),
        (of({"vars": {"a": {"x": ["{{ b }}"]}}}), "tests[0]: var 'a' needs the variable 'b'"),
        (
            of({"assert": [{"type": "equals", "value": "{{ b }}"}]}),
            "`value` of 'equals' needs the variable 'b'",
        ),
        (of({"history": [{"role": "user", "content": "{{ b }}"}]}), "the history needs the variable 'b'"),
        (of({"vars": {"a": "{{ a }}"}}), "tests[0].vars.a: the vars refer to each other in a circle: a → a"),
        (of({"vars": {"a": "{{ b }}", "b": "{{ c }}", "c": "{{ a }}"}}), "in a circle: a → b → c → a"),
        (of({"vars": {"a": "{{ 1 +"}}), "tests[0].vars.a: the template is wrong"),
        (
            of({"only_providers": ["ap"]}, **TWO),
            "only_providers[0]: no provider has the id 'ap'; did you mean 'app'?",
        ),
        (of({"skip_providers": ["echo", "x"]}, **TWO), "skip_providers[1]: no provider has the id 'x'"),
        (of({"threshold": 1.5}), "tests[0].threshold: a threshold is between 0 and 1, found the number 1.5"),
        (
            of({"assert": [{"type": "not-tool-call", "name": "find"}]}, providers=[{"type": "echo"}]),
            "tests[0].assert[0]: provider 'echo' cannot report tool calls, so that this check would always hold",
        ),
        (
            of({"assert": [{"type": "any-of", "assert": [{"type": "not-trace-error-spans"}]}]}),
            "`trace-error-spans` needs spans, and the suite receives none; set `tracing: {enabled: true}`",
        ),
        (of({"threshold": -1}), "a threshold is between 0 and 1, found the number -1"),
        (
            of({}, defaults={"threshold": 7}),
            "tests[0].threshold: a threshold is between 0 and 1, found the number 7",
        ),
        (
            of({"threshold": 0.5, "assert": [{"type": "is-json", "weight": 0}]}),
            "every assertion weighs 0, so that the threshold is always met",
        ),
    ],
)
def test_what_cannot_work_is_refused(document: dict[str, Any], message: str, tmp_path: Path) -> None:
    assert message in "\n".join(messages(tmp_path, document))


@pytest.mark.parametrize(
    "document",
    [
        of({"vars": {"q": 1}}, **QA),
        of({}, defaults={"vars": {"q": 1}}, **QA),
        of({"matrix": {"q": [1, 2]}}, **QA),
        of({"vars": {"a": "{{ b }}", "b": "{{ env.X }}"}}, env=["X"]),
        of({"vars": {"a": {"$raw": "{{ nope }}"}}}),
        of({"vars": {"a": "x", "b": "{{ a }}{{ a }}", "c": "{{ b }}{{ a }}"}}),
        of({"assert": [{"type": "is-json", "weight": 0}]}),
        of({"threshold": 0.5, "assert": [{"type": "is-json", "weight": 0}, {"type": "is-json"}]}),
        {"tests": [{"threshold": 0.5}]},
    ],
)
def test_what_works_is_not_refused(document: dict[str, Any], tmp_path: Path) -> None:
    load(tmp_path, document, environ={"X": "1"})


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"tests": [{}]}, ["tests[0]: the case has no assertions, so nothing is checked; add `assert`"]),
        (
            {"tests": [{"expect_fail": "x"}]},
            ["tests[0].expect_fail: the case is expected to fail, but has no assertion that could"],
        ),
        (
            of({"threshold": 0}),
            ["tests[0].threshold: a threshold of 0 is always met; set the score that must be reached"],
        ),
        (of({"only_providers": ["app"]}, **TWO), ["providers[1]: no case is put to provider 'echo'"]),
        (of({"skip_providers": ["app"]}, **TWO), ["providers[0]: no case is put to provider 'app'"]),
        (
            of({"history": [{"role": "system", "content": "a"}, {"role": "assistant", "content": "b"}]}),
            ["tests[0].history: the conversation begins with a turn of the assistant or a tool"],
        ),
        (
            of({"history": [{"role": "user", "content": " "}]}),
            ["tests[0].history[0]: the turn has no content"],
        ),
        (
            of(
                {
                    "vars": {"q": 1},
                    "assert": [{"type": "jinja", "value": "qq in output and output_json.x and vars.y"}],
                }
            ),
            ["tests[0]: 'jinja' needs the variable 'qq', which the case does not define; did you mean 'q'?"],
        ),
        (of({"assert": [{"type": "jinja", "value": "q is defined and output"}]}), []),
        (
            of({"assert": [{"type": "jinja", "value": "1 < 2"}]}),
            [NEVER_LOOKS],
        ),
        (
            of({"assert": [{"type": "tool-call", "name": "find"}]}, providers=[{"type": "echo"}]),
            [CANNOT_REPORT],
        ),
        (of({}, **TWO), []),
        ({"tests": []}, []),
    ],
)
def test_what_is_suspicious_draws_a_warning(
    document: dict[str, Any], expected: list[str], tmp_path: Path
) -> None:
    assert [warning.partition(": ")[2] for warning in warnings(tmp_path, document)] == expected


MIRROR = {"providers": [{"type": "echo"}]}


@pytest.mark.parametrize(
    ("suite", "case"),
    [
        ({**MIRROR, **QA}, {"vars": {"q": 1}}),
        ({**MIRROR, **QA}, {"vars": {"q": "{{ r }}", "r": "x"}}),
        (MIRROR, {"vars": {"q": "x"}, "assert": [{"type": "equals", "value": "{{ q }}"}]}),
        (MIRROR, {"vars": {"q": "x"}, "history": [{"role": "user", "content": "{{ q }}"}]}),
        (MIRROR, {"vars": {"q": "x"}, "assert": [{"type": "jinja", "value": "q in output"}]}),
        (MIRROR, {"vars": {"q": "x"}, "assert": [{"type": "jinja", "value": "vars.q in output"}]}),
        (MIRROR, {"vars": {"q": "x"}, "assert": [{"type": "jinja", "value": "vars | length == output"}]}),
        (TWO, {"vars": {"q": "x"}}),
    ],
)
def test_vars_that_are_used_draw_no_warning(
    suite: dict[str, Any], case: dict[str, Any], tmp_path: Path
) -> None:
    assert warnings(tmp_path, of(case, **suite)) == []


@pytest.mark.parametrize(
    "odd",
    [
        "{}",
        '{"vars": {"r": 1}}',
        '{"vars": {"q": 1}, "only_providers": ["none"]}',
        '{"vars": {"q": 1}, "threshold": 7}',
    ],
)
def test_a_case_unlike_the_many_before_it_is_checked(odd: str, tmp_path: Path) -> None:
    document = {
        "prompts": [{"id": "p", "template": "{{ q }}"}],
        "defaults": {"assert": [{"type": "contains", "value": "x"}]},
        "tests": ["file://a.jsonl"],
    }
    found = problems(tmp_path, document, {"a.jsonl": '{"vars": {"q": 1}}\n' * 3 + odd})
    assert {problem.location.line for problem in found if problem.location} == {4}


def test_vars_that_nothing_uses_draw_a_warning(tmp_path: Path) -> None:
    document = of({"vars": {"q": 1, "qustion": 2}}, **MIRROR, **QA)
    assert [warning.partition(": ")[2] for warning in warnings(tmp_path, document)] == [
        "tests[0].vars.qustion: var 'qustion' is defined, but no prompt, var or assertion uses it"
    ]


def test_cases_that_ask_and_check_the_same_draw_a_warning(tmp_path: Path) -> None:
    same = {"vars": {"q": "1", "r": "2"}, **CHECK}
    turned = {**CHECK, "vars": {"r": "2", "q": "1"}, "id": "other", "tags": ["x"], "description": "y"}
    assert [
        w.partition(": ")[2] for w in warnings(tmp_path, {"tests": [same, turned, {**same, "threshold": 1}]})
    ] == ["tests[1]: the case asks and checks the same as the one at evenhand.yaml:1:91; remove one of them"]


class CallsTool(Assertion, frozen=True, kw_only=True, tag="calls-tool"):
    """A kind that judges tool calls."""

    needs_tool_calls = True


class Scored(Assertion, frozen=True, kw_only=True, tag="scored"):
    """A kind whose scores know no bounds."""

    scores_freely = True


class Deaf(Provider, frozen=True, kw_only=True, tag="deaf"):
    """A provider that cannot report tool calls."""

    reports_tool_calls = False


class Hearing(Provider, frozen=True, kw_only=True, tag="hearing"):
    """A provider that reports tool calls."""


DOCUMENT = read_yaml("defaults: {assert: [1]}\ntests:\n  - assert: [1]\n", "f.yaml")


NO_DEFAULTS = Defaults()


def checked(case: Case, defaults: Defaults = NO_DEFAULTS, times: int = 1) -> Findings:
    findings = Findings()
    engine = Engine()
    checker = CaseChecker(
        providers=(Deaf(id="deaf"), Hearing(id="ears")),
        prompts=(),
        defaults=defaults,
        defaults_place=Place(findings, DOCUMENT, ("defaults",)),
        engine=engine,
    )
    for _ in range(times):
        checker.check(case, Place(findings, DOCUMENT, ("tests", 0)), is_first=True, is_whole=True)
    return findings


def test_a_tool_call_that_nobody_can_report_draws_a_warning() -> None:
    findings = checked(Case(id="x", assertions=(CallsTool(),)))
    (warning,) = findings.warnings()
    assert str(warning) == (
        "f.yaml:3:14: tests[0].assert[0]: provider 'deaf' cannot report tool calls, so that this check always fails; "
        "leave it out with `skip_providers`"
    )


def test_the_absence_of_a_tool_call_that_nobody_can_report_is_refused() -> None:
    findings = checked(Case(id="x", assertions=(CallsTool(negate=True),)))
    assert findings.problem_count == 1


@pytest.mark.parametrize(
    "case", [Case(id="x", skip_providers=("deaf",)), Case(id="x", only_providers=("ears",))]
)
def test_a_provider_that_is_left_out_need_not_report_tool_calls(case: Case) -> None:
    findings = checked(structs.replace(case, assertions=(CallsTool(negate=True),)))
    assert not findings.problem_count
    assert not findings.warnings()


def test_what_is_wrong_with_a_shared_assertion_is_said_once() -> None:
    shared = (CallsTool(negate=True),)
    findings = checked(Case(id="x", assertions=shared), Defaults(assertions=shared), times=5)
    assert findings.problem_count == 1


@pytest.mark.parametrize("threshold", [-3.0, 0.0, 12.5])
def test_any_threshold_suits_scores_without_bounds(threshold: float) -> None:
    findings = checked(Case(id="x", assertions=(Scored(),), threshold=threshold))
    assert not findings.problem_count
    assert not findings.warnings()


@pytest.mark.parametrize("threshold", [float("nan"), float("inf")])
def test_a_threshold_is_finite_whatever_the_scores(threshold: float) -> None:
    assert checked(Case(id="x", assertions=(Scored(),), threshold=threshold)).problem_count == 1


JUDGE = {"grader": {"provider": {"type": "openai", "model": "m"}}}


@pytest.mark.parametrize(
    ("rubric", "check"),
    [
        ("Says that it is Paris.", {"type": "contains", "value": "Paris"}),
        ("says PARIS", {"type": "icontains", "value": "Paris"}),
        ("The answer is {{ answer }}, nothing else", {"type": "equals", "value": "{{ answer }}"}),
        ("Begins with 'Dear Ada,'", {"type": "starts-with", "value": "Dear Ada,"}),
    ],
)
def test_a_rubric_that_quotes_the_expected_answer_draws_a_warning(
    rubric: str, check: dict[str, Any], tmp_path: Path
) -> None:
    judged = {"type": "llm-rubric", "value": rubric}
    case = {"id": "a", "vars": {"answer": "x"}, "assert": [check, judged]}
    found = warnings(tmp_path, {**JUDGE, **QA, "tests": [{**case, "vars": {"answer": "x", "q": "?"}}]})
    (told,) = [line for line in found if "quotes" in line]
    assert f'tests[0].assert[1]: the rubric quotes the expected answer "{check["value"]}"' in told
    assert f"which `{check['type']}` checks already; let the rubric say what else makes" in told


@pytest.mark.parametrize(
    ("rubric", "check"),
    [
        ("Is comparison-shopped.", {"type": "contains", "value": "Paris"}),
        ("Speaks of Parisians.", {"type": "contains", "value": "Paris"}),
        ("Does not name Paris.", {"type": "not-contains", "value": "Paris"}),
        ("Has no 4 in it.", {"type": "contains", "value": "4"}),
        ("Is about Rome.", {"type": "contains", "value": " "}),
    ],
)
def test_a_rubric_that_says_something_else_draws_none(
    rubric: str, check: dict[str, Any], tmp_path: Path
) -> None:
    judged = {"type": "llm-rubric", "value": rubric}
    found = warnings(tmp_path, {**JUDGE, "tests": [{"id": "a", "assert": [check, judged]}]})
    assert not [line for line in found if "quotes" in line]


def test_a_long_chain_of_vars_is_no_circle(tmp_path: Path) -> None:
    variables = {f"v{n}": f"{{{{ v{n + 1} }}}}" for n in range(2_000)} | {"v2000": "end"}
    load(tmp_path, of({"vars": variables}))
