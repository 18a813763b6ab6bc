"""The vendors' own clients as a cross-check: they send what we send, and read what our table says they are sent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import anthropic
import openai
import pytest
from anthropic.types import Message as AnthropicMessage
from openai.types import CreateEmbeddingResponse
from openai.types.chat import ChatCompletion
from openai.types.responses import Response as OpenAIResponse

from evenhand.model.exchange import AnswerForm, Message, Request, TestInfo, Tool, ToolCall
from evenhand.model.provider import PROVIDERS, ProviderContext
from evenhand.providers.anthropic import Anthropic
from evenhand.providers.embeddings import Embeddings
from evenhand.providers.openai import OpenAI
from evenhand.providers.vendor import VendorProvider
from evenhand.template import Engine
from running import dialects

TABLE = Path(__file__).parents[1] / "tests" / "data" / "vendor-replies.jsonl"
ROWS = [json.loads(line) for line in TABLE.read_text(encoding="utf-8").splitlines()]
OF_COMPATIBLE_SERVERS = {
    "chat-without-usage",
    "chat-content-parts",
    "chat-reasoning-content",
    "chat-only-reasoning",
    "responses-of-another-form",
    "messages-error",
    "embeddings-nothing",
    # Not every model of the API reports what was written to a cache.
    "responses-cached-tokens",
}
"""Replies that the vendors themselves do not send."""
KEY = "sk-test-0123456789"
PNG = "iVBORw0KGgo="
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FORM = AnswerForm(name="submit", description="Hand in.", schema={**SCHEMA, "additionalProperties": False})
IMAGE = {"type": "image", "file": "a.png", "media_type": "image/png", "sha256": "", "data": PNG}
TALK = (
    Message(role="system", content="Be brief."),
    Message(role="user", content=[{"type": "text", "text": "Weather here?"}, IMAGE]),
    Message(
        role="assistant",
        content="Let me look.",
        tool_calls=(ToolCall(name="weather", arguments={"city": "Oslo"}, id="call_1"),),
    ),
    Message(role="tool", content="Rain.", tool_call_id="call_1"),
    Message(role="user", content="Thanks. And now?"),
)
TOOLS = (Tool(name="weather", description="Tells the weather.", input_schema=SCHEMA),)
ASKED = Request(transcript=TALK, tools=TOOLS, test=TestInfo(id="t"))
JUDGED = Request(text="Which city?", answer_form=FORM, test=TestInfo(id="t"))
ADDRESS = f"data:image/png;base64,{PNG}"


class Recorder(BaseHTTPRequestHandler):
    """Keeps the call that came in; its answer does not matter."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        seen: list[Any] = self.server.seen  # type: ignore[attr-defined]
        seen.append((self.path, {n.lower(): v for n, v in self.headers.items()}, json.loads(body)))
        self.send_response(400)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: Any) -> None:
        return


def sent(call: Callable[[str], Any]) -> tuple[str, dict[str, str], Any]:
    """The path, headers and body that a client sends when it is given this server's address."""
    with HTTPServer(("127.0.0.1", 0), Recorder) as server:
        server.seen = []  # type: ignore[attr-defined]
        thread = Thread(target=server.handle_request, daemon=True)
        thread.start()
        with pytest.raises((openai.APIStatusError, anthropic.APIStatusError)):
            call(f"http://127.0.0.1:{server.server_port}")
        thread.join(10)
        ((path, headers, body),) = server.seen  # type: ignore[attr-defined]
        return path, headers, body


def encoded(provider: VendorProvider, asked: Request) -> tuple[str, dict[str, str], Any]:
    call = provider.encode(asked, provider.access(KEY, Engine(), {}))
    path = "/" + call.url.split("/", 3)[3]
    return path, {n.lower(): v for n, v in call.headers.items()}, json.loads(call.body or b"")


def openai_client(url: str) -> openai.OpenAI:
    return openai.OpenAI(api_key=KEY, base_url=f"{url}/v1", max_retries=0)


def anthropic_client(url: str) -> anthropic.Anthropic:
    return anthropic.Anthropic(api_key=KEY, base_url=url, max_retries=0)


FUNCTION = {"name": "weather", "description": "Tells the weather.", "parameters": SCHEMA}
CHAT_TURNS = [
    {"role": "system", "content": "Be brief."},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "Weather here?"},
            {"type": "image_url", "image_url": {"url": ADDRESS}},
        ],
    },
    {
        "role": "assistant",
        "content": "Let me look.",
        "tool_calls": [
            {
                "id": "call_1",
                "type": "function",
                "function": {"name": "weather", "arguments": '{"city":"Oslo"}'},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": "Rain."},
    {"role": "user", "content": "Thanks. And now?"},
]
ITEMS = [
    {
        "role": "user",
        "content": [
            {"type": "input_text", "text": "Weather here?"},
            {"type": "input_image", "detail": "auto", "image_url": ADDRESS},
        ],
    },
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Let me look."}]},
    {"type": "function_call", "call_id": "call_1", "name": "weather", "arguments": '{"city":"Oslo"}'},
    {"type": "function_call_output", "call_id": "call_1", "output": "Rain."},
    {"role": "user", "content": "Thanks. And now?"},
]
TURNS = [
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "Weather here?"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
        ],
    },
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "Let me look."},
            {"type": "tool_use", "id": "call_1", "name": "weather", "input": {"city": "Oslo"}},
        ],
    },
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "call_1", "content": "Rain."}],
    },
    {"role": "user", "content": "Thanks. And now?"},
]
VERDICT = {"name": "submit", "description": "Hand in.", "strict": True, "schema": FORM.schema}
VERDICT_TOOL = {"name": "submit", "description": "Hand in.", "input_schema": FORM.schema}


def chat(**fields: Any) -> Callable[[str], Any]:
    return lambda url: openai_client(url).chat.completions.create(model="m", temperature=0, **fields)


def responses(**fields: Any) -> Callable[[str], Any]:
    return lambda url: openai_client(url).responses.create(model="m", temperature=0, store=False, **fields)


def messages(**fields: Any) -> Callable[[str], Any]:
    return lambda url: anthropic_client(url).messages.create(
        model="m", max_tokens=4096, extra_body={"temperature": 0}, **fields
    )


ZERO = {"temperature": 0}
CHAT = OpenAI(id="x", model="m", params=ZERO)
RESPONSES = OpenAI(id="x", model="m", params=ZERO, api="responses")
MESSAGES = Anthropic(id="x", model="m", params=ZERO)
QUESTION = [{"role": "user", "content": "Which city?"}]
STRICT = {"type": "json_schema", "json_schema": VERDICT}
FORCED = {"type": "tool", "name": "submit"}
PAIRS: dict[str, tuple[VendorProvider, Request, Callable[[str], Any]]] = {
    "chat": (CHAT, ASKED, chat(messages=CHAT_TURNS, tools=[{"type": "function", "function": FUNCTION}])),
    "chat verdict": (CHAT, JUDGED, chat(messages=QUESTION, response_format=STRICT)),
    "responses": (
        RESPONSES,
        ASKED,
        responses(
            input=ITEMS,
            instructions="Be brief.",
            tools=[{"type": "function", **FUNCTION, "strict": False}],
        ),
    ),
    "responses verdict": (
        RESPONSES,
        JUDGED,
        responses(input=QUESTION, text={"format": {"type": "json_schema", **VERDICT}}),
    ),
    "messages": (
        MESSAGES,
        ASKED,
        messages(
            messages=TURNS,
            system="Be brief.",
            tools=[{"name": "weather", "description": "Tells the weather.", "input_schema": SCHEMA}],
        ),
    ),
    "messages verdict": (
        MESSAGES,
        JUDGED,
        messages(messages=QUESTION, tools=[VERDICT_TOOL], tool_choice=FORCED),
    ),
    "embeddings": (
        Embeddings(id="x", model="m"),
        Request(text="hello", test=TestInfo(id="t")),
        lambda url: openai_client(url).embeddings.create(model="m", input="hello", encoding_format="float"),
    ),
}


def said_to_the_vendor(headers: dict[str, str]) -> tuple[str | None, str, bool]:
    """The form of the body, the key in whichever of the two headers, and whether a version of the API is named.

    Anthropic's client names a newer version of the API than we do, and sends its key as a bearer token.
    """
    key = headers.get("x-api-key") or headers["authorization"].removeprefix("Bearer ")
    return headers.get("content-type"), key, "anthropic-version" in headers


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_the_vendors_client_sends_what_we_send(pair: Any) -> None:
    provider, asked, call = pair
    theirs_path, theirs_headers, theirs = sent(call)
    ours_path, ours_headers, ours = encoded(provider, asked)
    assert ours == theirs
    assert ours_path.removeprefix("/v1") == theirs_path.removeprefix("/v1")
    assert said_to_the_vendor(ours_headers) == said_to_the_vendor(theirs_headers)


SHAPES = {"openai": ChatCompletion, "anthropic": AnthropicMessage, "embeddings": CreateEmbeddingResponse}


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row["id"] not in OF_COMPATIBLE_SERVERS], ids=lambda row: row["id"]
)
def test_the_vendors_client_takes_the_replies_of_our_table(row: dict[str, Any]) -> None:
    shape = OpenAIResponse if row["options"].get("api") == "responses" else SHAPES[row["type"]]
    # Validated, which the client itself does not do: every field must be of the declared type.
    shape.model_validate_json(json.dumps(row["reply"]), strict=True)


def test_the_vendors_clients_get_the_answer_that_we_get(model_url: str) -> None:
    question: Any = [{"role": "user", "content": "What is the capital of France?"}]
    common: dict[str, Any] = {"model": "smollm2", "temperature": 0}
    theirs = [
        openai_client(model_url)
        .chat.completions.create(messages=question, max_tokens=12, **common)
        .choices[0]
        .message.content,
        openai_client(model_url).responses.create(input=question, max_output_tokens=12, **common).output_text,
        anthropic_client(model_url)
        .messages.create(messages=question, max_tokens=12, model="smollm2", extra_body={"temperature": 0})
        .content[0]
        .text,
    ]

    async def ours() -> list[Any]:
        found = []
        for block in dialects(model_url, "smollm2")[:3]:
            limit = "max_output_tokens" if block["id"] == "responses" else "max_tokens"
            cls: Any = PROVIDERS.find(block.pop("type"))
            block["params"][limit] = 12
            session = cls(**block).open(ProviderContext(directory=Path()))
            asked = Request(text="What is the capital of France?", test=TestInfo(id="t"))
            found.append((await session.complete(asked)).output)
            await session.close()
        return found

    assert asyncio.run(ours()) == theirs
