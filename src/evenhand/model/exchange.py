"""What is asked of a provider and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from evenhand.model.trace import Trace

Json = Any
"""A JSON value: None, bool, int, float, str, list or dict with text keys."""

Role = Literal["system", "user", "assistant", "tool"]


class ToolCall(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A tool that the model decided to call. evenhand never runs one."""

    name: str
    arguments: Json = None
    id: str | None = None


class Tool(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A tool offered to every provider of the suite."""

    name: Annotated[str, msgspec.Meta(description="Name by which the model calls it.")]
    description: Annotated[
        str | None, msgspec.Meta(description="What the tool does, for the model to read.")
    ] = None
    input_schema: Annotated[
        dict[str, Any] | None, msgspec.Meta(description="JSON Schema of its arguments.")
    ] = None


class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One turn of a transcript. `content` is text or a list of content blocks."""

    role: Role
    content: Json = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


class Usage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tokens of one exchange. `input_tokens` leaves out what was read from the vendor's prompt cache."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cache_write_1h_tokens: int = 0

    @property
    def total(self) -> int:
        """The whole exchange: the prompt that was sent, cached span included, plus the response."""
        return self.input_tokens + self.output_tokens + self.cache_read_tokens

    @property
    def billable(self) -> int:
        """The whole exchange plus what was written to the vendor's prompt cache."""
        return self.total + self.cache_write_tokens


class TestInfo(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The part of a case that a provider may see."""

    __test__ = False

    id: str
    tags: tuple[str, ...] = ()


class AnswerForm(msgspec.Struct, frozen=True, kw_only=True):
    """The form that an answer must have: an object that matches a JSON Schema.

    Vendors enforce it (a forced tool call, a strict schema); other providers are told in the prompt. Either way the
    one who asked still checks what comes back.
    """

    name: str
    description: str
    schema: Mapping[str, Json]


class Request(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One finished question to one provider: everything rendered, nothing left to resolve.

    A prompt written as text arrives in `text`; one written as turns in `transcript`; a case without a prompt has
    neither.
    """

    text: str | None = None
    transcript: tuple[Message, ...] | None = None
    vars: Mapping[str, Json] = {}
    params: Mapping[str, Json] = {}
    tools: tuple[Tool, ...] = ()
    test: TestInfo
    repeat: int = 0
    answer_form: AnswerForm | None = None
    traceparent: str | None = None
    """The W3C trace context of this attempt, for the system under test to continue; None where nothing is traced."""

    @property
    def prompt(self) -> str:
        """The prompt as one text: the text itself, or the turns as `role: text` lines."""
        if self.text is not None:
            return self.text
        return "\n".join(f"{m.role}: {message_text(m)}" for m in self.transcript or ())

    @property
    def messages(self) -> tuple[Message, ...]:
        """The prompt as turns: the turns themselves, or the text as one user turn."""
        if self.transcript is not None:
            return self.transcript
        return () if self.text is None else (Message(role="user", content=self.text),)


def message_text(message: Message) -> str:
    """The text of a turn: its content, or its `text` blocks joined."""
    if isinstance(message.content, list):
        return "".join(b.get("text", "") for b in message.content if b.get("type") == "text")
    return "" if message.content is None else str(message.content)


class SentCall(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """What one call sent, as people may see it: no credentials, long texts cut.

    A call over HTTP has `method`, `url`, `headers` and `body`; a program its `command`, the names of the environment
    variables that the suite gives it, and `stdin`; a library its `arguments`.
    """

    method: str | None = None
    url: str | None = None
    headers: Mapping[str, str] = {}
    body: str | None = None
    command: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    stdin: str | None = None
    arguments: Json = None
    left_out_bytes: int = 0
    """Bytes that were cut off the end of the body or of stdin."""


class Response(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """What one call brought back. A Python function under test may return one to report more than its output.

    `output` is text or, where a system answers with structured data, a JSON value. `cost_usd` and `usage` stay
    None where the provider does not report them. `latency_ms` is measured by the run.
    """

    output: Json
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    cost_usd: float | None = None
    latency_ms: float | None = None
    model: str | None = None
    stop_reason: str | None = None
    empty_reason: str | None = None
    reasoning: str | None = None
    raw: Json = None
    metadata: Json = None
    log_probs: Json = None
    cached: bool = False
    cache_key: str | None = None
    """What the answer is kept under, set by the run; None where it neither is kept nor could be."""
    attempts: int = 1
    trace: Trace | None = None
    """What the system under test did meanwhile, where the run traces it."""
    request: SentCall | None = None
    """What was sent for it; None where nothing left this process. Never kept with the answer."""
