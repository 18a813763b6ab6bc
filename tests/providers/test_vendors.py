"""Vendors' APIs, encoded and decoded, and called on loopback."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evenhand.errors import ProviderError
from evenhand.io.images import image_block
from evenhand.model.confinement import Confinement
from evenhand.model.exchange import AnswerForm, Message, Request, Response, TestInfo, Tool, ToolCall, Usage
from evenhand.model.provider import ProviderContext
from evenhand.providers.anthropic import Anthropic
from evenhand.providers.embeddings import Embeddings
from evenhand.providers.openai import OpenAI
from evenhand.providers.vendor import Overlay, VendorProvider
from evenhand.template import Val
from support.images import PNG
from support.servers import Server, serving, status

NO_ENV: Mapping[str, str] = {}
HERE = Path()
KEY = "sk-test-0123456789"
FORM = AnswerForm(name="submit_verdict", description="d", schema={"type": "object"})
TALK = (
    Message(role="system", content="Be brief."),
    Message(role="user", content="Book seat 3."),
    Message(role="assistant", content="", tool_calls=(ToolCall(name="book", arguments={"seat": 3}),)),
    Message(role="tool", content="done"),
    Message(role="user", content=[{"type": "text", "text": "And now?"}]),
)
OPENAI_REPLY = {
    "model": "gpt-4o-2024-08-06",
    "choices": [
        {
            "message": {"role": "assistant", "content": "Paris"},
            "finish_reason": "stop",
            "logprobs": {"content": []},
        }
    ],
    "usage": {"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 40}},
}
ANTHROPIC_REPLY = {
    "model": "claude-haiku-4-5-20251001",
    "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "Paris"}],
    "stop_reason": "end_turn",
    "usage": {
        "input_tokens": 60,
        "output_tokens": 10,
        "cache_read_input_tokens": 40,
        "cache_creation_input_tokens": 5,
        "cache_creation": {"ephemeral_1h_input_tokens": 2},
    },
}


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, KEY)


def request(text: str | None = "The capital?", **fields: Any) -> Request:
    return Request(text=text, test=TestInfo(id="t"), **fields)


def talk(
    provider: VendorProvider,
    asked: Request,
    *replies: Any,
    env: Mapping[str, str] = NO_ENV,
    folder: Path = HERE,
) -> tuple[Response, Server]:
    """The provider's response from a server that replies so, and the server."""

    async def work() -> tuple[Response, Server]:
        async with serving(*replies) as server:
            there = msgspec.structs.replace(provider, base_url=server.url)
            session = there.open(ProviderContext(directory=folder, env=env))
            try:
                return await session.complete(asked), server
            finally:
                await session.close()

    return asyncio.run(work())


def failure(provider: VendorProvider, *replies: Any) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        talk(provider, request(), *replies)
    return caught.value


def test_openai_answers_with_everything_that_it_reports() -> None:
    response, server = talk(
        OpenAI(id="o", model="gpt-4o", params={"temperature": 0}), request(), OPENAI_REPLY
    )
    (seen,) = server.seen
    assert (seen.method, seen.path, seen.headers["authorization"]) == (
        "POST",
        "/chat/completions",
        f"Bearer {KEY}",
    )
    assert seen.json == {
        "temperature": 0,
        "model": "gpt-4o",
        "messages": [{"role": "user", "content": "The capital?"}],
    }
    assert (response.output, response.stop_reason, response.model) == ("Paris", "stop", "gpt-4o-2024-08-06")
    assert response.usage == Usage(input_tokens=60, output_tokens=10, cache_read_tokens=40)
    assert response.cost_usd == pytest.approx((60 * 2.5 + 10 * 10 + 40 * 1.25) / 1e6)
    assert response.log_probs == {"content": []}
    assert response.raw == OPENAI_REPLY


def test_anthropic_answers_with_everything_that_it_reports() -> None:
    response, server = talk(Anthropic(id="a", model="claude-haiku-4-5"), request(), ANTHROPIC_REPLY)
    (seen,) = server.seen
    assert (seen.path, seen.headers["x-api-key"], seen.headers["anthropic-version"]) == (
        "/v1/messages",
        KEY,
        "2023-06-01",
    )
    assert seen.json == {
        "max_tokens": 4096,
        "model": "claude-haiku-4-5",
        "messages": [{"role": "user", "content": "The capital?"}],
    }
    assert (response.output, response.reasoning, response.stop_reason) == ("Paris", "hm", "end_turn")
    assert response.usage == Usage(
        input_tokens=60, output_tokens=10, cache_read_tokens=40, cache_write_tokens=5, cache_write_1h_tokens=2
    )
    assert response.cost_usd == pytest.approx((60 + 50 + 4 + 4 + 4) / 1e6)


def test_openai_gets_a_conversation_with_tools() -> None:
    tools = (Tool(name="book", description="Books.", input_schema={"type": "object"}),)
    asked = Request(transcript=TALK, tools=tools, test=TestInfo(id="t"))
    _, server = talk(OpenAI(id="o", model="m"), asked, OPENAI_REPLY)
    body = server.seen[0].json
    assert body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Book seat 3."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "call_2_0",
                    "type": "function",
                    "function": {"name": "book", "arguments": '{"seat":3}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "call_2_0", "content": "done"},
        {"role": "user", "content": "And now?"},
    ]
    assert body["tools"] == [
        {
            "type": "function",
            "function": {"name": "book", "description": "Books.", "parameters": {"type": "object"}},
        }
    ]


def test_anthropic_gets_a_conversation_with_tools() -> None:
    asked = Request(transcript=TALK, tools=(Tool(name="book"),), test=TestInfo(id="t"))
    _, server = talk(Anthropic(id="a", model="m"), asked, ANTHROPIC_REPLY)
    body = server.seen[0].json
    assert body["system"] == "Be brief."
    assert body["messages"] == [
        {"role": "user", "content": "Book seat 3."},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "call_2_0", "name": "book", "input": {"seat": 3}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_2_0", "content": "done"}]},
        {"role": "user", "content": [{"type": "text", "text": "And now?"}]},
    ]
    assert body["tools"] == [{"name": "book", "description": "", "input_schema": {"type": "object"}}]


RESPONSES_REPLY = {"status": "completed", "output": [{"type": "message", "content": []}]}


def test_the_responses_api_gets_a_conversation_as_items() -> None:
    schema = {"type": "object", "properties": {"seat": {"type": "integer"}}}
    tools = (Tool(name="book", description="Books.", input_schema=schema), Tool(name="rest"))
    asked = Request(transcript=TALK, tools=tools, test=TestInfo(id="t"))
    _, server = talk(OpenAI(id="o", model="m", api="responses"), asked, RESPONSES_REPLY)
    (seen,) = server.seen
    assert seen.path == "/responses"
    assert seen.json == {
        "store": False,
        "model": "m",
        "instructions": "Be brief.",
        "input": [
            {"role": "user", "content": "Book seat 3."},
            {"type": "function_call", "call_id": "call_2_0", "name": "book", "arguments": '{"seat":3}'},
            {"type": "function_call_output", "call_id": "call_2_0", "output": "done"},
            {"role": "user", "content": "And now?"},
        ],
        "tools": [
            {
                "type": "function",
                "name": "book",
                "description": "Books.",
                "parameters": schema,
                "strict": False,
            },
            {
                "type": "function",
                "name": "rest",
                "parameters": {"type": "object", "properties": {}},
                "strict": False,
            },
        ],
    }


def test_only_leading_system_turns_are_instructions() -> None:
    turns = (
        Message(role="system", content="One."),
        Message(role="system", content="Two."),
        Message(role="user", content="Hi"),
        Message(role="assistant", content="Hello"),
        Message(role="system", content="Later."),
    )
    asked = Request(transcript=turns, params={"store": True}, test=TestInfo(id="t"))
    _, server = talk(OpenAI(id="o", model="m", api="responses"), asked, RESPONSES_REPLY)
    body = server.seen[0].json
    assert (body["instructions"], body["store"]) == ("One.\n\nTwo.", True)
    assert body["input"] == [
        {"role": "user", "content": "Hi"},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Hello"}],
        },
        {"role": "system", "content": "Later."},
    ]


def test_an_answer_form_is_a_strict_text_format_for_the_responses_api() -> None:
    provider = OpenAI(id="o", model="m", api="responses", params={"text": {"verbosity": "low"}})
    _, server = talk(provider, request(answer_form=FORM), RESPONSES_REPLY)
    assert server.seen[0].json["text"] == {
        "verbosity": "low",
        "format": {
            "type": "json_schema",
            "name": "submit_verdict",
            "description": "d",
            "strict": True,
            "schema": {"type": "object"},
        },
    }


def test_the_responses_api_gets_images_as_data(tmp_path: Path) -> None:
    (tmp_path / "dot.png").write_bytes(PNG)
    blocks = [{"type": "text", "text": "What?"}, image_block("dot.png", PNG, "image/png")]
    asked = Request(transcript=(Message(role="user", content=blocks),), test=TestInfo(id="t"))
    provider = OpenAI(id="o", model="m", api="responses")
    _, server = talk(provider, asked, RESPONSES_REPLY, folder=tmp_path)
    address = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
    assert server.seen[0].json["input"][0]["content"] == [
        {"type": "input_text", "text": "What?"},
        {"type": "input_image", "detail": "auto", "image_url": address},
    ]


def test_tool_calls_come_back_with_their_arguments() -> None:
    calls = [
        {"id": "c1", "type": "function", "function": {"name": "book", "arguments": '{"seat": 3}'}},
        {"id": "c2", "type": "function", "function": {"name": "sing", "arguments": "not json"}},
        {"id": "c3", "type": "function", "function": {"name": "rest", "arguments": ""}},
    ]
    reply = {"choices": [{"message": {"content": None, "tool_calls": calls}, "finish_reason": "tool_calls"}]}
    response, _ = talk(OpenAI(id="o", model="m"), request(), reply)
    assert response.output == ""
    assert [(c.name, c.arguments) for c in response.tool_calls] == [
        ("book", {"seat": 3}),
        ("sing", "not json"),
        ("rest", {}),
    ]
    reply = {
        "content": [{"type": "tool_use", "id": "u1", "name": "book", "input": {"seat": 3}}],
        "stop_reason": "tool_use",
    }
    response, _ = talk(Anthropic(id="a", model="m"), request(), reply)
    assert response.tool_calls == (ToolCall(name="book", arguments={"seat": 3}, id="u1"),)


def test_refusals_and_bare_reasoning_are_told_apart() -> None:
    refusal = {"choices": [{"message": {"content": None, "refusal": "I cannot."}, "finish_reason": "stop"}]}
    response, _ = talk(OpenAI(id="o", model="m"), request(), refusal)
    assert (response.output, response.empty_reason) == ("I cannot.", "refusal")
    thought = {"choices": [{"message": {"content": "", "reasoning_content": "hm"}, "finish_reason": "stop"}]}
    response, _ = talk(OpenAI(id="o", model="m"), request(), thought)
    assert (response.output, response.reasoning) == ("", "hm")
    response, _ = talk(Anthropic(id="a", model="m"), request(), {"content": [], "stop_reason": "end_turn"})
    assert (response.output, response.empty_reason) == ("", "no_content_blocks")


def test_an_answer_form_is_a_strict_schema_for_openai() -> None:
    reply = {"choices": [{"message": {"content": '{"pass": true}'}}]}
    response, server = talk(OpenAI(id="o", model="m"), request(answer_form=FORM), reply)
    form = server.seen[0].json["response_format"]
    assert (form["type"], form["json_schema"]["strict"], form["json_schema"]["schema"]) == (
        "json_schema",
        True,
        {"type": "object"},
    )
    assert response.output == '{"pass": true}'


def test_an_answer_form_is_a_forced_tool_for_anthropic() -> None:
    use = {"type": "tool_use", "id": "u", "name": "submit_verdict", "input": {"pass": True}}
    response, server = talk(Anthropic(id="a", model="m"), request(answer_form=FORM), {"content": [use]})
    body = server.seen[0].json
    assert body["tool_choice"] == {"type": "tool", "name": "submit_verdict"}
    assert [tool["name"] for tool in body["tools"]] == ["submit_verdict"]
    assert (response.output, response.tool_calls) == ({"pass": True}, ())
    prose, _ = talk(
        Anthropic(id="a", model="m"),
        request(answer_form=FORM),
        {"content": [{"type": "text", "text": "Yes."}]},
    )
    assert prose.output == "Yes."


def test_embeddings_answer_with_a_vector() -> None:
    reply = {"data": [{"embedding": [0.5, 1]}], "usage": {"prompt_tokens": 1_000_000}}
    response, server = talk(Embeddings(id="e", model="text-embedding-3-small"), request("hello"), reply)
    assert server.seen[0].path == "/embeddings"
    assert server.seen[0].json == {
        "model": "text-embedding-3-small",
        "input": "hello",
        "encoding_format": "float",
    }
    assert (response.output, response.cost_usd) == ([0.5, 1], 0.02)


@pytest.mark.parametrize("cls", [OpenAI, Anthropic])
def test_images_are_sent_as_data(cls: type[VendorProvider], tmp_path: Path) -> None:
    (tmp_path / "dot.png").write_bytes(PNG)
    data = base64.b64encode(PNG).decode()
    image_turn = image_block("dot.png", PNG, "image/png")
    turn = Message(role="user", content=[{"type": "text", "text": "What?"}, image_turn])
    asked = Request(transcript=(turn,), test=TestInfo(id="t"))
    reply = OPENAI_REPLY if cls is OpenAI else ANTHROPIC_REPLY
    _, server = talk(cls(id="x", model="m"), asked, reply, folder=tmp_path)
    image = server.seen[0].json["messages"][0]["content"][1]
    if cls is OpenAI:
        assert image == {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
    else:
        assert image["source"] == {"type": "base64", "media_type": "image/png", "data": data}


def test_an_overlay_changes_every_part_of_a_call() -> None:
    overlay = Overlay(
        auth="api_key",
        path="/deployments/x",
        query={"b": Val("2"), "a": Val("{{ env.REGION }} 1")},
        headers={"ANTHROPIC-version": Val("{{ env.REGION }}")},
        body={"metadata": Val({"user": "{{ env.REGION }}"}), "max_tokens": Val(7)},
    )
    provider = Anthropic(id="a", model="m", request=overlay)
    _, server = talk(provider, request(), ANTHROPIC_REPLY, env={"REGION": "eu"})
    (seen,) = server.seen
    assert (seen.path, seen.query) == ("/deployments/x", {"a": "eu 1", "b": "2"})
    assert seen.headers["anthropic-version"] == "eu"
    assert (seen.json["metadata"], seen.json["max_tokens"]) == ({"user": "eu"}, 7)


def test_a_server_without_keys_is_sent_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    provider = OpenAI(id="o", model="m", request=Overlay(auth="none"))
    assert provider.credentials == ()
    _, server = talk(provider, request(), OPENAI_REPLY)
    assert "authorization" not in server.seen[0].headers


def test_the_first_key_that_is_set_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECOND", "second-key")
    monkeypatch.setenv("FIRST", " ")
    _, server = talk(OpenAI(id="o", model="m", api_key_env=("FIRST", "SECOND")), request(), OPENAI_REPLY)
    assert server.seen[0].headers["authorization"] == "Bearer second-key"


def test_without_a_key_the_provider_cannot_be_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(ProviderError, match="`OPENAI_API_KEY` is not set"):
        OpenAI(id="o", model="m").open(ProviderContext(directory=Path()))


@pytest.mark.parametrize(
    ("reply", "error_class", "retriable"),
    [
        (status(429, "slow down", Retry_After="7"), "provider_rate_limit", True),
        (status(500), "provider_unavailable", True),
        (status(401, "bad key"), "provider_auth", False),
        (status(404, "no such model"), "provider_request", False),
        (status(200, "<html>sorry</html>"), "provider_protocol", False),
        ([], "provider_protocol", False),
        ({}, "provider_protocol", False),
        ({"choices": []}, "provider_protocol", False),
        ({"choices": [None]}, "provider_protocol", False),
        ({"choices": [{"message": {"content": None, "tool_calls": ["x"]}}]}, "provider_protocol", False),
        (
            {"error": {"message": "Rate limit reached", "type": "rate_limit_error"}},
            "provider_rate_limit",
            True,
        ),
        ({"error": {"message": "x", "type": "overloaded_error"}}, "provider_unavailable", True),
        ({"error": {"message": "x", "code": 401}}, "provider_auth", False),
        ({"error": "odd"}, "provider_protocol", False),
    ],
)
def test_a_failure_has_the_class_of_its_cause(reply: Any, error_class: str, retriable: bool) -> None:
    error = failure(OpenAI(id="o", model="m"), reply)
    assert (error.error_class, error.retriable) == (error_class, retriable), error.message


def test_a_question_without_a_prompt_is_refused_before_any_call() -> None:
    with pytest.raises(ProviderError, match="needs a prompt"):
        talk(OpenAI(id="o", model="m"), request(None), OPENAI_REPLY)


def test_an_address_without_a_scheme_is_refused_at_load() -> None:
    problems = OpenAI(id="o", model="m", base_url="localhost:8080").problems(Confinement(directory=Path()))
    assert [problem.path for problem in problems] == [("base_url",)]
