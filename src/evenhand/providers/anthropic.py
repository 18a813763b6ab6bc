"""Models behind Anthropic's messages API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from evenhand.model.emptiness import reason_of_stop
from evenhand.model.exchange import AnswerForm, Message, Request, Response, Tool, Usage, message_text
from evenhand.model.provider import PROVIDERS
from evenhand.providers.blocks import blocks_of, count, facts, read_call, with_call_ids
from evenhand.providers.vendor import Auth, VendorProvider

API_VERSION = "2023-06-01"
DEFAULT_MAX_TOKENS = 4_096


@PROVIDERS.register
class Anthropic(VendorProvider, tag="anthropic", frozen=True, kw_only=True):
    """A model behind Anthropic's messages API.

    The key is read from `ANTHROPIC_API_KEY` unless `api_key_env` names another variable. An answer may take 4096
    tokens unless `params.max_tokens` says otherwise. As a judge, the model is made to call a tool with its verdict,
    which the API allows only without extended thinking.
    """

    own_url: ClassVar[str] = "https://api.anthropic.com"
    own_path: ClassVar[str] = "/v1/messages"
    own_auth: ClassVar[Auth] = "api_key"
    key_variables: ClassVar[tuple[str, ...]] = ("ANTHROPIC_API_KEY",)
    takes_images: ClassVar[bool] = True
    example: ClassVar[str] = """\
- id: haiku
  type: anthropic
  model: claude-haiku-4-5
  params: {max_tokens: 500, temperature: 0}
"""

    def unfit_to_judge(self, params: Mapping[str, Any]) -> str | None:
        """Extended thinking, beside which the API lets no tool be forced."""
        thinking = {**self.params, **params}.get("thinking")
        if not isinstance(thinking, dict) or thinking.get("type") == "disabled":
            return None
        return f"judge {self.name!r} cannot be made to hand in a verdict while it thinks; remove `params.thinking`"

    def vendor_headers(self) -> dict[str, str]:
        """The version of the API."""
        return {"anthropic-version": API_VERSION}

    def body(self, request: Request) -> dict[str, Any]:
        """The body of a call, without the overlay."""
        system = [message_text(turn) for turn in request.messages if turn.role == "system"]
        turns = [turn for turn in with_call_ids(request.messages) if turn.role != "system"]
        params = {"max_tokens": DEFAULT_MAX_TOKENS, **self.params, **request.params}
        body = {**params, "model": self.model, "messages": list(_turns(turns))}
        if system:
            body["system"] = "\n\n".join(system)
        if request.tools:
            body["tools"] = [_tool(tool) for tool in request.tools]
        if request.answer_form is not None:
            body |= _forced(request.answer_form)
        return body

    def read(self, answer: dict[str, Any], request: Request) -> Response:
        """The response in the body of a successful reply."""
        blocks = [block for block in answer["content"] if isinstance(block, dict)]
        text = "".join(block["text"] for block in blocks if block.get("type") == "text")
        thinking = "".join(block.get("thinking", "") for block in blocks if block.get("type") == "thinking")
        uses = [block for block in blocks if block.get("type") == "tool_use"]
        handed_in = _handed_in(uses, request.answer_form)
        if handed_in is not None:
            uses = []
        calls = [read_call(use.get("name"), use.get("input"), use.get("id")) for use in uses]
        return Response(
            output=text if handed_in is None else handed_in,
            tool_calls=tuple(call for call in calls if call is not None),
            usage=_usage(answer.get("usage")),
            model=answer.get("model"),
            stop_reason=answer.get("stop_reason"),
            empty_reason=_empty_reason(answer, blocks),
            reasoning=thinking or None,
            metadata=facts(answer),
            raw=answer,
        )


def _empty_reason(answer: Mapping[str, Any], blocks: Sequence[Any]) -> str | None:
    """A refusal may come after some text, which is then not the answer."""
    if answer.get("stop_reason") == "refusal":
        return "refusal"
    is_explained = reason_of_stop(answer.get("stop_reason")) is not None
    return None if blocks or is_explained else "no_content_blocks"


def _turns(messages: Sequence[Message]) -> Iterator[dict[str, Any]]:
    """The turns in the API's form; results of tools that follow each other are one turn of the user."""
    results: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "tool":
            results.append(
                {
                    "type": "tool_result",
                    "tool_use_id": message.tool_call_id,
                    "content": message_text(message),
                }
            )
            continue
        if results:
            yield {"role": "user", "content": results}
            results = []
        yield {"role": message.role, "content": _content(message)}
    if results:
        yield {"role": "user", "content": results}


def _content(message: Message) -> Any:
    if not message.tool_calls and not isinstance(message.content, list):
        return "" if message.content is None else str(message.content)
    blocks = [_block(block) for block in blocks_of(message)]
    blocks += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments or {}}
        for call in message.tool_calls
    ]
    return blocks


def _block(block: Mapping[str, Any]) -> dict[str, Any]:
    if block.get("type") == "image":
        source = {"type": "base64", "media_type": block["media_type"], "data": block["data"]}
        return {"type": "image", "source": source}
    return dict(block)


def _tool(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description or "",
        "input_schema": tool.input_schema or {"type": "object"},
    }


def _forced(form: AnswerForm) -> dict[str, Any]:
    tool = {"name": form.name, "description": form.description, "input_schema": form.schema}
    return {"tools": [tool], "tool_choice": {"type": "tool", "name": form.name}}


def _handed_in(uses: Sequence[Mapping[str, Any]], form: AnswerForm | None) -> Any:
    """What the model handed in through the tool that it had to call; None where it did not."""
    if form is None:
        return None
    named = [use for use in uses if use.get("name") == form.name] or (uses if len(uses) == 1 else [])
    return named[0].get("input") if named else None


def _usage(reported: Any) -> Usage | None:
    if not isinstance(reported, dict):
        return None
    split = reported.get("cache_creation")
    return Usage(
        input_tokens=count(reported.get("input_tokens")),
        output_tokens=count(reported.get("output_tokens")),
        cache_read_tokens=count(reported.get("cache_read_input_tokens")),
        cache_write_tokens=count(reported.get("cache_creation_input_tokens")),
        cache_write_1h_tokens=count(split.get("ephemeral_1h_input_tokens")) if isinstance(split, dict) else 0,
    )
