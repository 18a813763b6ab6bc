"""What a cell's call sent and what came back, as texts to read."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator

import msgspec

from evenhand.model.exchange import Json, SentCall
from evenhand.model.result import CaseResult
from evenhand.report.encode import json_line
from evenhand.store.rebuilding import MAX_DEPTH, deeper_than
from evenhand.text.json_reader import NotJson, read_json

_OF_REPLY = frozenset({"status", "headers", "body", "left_out_bytes"})

MAX_INDENTED = 200_000
"""Characters of JSON up to which it is broken into lines."""


def exchanged(case: CaseResult, kept_question: Callable[[str], Json]) -> Iterator[tuple[str, str]]:
    """Each text with its label. `kept_question` looks up what the kept answer under a key answers, or None."""
    if case.request is not None:
        yield "request", request_text(case.request)
    elif case.cache_key is not None and (question := kept_question(case.cache_key)) is not None:
        yield "question of the kept answer", indented(question)
    if case.raw is not None:
        yield "raw answer", fields_text(case.raw) if _is_reply(case.raw) else indented(case.raw)


def _is_reply(raw: Json) -> bool:
    """Whether this is a reply over HTTP as a whole, and not the JSON in its body."""
    return isinstance(raw, dict) and "status" in raw and raw.keys() <= _OF_REPLY


def request_text(request: Json) -> str:
    """What was sent: the call line by line, then its body; indented JSON where a document holds something else."""
    try:
        sent = request if isinstance(request, SentCall) else msgspec.convert(request, SentCall)
    except msgspec.ValidationError:
        return indented(request)
    lines = [*_head(sent)]
    body = sent.stdin if sent.body is None else sent.body
    if body is not None:
        lines += ["", _as_indented_json(body)]
    elif sent.arguments is not None:
        lines += [indented(sent.arguments)]
    if sent.left_out_bytes:
        lines.append(f"[{sent.left_out_bytes:,} more bytes were sent and are not kept]")
    return "\n".join(lines) if lines else indented(request)


def fields_text(value: Json) -> str:
    """A mapping as `name: value` lines with its texts as they are; anything else as indented JSON."""
    if not isinstance(value, dict):
        return indented(value)
    return "\n".join(f"{name}:{_beside_name(each)}" for name, each in value.items())


def _beside_name(value: Json) -> str:
    if isinstance(value, dict) and value and all(isinstance(each, str) for each in value.values()):
        return "".join(f"\n  {name}: {each}" for name, each in value.items())
    text = value.rstrip("\n") if isinstance(value, str) else json_line(value)
    return f"\n{text}" if "\n" in text else f" {text}"


def indented(value: Json) -> str:
    """A value as JSON over several lines; on one line where that is long or deep, text as it is."""
    if isinstance(value, str):
        return _as_indented_json(value)
    line = json_line(value)
    if len(line) > MAX_INDENTED or deeper_than(value, MAX_DEPTH):
        return line
    return _in_lines(line)


def _head(sent: SentCall) -> Iterator[str]:
    if sent.url is not None:
        yield f"{sent.method or ''} {sent.url}".strip()
        yield from (f"{name}: {value}" for name, value in sent.headers.items())
    if sent.command:
        yield f"$ {shlex.join(sent.command)}"
    if sent.env:
        yield f"with {', '.join(sent.env)} in its environment"


def _as_indented_json(text: str) -> str:
    """The text, over several lines where it is an object or a list in JSON."""
    if len(text) > MAX_INDENTED or not text.lstrip().startswith(("{", "[")):
        return text
    value = read_json(text)
    if isinstance(value, NotJson) or deeper_than(value, MAX_DEPTH):
        return text
    return _in_lines(text)


def _in_lines(text: str) -> str:
    try:
        return msgspec.json.format(text, indent=2)
    except (msgspec.MsgspecError, UnicodeError):  # what only a more patient reader takes for JSON
        return text
