"""The form of OpenAI's chat completions API, which many servers and libraries share. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evenhand.model.exchange import AnswerForm, Message, Request, Response, Tool
from evenhand.providers.blocks import (
    arguments_text,
    blocks_of,
    data_url,
    facts,
    read_call,
    usage_of,
    with_call_ids,
)


def chat_body(request: Request, params: Mapping[str, Any], model: str) -> dict[str, Any]:
    """The body that puts a question. `params` are the provider's; those of the question win over them."""
    turns = with_call_ids(request.messages)
    body = {**params, **request.params, "model": model, "messages": [_turn(turn) for turn in turns]}
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    if request.answer_form is not None:
        body["response_format"] = _response_format(request.answer_form)
    return body


def read_chat(answer: dict[str, Any]) -> Response:
    """The response in an answer."""
    choice = answer["choices"][0]
    message = choice["message"]
    text = _text(message.get("content"))
    refusal = message.get("refusal")
    is_refusal = isinstance(refusal, str) and refusal != ""
    calls = [
        read_call(call["function"].get("name"), call["function"].get("arguments"), call.get("id"))
        for call in message.get("tool_calls") or ()
        if isinstance(call.get("function"), dict)
    ]
    return Response(
        output=text or (refusal if is_refusal else ""),
        tool_calls=tuple(call for call in calls if call is not None),
        usage=usage_of(answer.get("usage"), asked="prompt", answered="completion"),
        model=answer.get("model"),
        stop_reason=choice.get("finish_reason"),
        empty_reason="refusal" if is_refusal else None,
        reasoning=message.get("reasoning_content") or message.get("reasoning") or None,
        log_probs=choice.get("logprobs"),
        metadata=facts(answer),
        raw=answer,
    )


def _turn(message: Message) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": _plain(message)}
    turn: dict[str, Any] = {"role": message.role, "content": _content(message)}
    if message.tool_calls:
        turn["content"] = turn["content"] or None
        turn["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": arguments_text(call)},
            }
            for call in message.tool_calls
        ]
    return turn


def _content(message: Message) -> Any:
    if any(block.get("type") == "image" for block in blocks_of(message)):
        return list(_parts(message))
    return _plain(message)


def _plain(message: Message) -> str:
    return "".join(block.get("text", "") for block in blocks_of(message) if block.get("type") == "text")


def _parts(message: Message) -> Iterator[dict[str, Any]]:
    for block in blocks_of(message):
        if block.get("type") == "text":
            yield {"type": "text", "text": block["text"]}
        elif block.get("type") == "image":
            yield {"type": "image_url", "image_url": {"url": data_url(block)}}


def _tool(tool: Tool) -> dict[str, Any]:
    function: dict[str, Any] = {"name": tool.name}
    if tool.description is not None:
        function["description"] = tool.description
    if tool.input_schema is not None:
        function["parameters"] = tool.input_schema
    return {"type": "function", "function": function}


def _response_format(form: AnswerForm) -> dict[str, Any]:
    schema = {"name": form.name, "description": form.description, "strict": True, "schema": form.schema}
    return {"type": "json_schema", "json_schema": schema}


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content if part.get("type") == "text")
    return content if isinstance(content, str) else ""
