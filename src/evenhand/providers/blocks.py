"""Parts of turns and tool calls in the forms that vendors share. Pure but for `with_images`, which reads files."""

from __future__ import annotations

import base64
import mimetypes
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from evenhand.errors import ErrorClass, ProviderError
from evenhand.model.exchange import Message, ToolCall
from evenhand.text.json_reader import NotJson, compact_json, read_json

IMAGE_LIMIT = 20 * 1024 * 1024
"""Bytes of an image."""


def with_images(messages: Sequence[Message], directory: Path) -> list[Message]:
    """The turns with each image block holding `media_type` and `data` (base64) in place of its file's name.

    Raises `ProviderError` for an image that cannot be read.
    """
    return [
        msgspec.structs.replace(m, content=[_with_image(b, directory) for b in m.content])
        if isinstance(m.content, list)
        else m
        for m in messages
    ]


def _with_image(block: Any, directory: Path) -> Any:
    if not isinstance(block, dict) or block.get("type") != "image":
        return block
    path = directory / str(block.get("file"))
    media_type = mimetypes.guess_type(path.name)[0]
    if media_type is None or not media_type.startswith("image/"):
        raise ProviderError(f"{path.name!r} is not named like an image", ErrorClass.PROVIDER_REQUEST)
    try:
        with path.open("rb") as file:
            data = file.read(IMAGE_LIMIT + 1)
    except OSError as error:
        message = f"image {path.name!r} cannot be read: {error.strerror}"
        raise ProviderError(message, ErrorClass.PROVIDER_REQUEST) from None
    if len(data) > IMAGE_LIMIT:
        message = f"image {path.name!r} is larger than {IMAGE_LIMIT >> 20} MB"
        raise ProviderError(message, ErrorClass.PROVIDER_REQUEST)
    return {"type": "image", "media_type": media_type, "data": base64.b64encode(data).decode()}


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
