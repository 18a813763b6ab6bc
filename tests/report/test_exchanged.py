"""What was sent and what came back, as texts."""

from __future__ import annotations

from typing import Any

import pytest

from evenhand.model.exchange import SentCall
from evenhand.report.exchanged import fields_text, indented, request_text

HTTP = SentCall(method="POST", url="https://host/v1", headers={"X-Tenant": "blue"}, body='{"n": 1e400}')


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        (HTTP, 'POST https://host/v1\nX-Tenant: blue\n\n{\n  "n": 1e400\n}'),
        ({"method": "GET", "url": "https://host"}, "GET https://host"),
        ({"command": ["a", "b c"], "stdin": "hi"}, "$ a 'b c'\n\nhi"),
        ({"command": ["a"], "env": ["X", "Y"]}, "$ a\nwith X, Y in its environment"),
        ({"arguments": {"model": "m"}}, '{\n  "model": "m"\n}'),
        (
            {"arguments": "cut te", "left_out_bytes": 1234},
            "cut te\n[1,234 more bytes were sent and are not kept]",
        ),
        ({"url": 5}, '{\n  "url": 5\n}'),
        (["of", "another", "tool"], '[\n  "of",\n  "another",\n  "tool"\n]'),
        ({}, "{}"),
    ],
)
def test_a_request_reads_as_what_was_sent(request_: Any, text: str) -> None:
    assert request_text(request_) == text


@pytest.mark.parametrize("text", ["{not json", "[" * 100_000, "[" * 5_000 + "]" * 5_000, "plain", ""])
def test_what_is_no_json_or_too_deep_stays_as_it_is(text: str) -> None:
    assert indented(text) == text


def test_numbers_survive_the_indenting() -> None:
    assert indented('{"a":[12345678901234567890.50]}') == '{\n  "a": [\n    12345678901234567890.50\n  ]\n}'


def test_what_cannot_be_indented_stays_on_its_line() -> None:
    assert indented('["\\ud800"]') == '["\\ud800"]'


def test_long_json_stays_on_its_line() -> None:
    text = "[" + ",".join(["1"] * 200_000) + "]"
    assert indented(text) == text


def test_fields_are_shown_with_their_texts_as_they_are() -> None:
    assert fields_text({"status": 500, "body": "one\ntwo\n", "note": "x"}) == (
        "status: 500\nbody:\none\ntwo\nnote: x"
    )
    headers = {"status": 500, "headers": {"a": "1", "b": "2"}, "mixed": {"a": 1}}
    assert fields_text(headers) == 'status: 500\nheaders:\n  a: 1\n  b: 2\nmixed: {"a":1}'
    assert fields_text([1]) == "[\n  1\n]"
