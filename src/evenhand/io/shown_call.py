"""A call as people may see it: what was sent and what came back, without credentials, long parts cut.

The headers and parameters that hold credentials are told by their names. Values of secrets that stand elsewhere are
taken out where results are stored.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from evenhand.io.protocol import encoded
from evenhand.model.exchange import SentCall

if TYPE_CHECKING:
    from evenhand.errors import ProviderError
    from evenhand.io.http import HttpReply, HttpRequest
    from evenhand.io.process import Command

SENT_LIMIT = 32 << 10
"""Bytes of a body or of a document on stdin that a result keeps."""
REPLY_LIMIT = 8_000
"""Bytes of the body of a reply that could not be used."""
HIDDEN = "[redacted]"

_READ_FOR_DATA = 1 << 20
"""Bytes of a long body that are looked through for encoded files."""
_SECRET_NAME = re.compile(
    r"authorization|cookie|(^|[-_])(auth|(api)?key|token|secret|signature|password|credential)s?$",
    re.IGNORECASE,
)
# Tried at the beginnings of words only, which keeps the search linear.
_ENCODED_FILE = re.compile(rb"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{1000,}={0,2}")


@functools.lru_cache(maxsize=256)
def is_telling(name: str) -> bool:
    """Whether the name of a header says that it holds credentials."""
    return _SECRET_NAME.search(name) is not None


def sent_over_http(call: HttpRequest) -> SentCall:
    """A call over HTTP."""
    body, left_out = (None, 0) if call.body is None else _shown(call.body)
    return SentCall(
        method=call.method,
        url=shown_address(call.url),
        headers=_shown_headers(call.headers),
        body=body,
        left_out_bytes=left_out,
    )


def sent_to_program(command: Command, names: Iterable[str], stdin: bytes) -> SentCall:
    """A question to a program, with the names of the variables that the suite gives it."""
    shown, left_out = _shown(stdin)
    return SentCall(command=command.argv, env=tuple(sorted(names)), stdin=shown, left_out_bytes=left_out)


def sent_to_library(arguments: Mapping[str, Any]) -> SentCall:
    """A call of a library that talks to the vendor itself. Arguments that are long stand as text, cut."""
    document = encoded(dict(arguments))
    if len(document) <= SENT_LIMIT:
        return SentCall(arguments=arguments)
    shown, left_out = _shown(document)
    return SentCall(arguments=shown, left_out_bytes=left_out)


def failed_call(error: ProviderError, call: HttpRequest, reply: HttpReply | None) -> ProviderError:
    """The failure of a call over HTTP, with what was sent and what came back."""
    error.request = sent_over_http(call)
    error.raw = None if reply is None else _came_back(reply)
    return error


def _came_back(reply: HttpReply) -> dict[str, Any]:
    body = reply.body[:REPLY_LIMIT].decode("utf-8", "replace")
    details = {"status": reply.status, "headers": _shown_headers(reply.headers), "body": body}
    if len(reply.body) > REPLY_LIMIT:
        details["left_out_bytes"] = len(reply.body) - REPLY_LIMIT
    return details


def shown_address(url: str) -> str:
    """An address without the password in it and without the values of parameters that hold credentials."""
    if "@" not in url and "?" not in url:
        return url
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    user, at, host = parts.netloc.rpartition("@")
    if at and ":" in user:
        parts = parts._replace(netloc=f"{user.partition(':')[0]}:{HIDDEN}@{host}")
    if parts.query:
        parts = parts._replace(query="&".join(map(_shown_parameter, parts.query.split("&"))))
    return urlunsplit(parts)


def _shown_parameter(written: str) -> str:
    name, equals, _ = written.partition("=")
    return f"{name}={HIDDEN}" if equals and is_telling(name) else written


def _shown_headers(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: HIDDEN if is_telling(name) else value for name, value in headers.items()}


def _shown(data: bytes) -> tuple[str, int]:
    """The data as text, and how many bytes were left out at its end. Of a long one, encoded files are only named."""
    left_out = 0
    if len(data) > SENT_LIMIT:
        left_out = max(0, len(data) - _READ_FOR_DATA)
        data = _ENCODED_FILE.sub(_named, data[:_READ_FOR_DATA])
        left_out += max(0, len(data) - SENT_LIMIT)
        data = data[:SENT_LIMIT]
    return data.decode("utf-8", "replace"), left_out


def _named(found: re.Match[bytes]) -> bytes:
    return b"[%d characters of base64]" % len(found[0])
