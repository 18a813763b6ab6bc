"""Parts of turns and tool calls in the forms that vendors share. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from evenhand.model.exchange import Message, ToolCall, Usage
from evenhand.text.json_reader import NotJson, compact_json, read_json


def blocks_of(message: Message) -> Iterator[Mapping[str, Any]]:
    """The blocks of a turn; text as one block, empty text as none."""
    if isinstance(message.content, list):
        yield from (block for block in message.content if isinstance(block, dict))
    elif message.content is not None and message.content != "":
        yield {"type": "text", "text": str(message.content)}


def with_call_ids(messages: Sequence[Message]) -> list[Message]:
    """The turns with an id on every tool call and result. Those without one are matched by their order."""
    numbered: list[Message] = []
    waiting: list[str] = []
    for turn, written in enumerate(messages):
        message = written
        if message.tool_calls:
            calls = tuple(
                call if call.id else msgspec.structs.replace(call, id=f"call_{turn}_{n}")
                for n, call in enumerate(message.tool_calls)
            )
            waiting = [str(call.id) for call in calls]
            message = msgspec.structs.replace(message, tool_calls=calls)
        elif message.role == "tool":
            if message.tool_call_id is None and waiting:
                message = msgspec.structs.replace(message, tool_call_id=waiting[0])
            waiting = [call_id for call_id in waiting if call_id != message.tool_call_id]
        numbered.append(message)
    return numbered


def read_call(name: Any, arguments: Any, call_id: Any) -> ToolCall | None:
    """A tool call as a vendor reports it, None without a name. Arguments that are no JSON stay text."""
    if not isinstance(name, str) or not name:
        return None
    if isinstance(arguments, str):
        value = read_json(arguments) if arguments.strip() else {}
        arguments = arguments if isinstance(value, NotJson) else value
    return ToolCall(name=name, arguments=arguments, id=call_id if isinstance(call_id, str) else None)


def arguments_text(call: ToolCall) -> str:
    """The arguments of a call as JSON text."""
    return call.arguments if isinstance(call.arguments, str) else compact_json(call.arguments or {})


def count(value: Any) -> int:
    """A number of tokens as reported, 0 for anything else."""
    return value if type(value) is int and value > 0 else 0


def usage_of(reported: Any, *, asked: str, answered: str) -> Usage | None:
    """The tokens of a call in the forms of OpenAI, None where nothing is reported.

    `asked` and `answered` are the words of a form for the two sides: `prompt` and `completion`, `input` and `output`.
    """
    if not isinstance(reported, dict):
        return None
    details = reported.get(f"{asked}_tokens_details")
    cached = count(details.get("cached_tokens")) if isinstance(details, dict) else 0
    return Usage(
        input_tokens=max(0, count(reported.get(f"{asked}_tokens")) - cached),
        output_tokens=count(reported.get(f"{answered}_tokens")),
        cache_read_tokens=cached,
    )


def data_url(image: Mapping[str, Any]) -> str:
    """An image block with its bytes as one address."""
    return f"data:{image['media_type']};base64,{image['data']}"


FACTS = ("id", "service_tier", "system_fingerprint", "metadata")
"""What vendors tell of an answer beside the answer: enough to find it again at theirs, and what was served."""


def facts(answer: Mapping[str, Any]) -> dict[str, Any] | None:
    """The metadata of an answer, None where it has none."""
    return {name: answer[name] for name in FACTS if answer.get(name)} or None
