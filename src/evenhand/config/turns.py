"""Turns of prompts and histories, from what a person wrote to templates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evenhand.config.decode import decode
from evenhand.config.document import (
    BLOCKS,
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    WrittenToolCall,
    WrittenTurn,
)
from evenhand.config.files import Files
from evenhand.config.findings import Place
from evenhand.config.values import check_templates
from evenhand.config.wording import found, in_words
from evenhand.io.target import FILE_PREFIX
from evenhand.model.suite import MessageTemplate, ToolCallTemplate
from evenhand.registry import nearest
from evenhand.template import Engine, Val

IMAGE = "image"


class TurnReader:
    """Makes turns of written ones. With `is_data`, nothing in them is a template."""

    def __init__(self, files: Files, engine: Engine) -> None:
        self._files = files
        self._engine = engine

    def history(self, value: Any, place: Place, *, is_data: bool = False) -> tuple[MessageTemplate, ...]:
        """A case's history: a list of turns, or a file with one."""
        if isinstance(value, str):
            if not value.startswith(FILE_PREFIX):
                place.report(f"expected a list of turns or a file:// reference, found {found(value)}")
                return ()
            read = self._files.transcript(value, place)
            if read is None:
                return ()
            value, place = read.value, Place(place.findings, read)
        if not isinstance(value, (list, tuple)):
            place.report(f"expected a list of turns, found {found(value)}")
            return ()
        return self.turns(value, place, is_data=is_data)

    def turns(
        self, values: Sequence[Any], place: Place, *, is_data: bool = False
    ) -> tuple[MessageTemplate, ...]:
        """The turns of a list, without those that were reported."""
        turns = (self.turn(value, place.inside(index), is_data=is_data) for index, value in enumerate(values))
        return tuple(turn for turn in turns if turn is not None)

    def turn(self, value: Any, place: Place, *, is_data: bool = False) -> MessageTemplate | None:
        """One turn; None after reporting what is wrong with it."""
        written = decode(WrittenTurn, value, place)
        if written is None:
            return None
        _check_roles(written, place)
        at = place.inside("content")
        content = Val(self._content(written.content, at), is_data=is_data)
        check_templates(self._engine, content, at)
        calls = [
            self._call(call, place.inside("tool_calls", index), is_data)
            for index, call in enumerate(written.tool_calls)
        ]
        if not calls and _is_blank(content.authored):
            place.warn("the turn has no content")
        return MessageTemplate(
            role=written.role, content=content, tool_calls=tuple(calls), tool_call_id=written.tool_call_id
        )

    def _call(self, call: WrittenToolCall, place: Place, is_data: bool) -> ToolCallTemplate:
        arguments = Val({} if call.arguments is None else call.arguments, is_data=is_data)
        check_templates(self._engine, arguments, place.inside("arguments"))
        return ToolCallTemplate(name=call.name, arguments=arguments, id=call.id)

    def _content(self, content: Any, place: Place) -> Any:
        if isinstance(content, str):
            if not content.startswith(FILE_PREFIX):
                return content
            read = self._files.text(content, place)
            return None if read is None else read.text
        if content is None:
            return None
        if not isinstance(content, (list, tuple)):
            place.report(f"expected text or a list of blocks, found {found(content)}")
            return None
        return [self._block(block, place.inside(index)) for index, block in enumerate(content)]

    def _block(self, value: Any, place: Place) -> Mapping[str, Any] | None:
        kind = value.get("type") if isinstance(value, dict) else None
        cls = BLOCKS.get(kind) if isinstance(kind, str) else None
        if cls is None:
            close = nearest(kind, BLOCKS) if isinstance(kind, str) else None
            hint = f"did you mean {close!r}?" if close else ""
            place.report(
                f"expected a block of the type {in_words(BLOCKS, 'or')}, found {found(kind or value)}", hint
            )
            return None
        block = decode(cls, value, place)
        if isinstance(block, TextBlock):
            return {"type": "text", "text": block.text}
        if isinstance(block, ThinkingBlock):
            signature = {} if block.signature is None else {"signature": {"$raw": block.signature}}
            return {"type": "thinking", "thinking": {"$raw": block.thinking}, **signature}
        if isinstance(block, ImageBlock):
            image = self._files.image(block.file, place.inside("file"))
            return None if image is None else {**{key: {"$raw": image[key]} for key in image}, "type": IMAGE}
        return None


def images_in(turns: Iterable[object]) -> list[str]:
    """The files of the images in turns, as they were read."""
    return [
        block["file"]["$raw"]
        for turn in turns
        if isinstance(turn, MessageTemplate) and isinstance(turn.content.authored, list)
        for block in turn.content.authored
        if block is not None and block["type"] == IMAGE
    ]


def starts_without_user(turns: Sequence[MessageTemplate]) -> bool:
    """Whether the first turn that is not the system's belongs to the assistant or a tool."""
    first = next((turn for turn in turns if turn.role != "system"), None)
    return first is not None and first.role != "user"


def _check_roles(turn: WrittenTurn, place: Place) -> None:
    if turn.content is None and not turn.tool_calls:
        place.report("a turn needs `content` or `tool_calls`")
    if turn.tool_calls and turn.role != "assistant":
        place.inside("tool_calls").report(f"only an assistant calls tools, found the role {turn.role!r}")
    if turn.tool_call_id is not None and turn.role != "tool":
        place.inside("tool_call_id").report(f"only a tool turn answers a call, found the role {turn.role!r}")


def _is_blank(content: Any) -> bool:
    return content is not None and (not content or (isinstance(content, str) and content.isspace()))
