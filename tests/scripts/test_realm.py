"""The realm that many scripts share: nothing in it can be changed, and it behaves as a fresh one does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import _quickjs
import pytest

import evenhand.scripts
from evenhand.scripts.quickjs_worker import Realm
from support.assertions import built, evidence
from support.scripts import judged_scripts

FOLDER = Path(evenhand.scripts.__file__).parent / "javascript"
SOURCES = {file.name: file.read_text(encoding="utf-8") for file in FOLDER.glob("*.js")}

WALK = """
const seen = new Set();
const loose = [];
const walk = (value, path) => {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) return;
  seen.add(value);
  if (!Object.isFrozen(value) && value !== world) loose.push(path);
  for (const key of Reflect.ownKeys(value)) {
    const found = Object.getOwnPropertyDescriptor(value, key);
    const at = path + '.' + String(key);
    if (value === world && (found.configurable || found.writable)) loose.push(at);
    walk(found.value, at);
    walk(found.get, at + '(get)');
    walk(found.set, at + '(set)');
  }
  if (value !== world) walk(Object.getPrototypeOf(value), path + '.(prototype)');
};
const world = globalThis;
walk(world, '');
for (const made of [function* () {}, async function* () {}, async () => {}, [].values(), ''[Symbol.iterator](),
    new Map().entries(), new Set().values(), 'x'.matchAll(/x/g), [].values().map((x) => x)]) {
  walk(Object.getPrototypeOf(made), String(made));
}
return {pass: loose.length === 0 && seen.size > 500, score: seen.size, reason: loose.slice(0, 20).join(' ')};
"""

SAMPLES = [
    "Object.keys(output).join()",
    "[3, 1, 2].toSorted().concat([4]).flatMap((n) => [n, n * 2]).join()",
    "Object.entries(Object.groupBy(['a', 'bb', 'cc'], (word) => word.length)).map(String).join(';')",
    "JSON.stringify({a: [1, undefined, null], d: new Date(0), n: NaN, u: undefined})",
    "'aXbX'.replaceAll('X', (found, at) => at) + 'x'.padStart(3, '-') + ' y '.trim()",
    "[...new Map([[1, 2]]), ...new Set([3])].flat().join()",
    (
        "class A { #n = 1; get n() { return this.#n; } static s = 2; toString() { return 'A' + this.n; } }\n"
        "return `${new A()}${A.s}`"
    ),
    "const o = {toString: 1}; o.constructor = 2; o.valueOf = 3; o.hasOwnProperty = 4; return JSON.stringify(o)",
    "const e = new TypeError('m'); e.name = 'N'; e.message = 'n'; e.toString = () => 'own'; return e + e.message",
    "const f = function () {}; f.extra = 1; f.toString = () => 'f'; return f + f.extra",
    "const a = [1]; a.extra = 2; a.length = 0; a.push(5); return a.join() + a.extra + Object.keys(a)",
    "const d = new Date(86400000); d.label = 'x'; return d.toISOString() + d.label",
    "const r = /a(?<b>.)/gd; r.lastIndex = 0; return r.exec('xab').groups.b + r.lastIndex",
    "function* g() { yield* [1, 2]; } return [...g()].join() + [...g().map((n) => n + 1)].join()",
    "try { null.x; } catch (error) { return error instanceof TypeError && error.constructor.name; }",
    "return [typeof this, this === undefined, typeof undefinedName].join()",
    "return Array.from({length: 3}, (_, i) => i).reverse().at(-1) + Math.max(...[1, 2]) + parseInt('4px')",
    "let text = ''; for (const key in {a: 1, b: 2}) text += key; for (const key in [9]) text += key; return text",
    "const w = {}; for (const k of ['constructor', 'a', 'a']) w[k] = (w[k] ?? 0) + 1; return '' + Object.keys(w)",
    "const copy = Object.assign({}, {constructor: 1, toString: 2}); return JSON.stringify({...copy, valueOf: 3})",
    'return JSON.stringify(JSON.parse(\'{"constructor": 2, "toString": 1}\'))',
    "const p = new Proxy({}, {get: (_, key) => key}); return p.anything + String(Symbol('s'))",
    "const kinds = [() => {}, async () => {}, function* () {}]; return kinds.map((f) => f.constructor.name).join()",
    "return [1, 'a', null, [], {}, /r/, new Date(0)].map((v) => Object.prototype.toString.call(v)).join()",
]


def realm(*, harden: bool) -> Any:
    return Realm(_quickjs.Context, SOURCES, harden=harden, extras=True)


def answer(place: Any, body: str) -> str:
    place.define(1, body)
    return str(place.run(1, "text", True, "", "", "", "", ""))


def test_everything_in_a_shared_realm_is_frozen() -> None:
    found = answer(realm(harden=True), WALK)
    assert '"pass":true' in found, found


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_shared_realm_behaves_as_a_fresh_one(sample: str) -> None:
    body = sample if "return" in sample else f"return ({sample})"
    shared = answer(realm(harden=True), body)
    assert shared == answer(realm(harden=False), body)
    assert shared.startswith("R")


def test_long_reasons_and_errors_cross_whole() -> None:
    long = "'x'.repeat(100000) + 'y'.repeat(100000)"
    said, threw = judged_scripts(
        [
            built({"type": "javascript", "value": f"({{pass: true, score: 1, reason: {long}}})"}),
            built({"type": "javascript", "value": f"(() => {{ throw new Error({long}); }})()"}),
        ],
        evidence("x"),
    )
    assert len(said.reason) == 200_000
    assert "x" * 10_000 in threw.reason
