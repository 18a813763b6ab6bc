"""`URL` and `URLSearchParams` of the embedded engine are those of Node.js, or an error that says that they are not."""

from __future__ import annotations

import json

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from support.assertions import verdict_on
from support.engines import embedded, in_node

DESCRIBE = """(text) => {
  const FIELDS = ['href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname',
    'search', 'hash'];
  const of = (url) => [...FIELDS.map((name) => url[name]), [...url.searchParams], String(url.searchParams)];
  const described = ([input, base, changes]) => {
    const url = new URL(input, base ?? undefined);
    const seen = [of(url)];
    for (const [change, ...values] of changes) {
      if (change === 'search' || change === 'hash') url[change] = values[0];
      else url.searchParams[change](...values);
      seen.push(of(url));
    }
    return seen;
  };
  return JSON.stringify(JSON.parse(text).map((row) => {
    try {
      return described(row);
    } catch (error) {
      if (String(error.message).startsWith('the embedded engine has no')) return 'lacks';
      return error.code ?? error.name;
    }
  }));
}"""
Row = tuple[str, str | None, list[list[str]]]

TABLE = [
    "https://example.com",
    "https://Example.COM:443/a/../b?q=1#top",
    "http://user:pa%20ss@h:8080/a b?x=y z#f g",
    "HTTP://h:80",
    "https://h/?",
    "https://h/#",
    "https://h?#",
    "https://h/a//b/./c/..",
    "https://h/%2e%2E/x",
    "https:\\\\h\\a",
    "https:h/a",
    "http://0x7f.1/",
    "http://256.1.1.1/",
    "http://1.2.3/",
    "http://h:65536/",
    "http://a b/",
    "http://a%41.c/",
    "http://a%2f.c/",
    "http:///h",
    "http://",
    "wss://h:443/x",
    "ftp://h:21/",
    "mailto:a@b.c?subject=hi there",
    "data:text/plain,hello world",
    "javascript:alert(1)",
    "no scheme",
    "",
    "  https://h/\t\n ",
    "https://h/é?é=ü#é",
    "https://h/'?a='b'",
    "https://h/?a=1&a=2&&b&=c&d=%zz&e=%C3%A9+x",
]

PIECES = [
    "http:", "https:", "ws:", "ftp:", "mailto:", "data:", "foo:", "blob:", "//", "/", "\\", "a", "b.c", "EXAMPLE.com",
    "1.2.3.4", "0x7f.1", "256", "08.1", "xn--a", "é", "%41", "%zz", "%2e", "..", ".", "/../", "?", "#", "&", "=", "+",
    "%20", " ", "\t", "'", '"', "<", "`", "{", "|", "^", "[", "[::1]", ":80", ":", "@", "u:p@", "~", "*", ";", "\x00",
    "😀", "%C3%A9", "%F0%9F", "C|", "%",
]  # fmt: skip
STARTS = [
    "http://",
    "https://h",
    "https://h/",
    "https://h/?",
    "https://h/#",
    "http://u@h:80",
    "mailto:",
    "/",
    "?",
    "",
]
pieces = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)
values = st.text("ab &=+%?#'é\n", max_size=4)
changes = st.one_of(
    st.tuples(st.sampled_from(["search", "hash"]), values),
    st.tuples(st.sampled_from(["append", "set"]), values, values),
    st.tuples(st.sampled_from(["delete", "has"]), values),
    st.tuples(st.just("sort")),
)
some_rows = st.lists(
    st.tuples(
        st.tuples(st.sampled_from(STARTS), pieces).map("".join),
        st.sampled_from(
            [None, None, "http://h/a/b/c?q#f", "https://u:p@h:8080/x/y", "mailto:a@b", "http://h"]
        ),
        st.lists(changes, max_size=2),
    ),
    min_size=150,
    max_size=200,
)


def test_urls_as_they_are_met_are_read_as_node_reads_them() -> None:
    rows = [(text, None, []) for text in TABLE]
    rows += [
        (text, "https://h/a/b?c#d", [])
        for text in ("x", "/x", "//k/x", "?x", "#x", "", "..", "../../..", "./x?y#z")
    ]
    assert dict(zip(map(str, rows), embedded(DESCRIBE, rows), strict=True)) == dict(
        zip(map(str, rows), in_node(DESCRIBE, rows), strict=True)
    )


# Without shrinking: it would start Node.js for every try, and the message names the one row that differs.
@settings(max_examples=6, deadline=None, phases=[Phase.generate])
@given(some_rows)
def test_no_url_is_read_otherwise_than_node_reads_it(rows: list[Row]) -> None:
    for row, theirs, ours in zip(rows, in_node(DESCRIBE, rows), embedded(DESCRIBE, rows), strict=True):
        assert ours in ("lacks", theirs), row


@pytest.mark.parametrize(
    "url",
    [
        "https://[::1]/",
        "https://bücher.example/",
        "file:///etc/hosts",
        "blob:https://h/x",
        "foo://h/a",
        "https://h/a^b",
    ],
)
def test_url_that_the_embedded_engine_cannot_read_is_an_error_with_the_remedy(url: str) -> None:
    outcome = verdict_on("x", type="javascript", value=f"new URL({json.dumps(url)}).href.length > 0")
    assert outcome.status == "error"
    assert "`engine: node`" in outcome.reason
