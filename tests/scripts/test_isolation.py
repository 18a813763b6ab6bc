"""Hostile scripts get the verdict that is documented for them, and whoever comes after them never notices."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.model.outcome import Outcome
from support.assertions import built, evidence
from support.scripts import judged_scripts

LIMIT_MS = 700

HOSTILE: dict[str, tuple[str, str]] = {
    "endless loop": ("while (true) {}", "error"),
    "catastrophic regex": ("/(a+)+$/.test('a'.repeat(40) + '!')", "error"),
    "promise that never settles": ("new Promise(() => {})", "error"),
    "endless microtasks": ("(async () => { for (;;) await 0; })()", "error"),
    "memory bomb": ("const a = []; for (;;) a.push('x'.repeat(1e6) + a.length)", "error"),
    "native loop": ("[].concat(new Array(1e9)).sort()", "error"),
    "native join": ("new Array(2 ** 26).join('ab').length", "error"),
    "50 MB": ("({pass: true, score: 1, reason: 'x'.repeat(5e7)})", "error"),
    "throws null": ("throw null", "fail"),
    "throws text": ("throw 'no'", "fail"),
    "throws an object with a getter that throws": ("throw {get message() { throw 1; }}", "fail"),
    "getter that throws": ("({get pass() { throw new Error('no'); }, score: 1, reason: ''})", "fail"),
    "proxy that throws": ("new Proxy({}, {get() { throw new Error('no'); }})", "fail"),
    "cycle": ("const r = {pass: true, score: 1, reason: ''}; r.componentResults = [r]; r", "fail"),
    "big integer": ("10n ** 40n", "fail"),
    "symbol": ("Symbol('pass')", "fail"),
    "stack overflow": ("(function f() { return f() + 1; })()", "fail"),
    "patched prototype": ("Object.prototype.pass = true; Array.prototype.map = 1; return 1;", "pass"),
    "patched built-in": ("JSON.parse = () => ({}); String = null; return 1;", "pass"),
    "patched by computed names": (
        "const o = {}; const c = o['const' + 'ructor']; try { c['proto' + 'type'].pass = 9; } catch {} return 1;",
        "pass",
    ),
    "implicit global": ("leaked = 1; return 1;", "pass"),
    "this": ("this.leaked = 1; this.JSON = null; return 1;", "pass"),
    "prototype of the global": ("this['__pro' + 'to__'] = {leaked: 1}; return 1;", "pass"),
    "changed context": (
        "context.vars.word = 'changed'; context.vars.more = 1; delete context.vars.list; return 1;",
        "pass",
    ),
    "work left behind": (
        "Promise.resolve().then(function again() { leaked = 1; return Promise.resolve().then(again); }); return 1;",
        "pass",
    ),
    "timer left behind": ("setInterval(() => { leaked = 1; }, 1); return 1;", "pass"),
    "redefined console": ("console.log = null; try { console.x = 1; } catch {} return 1;", "pass"),
    "splits its function": ("}); leaked = 1; (function () {", "error"),
    "splits its function twice": ("}, leaked = 1, function () {", "error"),
    "text as code by computed names": (
        "const e = this['ev' + 'al']; try { e('let leaked = 1'); } catch {} return 1;",
        "pass",
    ),
    "function constructor": (
        "const F = (() => {})['const' + 'ructor'];\ntry { F('leaked = 1')(); } catch {} return 1;",
        "error",
    ),
    "function constructor that escapes": (
        (
            "const F = (() => {})['const' + 'ructor'];\n"
            "try { F('}); let leaked = 1; (function () {')(); } catch {} return 1;"
        ),
        "error",
    ),
    "async function constructor": (
        "try { (async () => {}).constructor('}); let leaked = 1; (function () {')(); } catch {} return 1;",
        "error",
    ),
}

INNOCENT: dict[str, str] = {
    "reads the output": "output === 'Hello world' && output.split(' ').map((w) => w.length).join() === '5,5'",
    "reads the context": "context.vars.word === 'orig' && context.vars.list.length === 2 && !('more' in context.vars)",
    "sees no leak": "typeof leaked === 'undefined' && ({}).pass === undefined && ({}).leaked === undefined",
    "parses": "JSON.parse('{\"a\": [1, 2]}').a.reduce((a, b) => a + b) === 3",
    "counts words": (
        "const n = {}; for (const w of ['constructor', 'a', 'a', 'toString'])"
        " n[w] = (Object.hasOwn(n, w) ? n[w] : 0) + 1;"
        " n.a === 2 && n.constructor === 1 && n.toString === 1"
    ),
    "has an error of its own": (
        "class Oops extends Error { constructor(m) { super(m); this.name = 'Oops'; } }\n"
        "try { throw new Oops('x'); } catch (e) { return String(e) === 'Oops: x' && e instanceof Error; }"
    ),
    "waits": "new Promise((done) => setTimeout(() => done(true), 2))",
    "logs": "(console.log('seen', output), typeof console.log === 'function')",
    "tells kinds of functions": (
        "(async () => {}).constructor.name === 'AsyncFunction' && [].constructor === Array"
    ),
    "is like data": "({arguments: 1}).arguments === 1 && JSON.stringify({constructor: 1}) === '{\"constructor\":1}'",
    "matches": "[...output.matchAll(/o/g)].length === 2 && /(?<h>H)/u.exec(output).groups.h === 'H'",
    "uses the platform": "new URL('https://a.b/c?d=1').searchParams.get('d') === '1' && structuredClone([1])[0] === 1",
}


def outcomes_of(*sources: str) -> list[Outcome]:
    asserts = [built({"type": "javascript", "value": source, "timeout_ms": LIMIT_MS}) for source in sources]
    seen = evidence("Hello world", vars={"word": "orig", "list": [1, 2]})
    return judged_scripts(asserts, seen)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_script_ends_as_documented_and_leaves_nothing_behind(name: str) -> None:
    source, wanted = HOSTILE[name]
    before, hostile, after = outcomes_of(INNOCENT["sees no leak"], source, INNOCENT["sees no leak"])
    assert (before.status, hostile.status, after.status) == ("pass", wanted, "pass"), hostile.reason
    assert outcomes_of(INNOCENT["sees no leak"])[0].passed


@pytest.mark.parametrize("name", INNOCENT)
def test_innocent_script_passes_alone(name: str) -> None:
    assert outcomes_of(INNOCENT[name])[0].passed


QUICK = [name for name, (_, wanted) in HOSTILE.items() if wanted != "error"]
SCRIPT = st.one_of(
    st.sampled_from(QUICK).map(lambda name: (HOSTILE[name][0], HOSTILE[name][1])),
    st.sampled_from(sorted(INNOCENT)).map(lambda name: (INNOCENT[name], "pass")),
)


@settings(max_examples=60, deadline=None)
@given(scripts=st.lists(SCRIPT, min_size=2, max_size=8))
def test_the_verdict_of_a_script_does_not_depend_on_its_neighbours(scripts: list[tuple[str, str]]) -> None:
    outcomes = outcomes_of(*(source for source, _ in scripts))
    assert [outcome.status.value for outcome in outcomes] == [wanted for _, wanted in scripts]


@settings(max_examples=6, deadline=None)
@given(
    hostile=st.sampled_from([name for name in HOSTILE if name not in QUICK]),
    innocent=st.lists(st.sampled_from(sorted(INNOCENT)), min_size=1, max_size=3),
)
def test_a_script_that_is_stopped_costs_its_neighbours_nothing(hostile: str, innocent: list[str]) -> None:
    first, *others = outcomes_of(HOSTILE[hostile][0], *(INNOCENT[name] for name in innocent))
    assert first.status == HOSTILE[hostile][1]
    assert all(outcome.passed for outcome in others), others


def test_negation_never_turns_a_failure_to_judge_into_a_pass() -> None:
    sources: dict[str, Any] = {
        "throw new Error('x')": "fail",
        "undefined": "fail",
        "NaN": "fail",
        "'text'": "fail",
        "({pass: false, score: NaN, reason: ''})": "fail",
        "fetch('x')": "error",
        "new Promise(() => {})": "error",
    }
    for source, wanted in sources.items():
        (outcome,) = judged_scripts([built({"type": "not-javascript", "value": source})], evidence("x"))
        assert outcome.status == wanted, (source, outcome)


def test_values_cross_without_loss() -> None:
    output = {"big": 9007199254740993, "text": "a\0b\ud83d x \U0001f642", "list": [1.5, None, True]}
    source = (
        "output.big === 9007199254740993n && output.text.length === 9 && output.text.charCodeAt(3) === 0xd83d"
        " && output.list[0] === 1.5 && output.list[1] === null && context.vars.n === 2n ** 70n"
    )
    asserts = [
        built({"type": "javascript", "value": source, "engine": engine}) for engine in ("quickjs", "node")
    ]
    found = judged_scripts(asserts, evidence(output, vars={"n": 2**70}))
    assert [outcome.passed for outcome in found] == [True, True], found


def test_an_output_of_ten_megabytes_is_seen_whole() -> None:
    output = "x" * 10_000_000 + "\ud83d"
    for seen in (output, output[:-1] + "é"):
        for engine in ("quickjs", "node"):
            (outcome,) = judged_scripts(
                [built({"type": "javascript", "value": "output.length === 10000001", "engine": engine})],
                evidence(seen),
            )
            assert outcome.passed, outcome


def test_realm_that_was_made_ahead_serves_one_script_only() -> None:
    leaves = built(
        {"type": "javascript", "value": "Object.prototype.left = (Object.prototype.left ?? 0) + 1"}
    )
    for _ in range(6):
        # Each batch is waited for, so that the workers are idle in between and prepare a realm for the next one.
        outcomes = judged_scripts([leaves, leaves], evidence("x"))
        assert [outcome.score for outcome in outcomes] == [1.0, 1.0]
