"""What the embedded engine has of the web platform does what Node.js does, or is an error that says so.

Expressions are evaluated by both, and what comes of them is described down to its types, holes and cycles. Addresses
have a test of their own.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from support.engines import embedded, in_node

DESCRIBE = """(text) => {
  const described = (value, seen) => {
    if (typeof value === 'number') return ['number', Object.is(value, -0) ? '-0' : String(value)];
    if (typeof value === 'function' || typeof value === 'symbol') return [typeof value];
    if (typeof value !== 'object' || value === null) return [typeof value, String(value)];
    if (seen.has(value)) return ['seen', seen.get(value)];
    seen.set(value, seen.size);
    const tag = Object.prototype.toString.call(value).slice(8, -1);
    const inner = (item) => described(item, seen);
    const found = [tag];
    if (tag === 'Date') found.push(String(value.getTime()));
    if (tag === 'RegExp') found.push(String(value), value.lastIndex);
    if (tag === 'Map') found.push([...value].map(([key, item]) => [inner(key), inner(item)]));
    if (tag === 'Set') found.push([...value].map(inner));
    if (tag === 'ArrayBuffer') found.push([...new Uint8Array(value)], value.byteLength);
    if (ArrayBuffer.isView(value)) found.push(value.byteOffset, value.byteLength, value.length, inner(value.buffer));
    if (/^(Boolean|Number|String|BigInt)$/.test(tag)) found.push(inner(value.valueOf()));
    if (tag === 'Array') found.push(value.length);
    if (value instanceof Error) {
      found.push(value.constructor.name, value.name, value.message, Object.hasOwn(value, 'message'));
      if (Object.hasOwn(value, 'cause')) found.push(inner(value.cause));
      return found;
    }
    found.push(value.constructor?.name);
    if (!ArrayBuffer.isView(value)) found.push(Object.keys(value).map((key) => [key, inner(value[key])]));
    return found;
  };
  return JSON.stringify(JSON.parse(text).map((source) => {
    try {
      return described((0, eval)(source), new Map());
    } catch (error) {
      if (String(error.message).startsWith('the embedded engine has no')) return 'lacks';
      return ['throws', error.name];
    }
  }));
}"""
VALUES = [
    "undefined", "null", "true", "-0", "NaN", "10n", "'text'", "'\\ud800'", "Symbol('s')", "() => 1", "class {}",
    "{a: 1, b: {c: [1, 2]}}", "{['__proto__']: 1}", "{a: undefined, [Symbol('s')]: 1}", "Object.create({inherited: 1})",
    "Object.create(null)", "new (class Point { x = 1; get y() { return 2; } })()", "{get a() { return 1; }}",
    "{get a() { throw new TypeError('x'); }}", "{a: () => 1}", "{a: Symbol('s')}", "[1, , 3]", "[, ]", "new Array(5)",
    "Object.assign([1], {extra: 2})", "new Date(5)", "new Date(NaN)", "/a;b/gi",
    "Object.assign(/a/g, {lastIndex: 3})", "new Map([[{a: 1}, new Set([1])], [1, 2]])", "new Set([[1], 'x'])",
    "new Boolean(false)", "new Number(-0)", "new String('boxed')", "Object(1n)", "Object(Symbol('s'))",
    "new ArrayBuffer(3)", "new Uint8Array([1, 2, 3])", "new Uint8Array(new Uint8Array([1, 2, 3, 4]).buffer, 1, 2)",
    "new Float64Array([0.5])", "new BigInt64Array([1n])", "new DataView(new Uint8Array([1, 2, 3]).buffer, 1)",
    "new Error('e')", "new TypeError('t')", "new RangeError('r', {cause: {a: 1}})", "new Error()",
    "Object.assign(new Error('e'), {name: 'Custom', code: 7})", "new (class Custom extends Error {})('c')",
    "new AggregateError([new Error('a')], 'many')", "new WeakMap()", "new WeakSet()",
    "Promise.resolve(1)", "(function* () {})()", "[1].values()", "new Map([[1, 2]]).entries()", "new Set([1]).values()",
    "new WeakRef({})", "Object.create(Date.prototype)", "Object.create(Map.prototype)",
    "Object.create(Error.prototype)",
    "Object.create(Array.prototype)", "Math", "JSON", "(function () { return arguments; })(1, 2)",
    "Object.assign(new Date(1), {extra: 1})", "Object.assign(new Map(), {extra: 1})", "Object.freeze([1])",
    "Object.setPrototypeOf([1], null)", "Object.setPrototypeOf(new Date(1), null)",
    "class extends Array {}", "new (class List extends Array {})(3)", "new (class Bytes extends Uint8Array {})(2)",
    "Object.defineProperty({}, 'hidden', {value: 1})", "'x'.matchAll(/x/g)", "/(?<n>x)/.exec('x')", "globalThis.Map",
]  # fmt: skip

COPIES = [f"structuredClone({value})" for value in VALUES if not value.startswith("{")]
COPIES += [f"structuredClone(({value}))" for value in VALUES if value.startswith("{")]
COPIES += [
    "structuredClone()",
    "structuredClone({}, {transfer: []})",
    "structuredClone({}, undefined)",
    "(() => { const b = new ArrayBuffer(2); structuredClone(b, {transfer: [b]}); return b.byteLength; })()",
    "(() => { const a = {}; a.self = a; a.list = [a]; return structuredClone(a); })()",
    "(() => { const a = {}; return structuredClone([a, a, new Map([[a, a]])]); })()",
    "(() => { const b = new ArrayBuffer(4); return structuredClone([new Uint8Array(b), new Uint16Array(b)]); })()",
    "(() => { const a = {x: 1}; const b = structuredClone(a); b.x = 2; return a; })()",
    "(() => { const s = []; structuredClone({get b() { s.push('b'); }, get a() { s.push('a'); }}); return s; })()",
    "(() => { const m = new Map(); m.set(m, m); return structuredClone(m); })()",
    "structuredClone.name",
]
LABELS = [
    "", "undefined", "'UTF-8'", "' utf8\\n'", "'utf-8\\u00a0'", "'unicode11utf8'", "'unicode20utf8'",
    "'x-unicode20utf8'", "'unicode-1-1-utf-8'", "'latin1'", "'utf-16le'", "'nonsense'", "null", "''",
]  # fmt: skip
CODED = [
    "'aGk='", "'aGk'", "' a G k = '", "'aGk=='", "'a'", "'====' ", "'a-_b'", "''", "null", "undefined", "12",
    "'é'", "'ÿ'", "'€'", "'\\u0000'", "'aGk=\\n'", "'aGk=\\u00a0'", "'YWI'", "'YWJ'", "'YW=J'", "{}", "true",
]  # fmt: skip
TEXTS = [
    "new TextEncoder().encode('é€😀a')",
    "new TextEncoder().encode('\\ud800x\\udc00')",
    "new TextEncoder().encode()",
    "new TextEncoder().encode(null)",
    "new TextEncoder().encode(12)",
    "new TextEncoder().encoding",
    "new TextEncoder().encodeInto('a😀b', new Uint8Array(3))",
    "new TextEncoder().encodeInto('aé', new Uint8Array(9))",
    "new TextEncoder().encodeInto('a\\ud800', new Uint8Array(4))",
    *(f"new TextDecoder({label}).encoding" for label in LABELS),
    "new TextDecoder().decode()",
    "new TextDecoder().decode(undefined)",
    "new TextDecoder().decode(null)",
    "new TextDecoder().decode('abc')",
    "new TextDecoder().decode([97])",
    "new TextDecoder().decode(5)",
    "new TextDecoder().decode({})",
    "new TextDecoder().decode(new Uint8Array([239, 187, 191, 97]))",
    "new TextDecoder('utf-8', {ignoreBOM: true}).decode(new Uint8Array([239, 187, 191, 97]))",
    "new TextDecoder().decode(new Uint8Array([239, 187, 191, 239, 187, 191]))",
    "new TextDecoder('utf-8', {fatal: true}).decode(new Uint8Array([97, 255]))",
    "new TextDecoder('utf-8', {fatal: true}).decode(new Uint8Array([239, 187]))",
    "new TextDecoder().decode(new Uint8Array([97, 98, 99]).subarray(1))",
    "new TextDecoder().decode(new Uint16Array([0x6261]))",
    "new TextDecoder().decode(new DataView(new Uint8Array([97, 98]).buffer, 1))",
    "new TextDecoder().decode(new Uint8Array([97]).buffer)",
    "[new TextDecoder().fatal, new TextDecoder('utf-8', {fatal: 1, ignoreBOM: 'x'}).fatal]",
    "TextDecoder('utf-8')",
    "TextEncoder()",
    *(f"{name}({text})" for name in ("atob", "btoa") for text in CODED),
]


def differing(sources: Sequence[str]) -> list[tuple[str, Any, Any]]:
    """The expressions of which something else comes here than in Node.js, without those that say that they cannot."""
    rows = zip(sources, embedded(DESCRIBE, sources), in_node(DESCRIBE, sources), strict=True)
    return [(source, ours, theirs) for source, ours, theirs in rows if ours not in ("lacks", theirs)]


@pytest.mark.parametrize("sources", [COPIES, TEXTS], ids=["copies", "texts"])
def test_what_is_met_comes_out_as_in_node(sources: list[str]) -> None:
    assert differing(sources) == []


def test_every_global_of_node_is_there_or_an_error_that_says_so() -> None:
    asked = "JSON.stringify(Object.getOwnPropertyNames(globalThis).filter((n) => !require('module').isBuiltin(n)))"
    done = subprocess.run(["node", "-p", asked], capture_output=True, text=True, check=True, timeout=60)
    # Those of a module in a file are not there for inline code in Node.js either.
    names = set(json.loads(done.stdout)) - {"module", "exports", "__filename", "__dirname"}
    assert {"fetch", "structuredClone", "PerformanceObserver"} <= names
    assert differing([f"typeof {name}" for name in sorted(names)]) == []


leaves = st.one_of(
    st.sampled_from([value for value in VALUES if not value.startswith("class")]).map(
        lambda value: f"({value})"
    ),
    st.integers(-9, 9).map(str),
    st.text("aé😀'\\", max_size=3).map(json.dumps),
)
nested = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        st.dictionaries(st.sampled_from(["a", "b", "7", "__proto__", ""]), inner, max_size=3).map(
            lambda items: f"({{{', '.join(f'[{json.dumps(key)}]: {item}' for key, item in items.items())}}})"
        ),
        st.lists(inner, max_size=2).map(lambda items: f"new Set([{', '.join(items)}])"),
        st.lists(st.tuples(inner, inner), max_size=2).map(
            lambda items: f"new Map([{', '.join(f'[{key}, {item}]' for key, item in items)}])"
        ),
    ),
    max_leaves=6,
)
bytes_of_text = st.lists(
    st.sampled_from([b"a", "é".encode(), "€".encode(), "😀".encode(), b"\xff", b"\xc2", b"\xe2\x82", b"\xed\xa0\x80",
                     b"\xf0\x9f", b"\xf4\x90\x80\x80", b"\xc0\xaf", b"\x80", b"\xef\xbb\xbf", b"\xe0\x9f\xbf"]),
    max_size=6,
).map(b"".join)  # fmt: skip
some_copies = st.lists(nested.map(lambda value: f"structuredClone({value})"), min_size=100, max_size=120)
some_texts = st.lists(
    st.one_of(
        st.tuples(bytes_of_text, st.booleans(), st.booleans()).map(
            lambda row: (
                f"new TextDecoder('utf-8', {{fatal: {str(row[1]).lower()}, ignoreBOM: {str(row[2]).lower()}}})"
                f".decode(new Uint8Array({list(row[0])}))"
            )
        ),
        st.text(max_size=6).map(lambda text: f"new TextEncoder().encode({json.dumps(text)})"),
        st.text("aGk=/+ \n-_", max_size=9).map(lambda text: f"atob({json.dumps(text)})"),
        st.text("a\x00ÿĀ€", max_size=5).map(lambda text: f"btoa({json.dumps(text)})"),
    ),
    min_size=100,
    max_size=120,
)


# Without shrinking: it would start Node.js for every try, and the message names the rows that differ.
@settings(max_examples=6, deadline=None, phases=[Phase.generate])
@given(some_copies)
def test_no_copy_comes_out_otherwise_than_in_node(sources: list[str]) -> None:
    assert differing(sources) == []


@settings(max_examples=6, deadline=None, phases=[Phase.generate])
@given(some_texts)
def test_no_text_comes_out_otherwise_than_in_node(sources: list[str]) -> None:
    assert differing(sources) == []
