"""The exec protocol, version 1: what a program under test is asked, and how its reply is read.

One JSON document goes in, one comes out. Pure: bytes and values only, no processes. The envelope's name and the
environment variable are those of the protocol that existing programs speak.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from evenhand.errors import ErrorClass, ProviderError
from evenhand.io.reply import in_words, response_from_reply
from evenhand.model.exchange import Request, Response, ToolCall
from evenhand.text.excerpt import quoted
from evenhand.text.json_reader import NotJson, compact_json, read_json

PROTOCOL_VERSION = 1
PROTOCOL_ENV = {"DOMARINN_PROTOCOL": str(PROTOCOL_VERSION)}
"""What every program finds in its environment."""

STDERR_IN_DETAILS = 8_000
STDOUT_IN_DETAILS = 1_000
"""Characters of what a program wrote that go into the details of a failed call."""


def envelope(kind: str, *, id: int | None = None) -> dict[str, Any]:
    """The head of a document: protocol version, kind, and a number where replies may be matched by it."""
    head: dict[str, Any] = {"protocol": PROTOCOL_VERSION, "kind": kind}
    if id is not None:
        head["id"] = id
    return {"domarinn": head}


def provider_document(request: Request, *, id: int | None = None) -> bytes:
    """The question to a program under test, as one line of JSON without a line end.

    `prompt` is absent where the case has none, `tools` where the suite offers none, `traceparent` where the run
    traces nothing.
    """
    document = {**envelope("provider", id=id), **provider_fields(request), "test": request.test}
    if request.traceparent is not None:
        document["traceparent"] = request.traceparent
    return encoded(document)


def provider_fields(request: Request) -> dict[str, Any]:
    """What a program under test is asked, without the envelope and what names the test and the trace."""
    fields: dict[str, Any] = {"vars": request.vars, "params": request.params}
    prompt = _prompt(request)
    if prompt is not None:
        fields["prompt"] = prompt
    if request.tools:
        fields["tools"] = request.tools
    return fields


def assert_document(
    *,
    output: Any,
    request: Request | None,
    provider_id: str,
    config: Any,
    vars: Mapping[str, Any],
    tool_calls: Sequence[ToolCall],
) -> bytes:
    """The question to a checker, as one line of JSON without a line end: is this output right.

    `prompt` is null where the case has none; `tool_calls` is absent where the model made none.
    """
    fields = assert_fields(
        output=output,
        request=request,
        provider_id=provider_id,
        config=config,
        vars=vars,
        tool_calls=tool_calls,
    )
    test = None if request is None else request.test
    return encoded({**envelope("assert"), **fields, "test": test})


def assert_fields(
    *,
    output: Any,
    request: Request | None,
    provider_id: str,
    config: Any,
    vars: Mapping[str, Any],
    tool_calls: Sequence[ToolCall],
) -> dict[str, Any]:
    """What a checker is asked, without the envelope and the test's name."""
    fields: dict[str, Any] = {
        "output": output,
        "prompt": None if request is None else _prompt(request),
        "provider": {"id": provider_id},
        "config": config,
        "vars": vars,
    }
    if tool_calls:
        fields["tool_calls"] = tool_calls
    return fields


def _prompt(request: Request) -> dict[str, Any] | None:
    if request.text is not None:
        return {"text": request.text}
    return None if request.transcript is None else {"messages": request.transcript}


def encoded(document: dict[str, Any]) -> bytes:
    """A document as JSON in UTF-8. Unpaired surrogates, which UTF-8 cannot hold, are written as escapes."""
    try:
        return _ENCODER.encode(document)
    except (UnicodeEncodeError, ValueError, RecursionError):
        plain = {
            key: value if key in _PLAIN else msgspec.to_builtins(value) for key, value in document.items()
        }
        return compact_json(plain).encode()


_ENCODER = msgspec.json.Encoder(decimal_format="number")
_PLAIN = frozenset({"vars", "params", "output", "config"})
"""Parts of a document that are JSON already and may be nested beyond what the stack allows."""


def read_provider_reply(data: bytes, *, stderr: str = "") -> Response:
    """The answer in a program's reply. Raises `ProviderError` for a reported error and for an unusable reply."""
    return response_from_reply(read_reply_document(data, stderr=stderr))


def read_reply_document(data: bytes, *, id: int | None = None, stderr: str = "") -> dict[str, Any]:
    """A program's reply as a JSON object that holds an `output` or an `error`. Raises `ProviderError`.

    `id` is the number of the question; a reply that carries another one is refused. `stderr` goes into the details
    of the error.
    """
    reply = one_document(data, stderr=stderr)
    wrong = _wrong_with(reply, id)
    if wrong is not None:
        raise _unusable(wrong, data, stderr)
    return reply  # type: ignore[no-any-return]


def _wrong_with(reply: Any, id: int | None) -> str | None:
    """Why a JSON value is no reply to the question, or None."""
    if not isinstance(reply, dict):
        return f"the reply must be a JSON object with an `output`, found {in_words(reply)}"
    head = reply.get("domarinn")
    head = head if isinstance(head, dict) else {}
    version = head.get("protocol", PROTOCOL_VERSION)
    if version != PROTOCOL_VERSION:
        return (
            f"the reply is of protocol version {in_words(version)}, and this evenhand speaks version "
            f"{PROTOCOL_VERSION}; upgrade evenhand, or let the program answer in version {PROTOCOL_VERSION}"
        )
    answered = answered_id(reply)
    if id is not None and answered is not None and answered != id:
        return f"the reply is to question {in_words(answered)}, and question {id} was asked"
    if "output" not in reply and reply.get("error") is None:
        keys = ", ".join(f"`{quoted(key, length=40)[1:-1]}`" for key in list(reply)[:8])
        return f"the reply must have an `output`, found {keys or 'no keys at all'}"
    return None


def answered_id(reply: Mapping[str, Any]) -> Any:
    """The number of the question that a reply says it answers, as its own key or in an envelope; None without one."""
    head = reply.get("domarinn")
    return reply.get("id", head.get("id") if isinstance(head, dict) else None)


def one_document(data: bytes, *, stderr: str = "") -> Any:
    """The one JSON document that a program wrote. Raises `ProviderError` for anything else."""
    if not data.strip():
        raise _unusable("stdout must hold one JSON document, found nothing", data, stderr)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"stdout must be UTF-8, found {error.reason} at byte {error.start}"
        raise _unusable(message, data[max(0, error.start - 100) :], stderr) from None
    value = read_json(text)
    if isinstance(value, NotJson):
        message = (
            f"stdout must hold one JSON document and nothing else ({value.message}), found {quoted(text.strip())}; "
            "write logs to stderr"
        )
        raise _unusable(message, data, stderr)
    return value


def _unusable(message: str, data: bytes, stderr: str) -> ProviderError:
    return ProviderError(message, ErrorClass.EXEC_FAILED, details=written(data, stderr))


def written(stdout: bytes, stderr: str) -> dict[str, str]:
    """What a program wrote, bounded, for the details of an error: the start of stdout, the end of stderr."""
    details = {}
    if stdout.strip():
        details["stdout"] = stdout[:STDOUT_IN_DETAILS].decode(errors="replace")
    if stderr.strip():
        details["stderr"] = stderr[-STDERR_IN_DETAILS:]
    return details
