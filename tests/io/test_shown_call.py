"""Calls as people may see them."""

from __future__ import annotations

import base64

import pytest

from evenhand.io.http import HttpRequest
from evenhand.io.shown_call import SENT_LIMIT, is_telling, sent_over_http, sent_to_library, shown_address


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://host/path", "https://host/path"),
        ("https://user@host/path", "https://user@host/path"),
        ("https://user:pass@host:8443/p?q=a@b", "https://user:[redacted]@host:8443/p?q=a@b"),
        (
            "https://host/p?key=abc&q=a%20b&access_token=x",
            "https://host/p?key=[redacted]&q=a%20b&access_token=[redacted]",
        ),
        ("https://host/p?X-Amz-Signature=abc&flag", "https://host/p?X-Amz-Signature=[redacted]&flag"),
        ("http://[::1?key=x", "http://[::1?key=x"),
    ],
)
def test_an_address_is_shown_without_what_opens_doors(url: str, shown: str) -> None:
    assert shown_address(url) == shown


@pytest.mark.parametrize(
    ("name", "tells"),
    [
        ("Authorization", True),
        ("x-goog-api-key", True),
        ("Cookie", True),
        ("Monkey", False),
        ("Accept", False),
    ],
)
def test_headers_that_hold_credentials_are_told_by_name(name: str, tells: bool) -> None:
    assert is_telling(name) is tells


def test_a_long_body_is_cut_and_says_how_much_is_missing() -> None:
    body = b"word " * SENT_LIMIT
    sent = sent_over_http(HttpRequest("POST", "http://host", {}, body))
    assert sent.body == body[:SENT_LIMIT].decode()
    assert sent.left_out_bytes == len(body) - SENT_LIMIT


def test_of_an_image_in_a_body_only_the_size_is_shown() -> None:
    data = base64.b64encode(bytes(range(256)) * 400)
    body = b'{"image":"' + data + b'","question":"what is it?"}'
    sent = sent_over_http(HttpRequest("POST", "http://host", {}, body))
    assert sent.body == f'{{"image":"[{len(data)} characters of base64]","question":"what is it?"}}'
    assert sent.left_out_bytes == 0


def test_bytes_that_are_no_text_are_shown_all_the_same() -> None:
    assert sent_over_http(HttpRequest("POST", "http://host", {}, b"\xff\xfe")).body == "\ufffd\ufffd"


def test_arguments_that_are_long_stand_as_text() -> None:
    assert sent_to_library({"model": "m"}).arguments == {"model": "m"}
    sent = sent_to_library({"model": "m", "prompt": "word " * SENT_LIMIT})
    assert isinstance(sent.arguments, str)
    assert sent.arguments.startswith('{"model":"m","prompt":"word word')
    assert sent.left_out_bytes > 0
