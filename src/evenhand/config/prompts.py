"""The questions of a suite, from its `prompts`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from evenhand.config.decode import decode
from evenhand.config.document import HISTORY_MARKER, WrittenPrompt
from evenhand.config.files import Files
from evenhand.config.findings import Place
from evenhand.config.turns import TurnReader
from evenhand.errors import Location
from evenhand.io.target import FILE_PREFIX
from evenhand.model.suite import HistoryMarker, MessageTemplate, Prompt
from evenhand.template import Engine, Val

_MARKER = HistoryMarker()


class PromptReader:
    """Makes prompts of written ones, with the files that they refer to."""

    def __init__(self, engine: Engine, files: Files, turns: TurnReader) -> None:
        self._engine = engine
        self._files = files
        self._turns = turns

    def read_all(self, values: Sequence[Any], place: Place) -> tuple[Prompt, ...]:
        """The prompts of a list, without those that were reported."""
        prompts: dict[str, Prompt] = {}
        for index, value in enumerate(values):
            at = place.inside(index)
            prompt = self._read(value, at)
            if prompt is None:
                continue
            if prompt.id in prompts:
                first = prompts[prompt.id].location
                at.report(
                    f"duplicate prompt id {prompt.id!r}, first at {first}",
                    "give each prompt its own `id`",
                )
            prompts.setdefault(prompt.id, prompt)
        return tuple(prompts.values())

    def _read(self, value: Any, place: Place) -> Prompt | None:
        written = decode(WrittenPrompt, value, place)
        if written is None:
            return None
        if (written.template is None) == (written.messages is None):
            place.report(f"prompt {written.id!r} needs either `template` or `messages`", "write one of them")
            return None
        return Prompt(
            id=written.id,
            label=written.label,
            template=None
            if written.template is None
            else self._template(written.template, place.inside("template")),
            messages=()
            if written.messages is None
            else self._messages(written.messages, place.inside("messages")),
            location=place.location,
        )

    def _template(self, text: str, place: Place) -> str:
        location = None
        if text.startswith(FILE_PREFIX):
            read = self._files.text(text, place)
            if read is None:
                return ""
            text, location = read.text, Location(read.name)
        if problem := self._engine.check_template(text):
            message = f"the template is wrong: {problem.message}"
            place.add(problem._replace(message=message, location=location or problem.location))
        return text

    def _messages(self, values: Sequence[Any], place: Place) -> tuple[MessageTemplate | HistoryMarker, ...]:
        if not values:
            place.report(
                "the list of turns must not be empty", f"write a turn, or the word {HISTORY_MARKER!r}"
            )
        if sum(value == HISTORY_MARKER for value in values) > 1:
            place.report(f"{HISTORY_MARKER!r} can stand in a prompt once", "remove the others")
        turns: list[MessageTemplate | HistoryMarker] = []
        for index, value in enumerate(values):
            if value == HISTORY_MARKER:
                turns.append(_MARKER)
            elif (turn := self._turns.turn(value, place.inside(index))) is not None:
                turns.append(turn)
        return tuple(turns)


def templates_of(prompt: Prompt) -> Iterator[str]:
    """Every template of a prompt."""
    if prompt.template is not None:
        yield prompt.template
    for turn in prompt.messages:
        if isinstance(turn, MessageTemplate):
            yield from templates_of_turn(turn)


def templates_of_turn(turn: MessageTemplate) -> Iterator[str]:
    """Every template of a turn."""
    values: list[Val] = [turn.content, *(call.arguments for call in turn.tool_calls)]
    for value in values:
        for _, template in value.templates():
            yield template
