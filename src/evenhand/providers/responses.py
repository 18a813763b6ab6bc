"""The form of OpenAI's Responses API. Pure.

A question is a list of items: turns, calls of tools, results of tools. So is an answer, which may also hold refusals
and what the model lets see of its reasoning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evenhand.errors import ErrorClass, ProviderError
from evenhand.io.reply import in_words
from evenhand.model.exchange import AnswerForm, Message, Request, Response, Tool, message_text
from evenhand.providers.blocks import (
    arguments_text,
    blocks_of,
    data_url,
    facts,
    read_call,
    usage_of,
    with_call_ids,
)

ENDED = ("completed", "incomplete")
"""States of an answer that can be judged."""


def responses_body(request: Request, params: Mapping[str, Any], model: str) -> dict[str, Any]:
    """The body that puts a question. `params` are the provider's; those of the question win over them.

    System turns before all others are the instructions. Unlike chat completions, the API stores answers and holds
    tools to strict schemas where it is not told otherwise; so it is.
    """
    turns = with_call_ids(request.messages)
    leading = next((n for n, turn in enumerate(turns) if turn.role != "system"), len(turns))
    body = {"store": False, **params, **request.params, "model": model}
    if leading:
        body["instructions"] = "\n\n".join(message_text(turn) for turn in turns[:leading])
    body["input"] = [item for turn in turns[leading:] for item in _items(turn)]
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    if request.answer_form is not None:
        text = body.get("text")
        body["text"] = {**(text if isinstance(text, dict) else {}), "format": _format(request.answer_form)}
    return body


def read_responses(answer: dict[str, Any]) -> Response:
    """The response in an answer. Raises `ProviderError` for one that did not come to an end."""
    status = answer.get("status") or "completed"
    if status not in ENDED:
        message = f"the answer must be completed, found status {in_words(status)}; ask without `background`"
        raise ProviderError(message, ErrorClass.PROVIDER_PROTOCOL, details=answer)
    items = [item for item in answer["output"] if isinstance(item, dict)]
    contents = [part for item in items if item.get("type") == "message" for part in item["content"]]
    texts = [part for part in contents if part.get("type") == "output_text"]
    refusals = [part["refusal"] for part in contents if part.get("type") == "refusal"]
    calls = [
        read_call(item.get("name"), item.get("arguments"), item.get("call_id"))
        for item in items
        if item.get("type") == "function_call"
    ]
    log_probs = [entry for part in texts for entry in part.get("logprobs") or ()]
    return Response(
        output="".join(part["text"] for part in texts) or "".join(refusals),
        tool_calls=tuple(call for call in calls if call is not None),
        usage=usage_of(answer.get("usage"), asked="input", answered="output"),
        model=answer.get("model"),
        stop_reason=_stop_reason(answer, status),
        empty_reason="refusal" if refusals else None,
        reasoning=_reasoning(items),
        log_probs={"content": log_probs} if log_probs else None,
        metadata=facts(answer),
        raw=answer,
    )


def _items(message: Message) -> Iterator[dict[str, Any]]:
    if message.role == "tool":
        output = message_text(message)
        yield {"type": "function_call_output", "call_id": message.tool_call_id, "output": output}
        return
    content = _content(message)
    if message.role == "assistant":
        if content or not message.tool_calls:
            # Bare text is as good for OpenAI, but not for every server that speaks its language.
            text = {"type": "output_text", "text": content}
            yield {"type": "message", "role": "assistant", "content": [text]}
    else:
        yield {"role": message.role, "content": content}
    for call in message.tool_calls:
        yield {
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": arguments_text(call),
        }


def _content(message: Message) -> Any:
    if message.role == "assistant" or not any(block.get("type") == "image" for block in blocks_of(message)):
        return message_text(message)
    return list(_parts(message))


def _parts(message: Message) -> Iterator[dict[str, Any]]:
    for block in blocks_of(message):
        if block.get("type") == "text":
            yield {"type": "input_text", "text": block["text"]}
        elif block.get("type") == "image":
            yield {"type": "input_image", "detail": "auto", "image_url": data_url(block)}


def _tool(tool: Tool) -> dict[str, Any]:
    described = {} if tool.description is None else {"description": tool.description}
    schema = tool.input_schema or {"type": "object", "properties": {}}
    return {"type": "function", "name": tool.name, **described, "parameters": schema, "strict": False}


def _format(form: AnswerForm) -> dict[str, Any]:
    return {
        "type": "json_schema",
        "name": form.name,
        "description": form.description,
        "strict": True,
        "schema": form.schema,
    }


def _stop_reason(answer: Mapping[str, Any], status: str) -> str:
    details = answer.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else None
    return reason if isinstance(reason, str) else status


def _reasoning(items: Sequence[Mapping[str, Any]]) -> str | None:
    """What the answer shows of the model's reasoning: its text where there is one, else the summary."""
    thoughts = []
    for item in items:
        if item.get("type") == "reasoning":
            parts = item.get("content") or item.get("summary") or ()
            thoughts += [part["text"] for part in parts if isinstance(part, dict)]
    return "\n\n".join(thoughts) or None
