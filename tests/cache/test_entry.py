"""What lies in the store or comes from elsewhere is believed only when it is what it says."""

from __future__ import annotations

import zlib
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.cache import entry as entries
from evenhand.cache.entry import BadEntry, NewerEntry, entry_bytes, read_entry, response_document
from evenhand.cache.question import Question, question_of
from evenhand.model.exchange import Response, ToolCall, Usage
from support.json_values import json_values

QUESTION = question_of({"prompt": "hi"}, provider="p", test="t")


def written(response: Response, question: Question = QUESTION) -> bytes:
    document = response_document(response)
    assert document is not None
    return entry_bytes(question, document, question.document, 1.5)


@given(json_values(), st.text())
def test_answer_comes_back_as_it_was(output: Any, reasoning: str) -> None:
    response = Response(output=output, reasoning=reasoning, usage=Usage(input_tokens=3), cost_usd=0.5)
    document = response_document(response)
    if document is None:
        return
    read = read_entry(entry_bytes(QUESTION, document, QUESTION.document, 1.5), QUESTION.key)
    assert read.response == response
    assert read.question == QUESTION.document
    assert (read.head.provider, read.head.test, read.head.created) == ("p", "t", 1.5)


@pytest.mark.parametrize("size", [10, 15_000, 20_000, 2_000_000])
def test_large_answers_are_compressed(size: int) -> None:
    response = Response(output="word " * (size // 5))
    body = written(response)
    assert read_entry(body, QUESTION.key).response == response
    assert len(body) < size + 500
    assert (body[0] == 0x78) is (size > entries.COMPRESS_FROM)


@pytest.mark.parametrize("output", [float("nan"), {"a": object()}, "\ud800", (1, 2)])
def test_answer_that_json_does_not_bring_back_is_not_kept(output: Any) -> None:
    assert response_document(Response(output=output)) is None


def test_raw_reply_and_question_are_dropped_when_they_are_large() -> None:
    small, large = {"a": "x"}, {"a": "x" * 100_000}
    assert read_entry(written(Response(output="x", raw=small)), QUESTION.key).response.raw == small
    assert read_entry(written(Response(output="x", raw=large)), QUESTION.key).response.raw is None
    beside = Response(output="x" * 100_000, raw=small)
    assert read_entry(written(beside), QUESTION.key).response == beside
    unreadable = Response(output="x", raw={"a": "\ud800"})
    assert read_entry(written(unreadable), QUESTION.key).response == Response(output="x")
    question = question_of(large)
    assert read_entry(written(Response(output="x"), question), question.key).question == b""


@given(st.data())
def test_no_damage_goes_unseen(data: st.DataObject) -> None:
    body = bytearray(written(Response(output="the answer", tool_calls=(ToolCall(name="f"),))))
    place = data.draw(st.integers(body.index(b"\n"), len(body) - 1))
    body[place] ^= data.draw(st.integers(1, 255))
    with pytest.raises(BadEntry):
        read_entry(bytes(body), QUESTION.key)


@given(st.binary(max_size=300))
def test_noise_is_refused(noise: bytes) -> None:
    for body in (noise, b"\x78" + noise, zlib.compress(noise)):
        with pytest.raises(BadEntry):
            read_entry(body, QUESTION.key)


@given(st.integers(0, 400))
def test_half_an_entry_is_refused(length: int) -> None:
    body = written(Response(output="the answer"))
    if length < len(body):
        with pytest.raises(BadEntry):
            read_entry(body[:length], QUESTION.key)


def test_answer_to_another_question_is_refused() -> None:
    with pytest.raises(BadEntry, match="another question"):
        read_entry(written(Response(output="x")), question_of({"prompt": "other"}).key)


def forged(response: dict[str, Any], **head: Any) -> bytes:
    rest = msgspec.json.encode(response) + b"\n"
    fields = {"v": 1, "key": QUESTION.key, "crc": zlib.crc32(rest), "created": 0.0, **head}
    return msgspec.json.encode(fields) + b"\n" + rest


@pytest.mark.parametrize(
    "response",
    [
        {"output": "x", "cost_usd": -1},
        {"output": "x", "latency_ms": -0.1},
        {"output": "x", "usage": {"input_tokens": -3}},
        {"output": "x", "attempts": -1},
        {"output": "x", "tool_calls": "none"},
        {"no": "output"},
    ],
)
def test_forged_answers_are_refused(response: dict[str, Any]) -> None:
    with pytest.raises(BadEntry):
        read_entry(forged(response), QUESTION.key)


def test_entry_of_a_newer_version_is_left_alone() -> None:
    with pytest.raises(NewerEntry):
        read_entry(forged({"output": "x"}, v=2), QUESTION.key)


def test_compressed_bomb_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "MAX_ENTRY_BYTES", 1 << 20)
    with pytest.raises(BadEntry, match="larger"):
        read_entry(zlib.compress(b"0" * (2 << 20)), QUESTION.key)


def test_deep_nesting_is_refused() -> None:
    rest = b'{"output":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    head = msgspec.json.encode({"v": 1, "key": QUESTION.key, "crc": zlib.crc32(rest), "created": 0.0})
    with pytest.raises(BadEntry):
        read_entry(head + b"\n" + rest, QUESTION.key)
