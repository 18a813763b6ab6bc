"""Transforms inside a run: their order, who sees what, and that a broken one is an error and never a verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from evenhand.api import RunOptions, load_suite, run_suite
from evenhand.errors import SuiteError
from evenhand.model.result import CaseResult

UPPER = "output.toUpperCase()"


def write(folder: Path, *tests: dict[str, Any], **keys: Any) -> None:
    suite = {
        "providers": [{"type": "echo"}],
        "prompts": [{"id": "p", "template": "{{ word }}"}],
        "tests": [{"vars": {"word": "hi"}, **test} for test in tests],
        **keys,
    }
    (folder / "evenhand.yaml").write_text(yaml.safe_dump(suite), encoding="utf-8")


def results(folder: Path, *tests: dict[str, Any], **keys: Any) -> list[CaseResult]:
    write(folder, *tests, **keys)
    return list(run_suite(load_suite(folder), save=False).cases())


def problems(folder: Path, *tests: dict[str, Any], **keys: Any) -> list[str]:
    with pytest.raises(SuiteError) as caught:
        results(folder, *tests, **keys)
    return [str(problem).replace(f"{folder}/", "") for problem in caught.value.problems]


def test_transforms_apply_from_provider_to_case_to_assertion(tmp_path: Path) -> None:
    response = "context.providerResponse"
    check = f"JSON.stringify([output, {response}.output, {response}.providerTransformedOutput])"
    test = {
        "transform": "output + 'b'",
        "assert": [
            {
                "type": "javascript",
                "value": f'{check} === \'["hiabc","hiab","hia"]\'',
                "transform": "output + 'c'",
            }
        ],
    }
    (case,) = results(tmp_path, test, providers=[{"type": "echo", "transform": "output + 'a'"}])
    assert case.status == "pass", case.asserts
    assert (case.output, case.raw_output) == ("hiab", "hi")


def test_transform_of_one_provider_leaves_the_others_alone(tmp_path: Path) -> None:
    providers = [{"id": "a", "type": "echo"}, {"id": "b", "type": "echo", "transform": "'B:' + output"}]
    test = {"assert": [{"type": "equals", "value": "hi"}]}
    found = {case.cell.provider_id: case for case in results(tmp_path, test, providers=providers)}
    assert (found["a"].status, found["b"].status) == ("pass", "fail")
    assert (found["a"].raw_output, found["b"].raw_output) == (None, "hi")


def test_own_transform_of_a_case_takes_the_place_of_the_default(tmp_path: Path) -> None:
    tests = [
        {"assert": [{"type": "equals", "value": "HI"}]},
        {"transform": "output + '!'", "assert": [{"type": "equals", "value": "hi!"}]},
    ]
    assert [case.status for case in results(tmp_path, *tests, defaults={"transform": UPPER})] == ["pass"] * 2


FORMS: dict[str, Any] = {
    "an expression": "output.length",
    "a function body": "const n = output.length;\nreturn n;",
    "a promise": "Promise.resolve(2)",
    "node": {"value": "Buffer.from(output).length", "engine": "node"},
    "a file": "file://count.js",
    "a function of a file": "file://count.mjs:count",
    "jinja": {"type": "jinja", "value": "output | length"},
    "python": {"type": "python", "value": "len(output)"},
    "python in process": {"type": "python", "value": "len(output)", "isolate": False},
    "a python file": "file://count.py",
    "a function of a python file": {"type": "python", "value": "file://count.py:count"},
}


@pytest.mark.parametrize("form", FORMS)
def test_transform_may_be_written_in_many_forms(form: str, tmp_path: Path) -> None:
    (tmp_path / "count.js").write_text("module.exports = (output, context) => output.length;")
    (tmp_path / "count.mjs").write_text("export const count = async (output) => output.length;")
    (tmp_path / "count.py").write_text(
        "def count(output, context): return len(output)\nasync def get_transform(output, context): return len(output)\n"
    )
    written = {"transform": FORMS[form]}
    (case, own) = results(
        tmp_path,
        {**written, "assert": [{"type": "equals", "value": 2}]},
        {"vars": {"word": "ho"}, "assert": [{"type": "equals", "value": 2, **written}]},
    )
    assert (case.status, own.status) == ("pass", "pass"), (case.error, own.error)


BROKEN: dict[str, Any] = {
    "throws": ("JSON.parse(output)", "threw SyntaxError"),
    "throws null": ("(() => { throw null; })()", "threw null"),
    "yields undefined": ("({}).missing", "returned undefined"),
    "yields null": ("null", "returned null"),
    "forgets to return": ("const n = 1;\nn;", "explicit `return`"),
    "yields a function": ("() => output", "returned a function"),
    "yields NaN": ("({a: [0 / 0]})", "returned NaN"),
    "yields a Map": ("new Map([[1, 2]])", "of type Map"),
    "contains itself": ("const a = [];\na.push(a);\nreturn a;", "contains itself"),
    "never settles": ("new Promise(() => {})", "never settle"),
    "hangs": ({"value": "(() => { for (;;); })()", "timeout_ms": 200}, "did not end within 200 ms"),
    "needs what is not there": ("eval('require')('fs')", "the embedded engine does not have"),
    "ends its process": ({"value": "process.exit(0)", "engine": "node"}, "the worker died"),
    "jinja without a key": ({"type": "jinja", "value": "output_json.missing"}, "does not fit the output"),
    "python raises": ({"type": "python", "value": "output.nope"}, "threw AttributeError"),
    "python gives none": ({"type": "python", "value": "None"}, "returned null"),
    "python gives a set": ({"type": "python", "value": "{1, 2}"}, "of type `set`"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_broken_transform_is_an_error_wherever_it_stands(what: str, tmp_path: Path) -> None:
    transform, message = BROKEN[what]
    outer, inner = results(
        tmp_path,
        {"id": "outer", "transform": transform, "assert": [{"type": "not-contains", "value": "zzz"}]},
        {
            "id": "inner",
            "assert": [
                {"type": "not-contains", "value": "zzz", "transform": transform},
                {"type": "contains", "value": "hi"},
            ],
        },
    )
    for case in (outer, inner):
        assert (case.status, case.error_class) == ("error", "transform_failed"), case
        assert message in (case.error or "")
    assert (outer.output, outer.raw_output, outer.asserts) == ("hi", "hi", ())
    assert [result.status for result in inner.asserts] == ["error", "pass"]
    assert inner.asserts[0].score is None


VALUES: tuple[tuple[str, Any], ...] = (
    ("''", ""),
    ("0", 0),
    ("false", False),
    ("[]", []),
    ("({b: 1, a: undefined, f() {}})", {"b": 1}),
    ("[undefined, 'x']", [None, "x"]),
    ("9007199254740993n", 9007199254740993),
    ("new Date(0)", "1970-01-01T00:00:00.000Z"),
    ("new String('x')", "x"),
    ("'é\\u2028😀'", "é\u2028😀"),
)


def test_values_keep_their_type_and_empty_ones_are_outputs(tmp_path: Path) -> None:
    tests = [
        {"id": f"t{n}", "transform": code, "assert": [{"type": "cost", "max": 1}]}
        for n, (code, _) in enumerate(VALUES)
    ]
    cases = sorted(results(tmp_path, *tests), key=lambda case: case.index)
    assert [case.output for case in cases] == [value for _, value in VALUES]


def test_large_values_cross_whole(tmp_path: Path) -> None:
    (case,) = results(
        tmp_path,
        {"transform": "'x'.repeat(3e6)", "assert": [{"type": "length", "min": 3_000_000, "max": 3_000_000}]},
    )
    assert case.status == "pass", case.error


@pytest.mark.parametrize("kind", ["javascript", "jinja"])
def test_outputs_of_one_case_take_no_memory_without_end(kind: str, tmp_path: Path) -> None:
    code = {"javascript": "'x'.repeat(1.6e7) + {}", "jinja": "'x' * (30000000 + {})"}[kind]
    checks = [
        {"type": "contains", "value": "x", "transform": {"type": kind, "value": code.format(number)}}
        for number in range(6)
    ]
    (result,) = results(tmp_path, {"assert": checks})
    assert [check.status for check in result.asserts[:2]] == ["pass", "pass"]
    assert result.asserts[-1].status == "error"
    assert "together" in result.asserts[-1].reason


def test_context_holds_vars_prompt_and_nothing_of_the_case(tmp_path: Path) -> None:
    test = {
        "transform": "JSON.stringify([Object.keys(context).sort(), context.prompt.label, context.vars.word])",
        "assert": [{"type": "equals", "value": '[["prompt","vars"],"hi","hi"]'}],
    }
    (case,) = results(tmp_path, test)
    assert case.status == "pass", case.output


def test_assertions_of_one_case_see_outputs_of_their_own(tmp_path: Path) -> None:
    asserts = [
        {"type": "javascript", "value": "output === 'HI'", "transform": UPPER},
        {"type": "javascript", "value": "output === 'hi'"},
        {"type": "not-javascript", "value": "output === 'hi'", "transform": UPPER},
        {"type": "not-equals", "value": "hi", "transform": UPPER},
        {"type": "regex", "value": "^HI$", "transform": UPPER},
        {"type": "python", "value": "output == 2", "transform": "output.length"},
        {"type": "exec", "command": ["python3", "-c", CHECKER], "transform": UPPER},
    ]
    (case,) = results(tmp_path, {"assert": asserts})
    assert [result.status for result in case.asserts] == ["pass"] * len(asserts), case.asserts


def test_members_of_groups_see_outputs_of_their_own(tmp_path: Path) -> None:
    members = [
        {"type": "equals", "value": "HI", "transform": UPPER},
        {"type": "javascript", "value": "output === 'HI'", "transform": UPPER},
        {"type": "equals", "value": "hi"},
        {"type": "exec", "command": ["python3", "-c", CHECKER], "transform": UPPER},
    ]
    broken = {"type": "any-of", "assert": [{"type": "contains", "value": "x", "transform": "null"}]}
    (case,) = results(
        tmp_path, {"assert": [{"type": "all-of", "assert": members}, {"type": "not-equals", "value": ""}]}
    )
    assert case.status == "pass", case.asserts
    (case,) = results(tmp_path, {"assert": [broken]})
    assert (case.status, case.error_class) == ("error", "transform_failed")
    (found,) = problems(tmp_path, {"assert": [{"type": "all-of", "assert": members, "transform": UPPER}]})
    assert "assert[0].transform: a group reads no output; put it on the members" in found


CHECKER = (
    "import json, sys; q = json.load(sys.stdin); "
    "print(json.dumps({'pass': q['output'] == 'HI', 'score': 1, 'reason': q['output']}))"
)


def test_negated_check_cannot_pass_on_what_a_transform_emptied(tmp_path: Path) -> None:
    (case,) = results(tmp_path, {"assert": [{"type": "not-contains", "value": "x", "transform": "''"}]})
    assert case.asserts[0].status == "fail"
    assert "vacuously" in case.asserts[0].reason


def test_short_circuit_spares_the_transform_of_a_graded_assertion(tmp_path: Path) -> None:
    asserts = [
        {"type": "contains", "value": "absent"},
        {"type": "exec", "command": ["python3", "-c", CHECKER], "transform": "(() => { throw 1; })()"},
    ]
    (case,) = results(tmp_path, {"assert": asserts})
    assert [result.status for result in case.asserts] == ["fail", "skipped"]
    assert case.status == "fail"


def test_what_is_wrong_with_transforms_is_found_at_load(tmp_path: Path) -> None:
    found = problems(
        tmp_path,
        {"id": "a", "transform": "const w = output.split(' '); w[0]", "assert": []},
        {"id": "b", "transform": "file://nope.js"},
        {
            "id": "c",
            "assert": [{"type": "contains", "value": "x", "transform": {"type": "jinja", "value": "a b"}}],
        },
        {"id": "d", "transform": {"type": "python", "value": "return return"}},
        {"id": "e", "transform": {"type": "javascript", "value": "file://x.py"}},
        {"id": "f", "transform": " "},
        {"id": "g", "transform": {"value": "output", "enginee": "node"}},
        {"id": "h", "transform": 5},
        providers=[{"type": "echo", "transform": "output.("}],
        defaults={"transform": "fetch("},
    )
    text = "\n".join(found)
    for path in (
        "providers[0].transform: the code",
        "defaults.transform: the code",
        "tests[0].transform: the code",
    ):
        assert path in text, text
    assert "tests[1].transform: no such file" in text
    assert "tests[2].assert[0].transform.value: " in text
    assert "tests[3].transform.value: the code does not compile" in text
    assert "`type: python` runs `.py` files" in text
    assert "tests[5].transform: empty code gives no output" in text
    assert "tests[6].transform.enginee: unknown key 'enginee'; did you mean 'engine'?" in text
    assert "tests[7].transform: expected" in text
    assert all(problem.startswith("evenhand.yaml:") for problem in found)


def test_transforms_of_data_files_are_read_and_checked(tmp_path: Path) -> None:
    (tmp_path / "cases.csv").write_text(
        'id,word,__transform,__assert\none,hi,output.length,"[{""type"": ""equals"", ""value"": 2}]"\n'
        'two,ho,"{""type"": ""jinja"", ""value"": ""output | upper""}","[{""type"": ""equals"", ""value"": ""HO""}]"\n'
    )
    (tmp_path / "more.jsonl").write_text(
        '{"id": "three", "vars": {"word": "yo"}, "transform": "output + 1", '
        '"assert": [{"type": "equals", "value": "yo1"}]}\n'
    )
    suite = (
        "providers: [{type: echo}]\nprompts: [{id: p, template: '{{ word }}'}]\n"
        "tests: ['file://cases.csv', 'file://more.jsonl']\n"
    )
    (tmp_path / "evenhand.yaml").write_text(suite)
    cases = list(run_suite(load_suite(tmp_path), save=False).cases())
    assert [case.status for case in cases] == ["pass"] * 3, [case.error for case in cases]
    (tmp_path / "more.jsonl").write_text('{"vars": {"word": "yo"}, "transform": "output +"}\n')
    with pytest.raises(SuiteError, match=r"more.jsonl:1.*the code does not compile"):
        load_suite(tmp_path)


def test_graders_take_no_transform(tmp_path: Path) -> None:
    judge = {"type": "openai", "model": "m", "transform": "output"}
    (found,) = problems(
        tmp_path, {"assert": [{"type": "contains", "value": "hi"}]}, grader={"provider": judge}
    )
    assert "grader.provider.transform: a transform is for systems under test" in found


def test_answer_whose_transform_broke_says_where_it_is_kept(tmp_path: Path) -> None:
    answer = "import json, sys; sys.stdin.read(); print(json.dumps({'output': 'hi'}))"
    provider = {"type": "exec", "command": ["python3", "-c", answer]}
    write(
        tmp_path, {"transform": "null", "assert": [{"type": "contains", "value": "hi"}]}, providers=[provider]
    )
    suite = load_suite(tmp_path)
    first, second = (next(iter(run_suite(suite).cases())) for _ in range(2))
    assert (first.cached, second.cached) == (False, True)
    assert first.cache_key is not None
    assert second.cache_key == first.cache_key


def test_rescoring_applies_other_transforms_to_the_answer_as_it_came(tmp_path: Path) -> None:
    test = {"assert": [{"type": "equals", "value": "HI!"}]}
    write(tmp_path, test, defaults={"transform": UPPER})
    first = run_suite(load_suite(tmp_path))
    write(tmp_path, test, defaults={"transform": "output.toUpperCase() + '!'"})
    again = run_suite(load_suite(tmp_path), RunOptions(rescore=first.run.run_id))
    assert [case.status for case in first.cases()] == ["fail"]
    assert [(case.status, case.output, case.raw_output) for case in again.cases()] == [("pass", "HI!", "hi")]
