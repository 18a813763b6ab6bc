"""From a case's vars and a prompt to the finished question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evenhand.errors import TemplateError
from evenhand.model.exchange import Json, Message, Request, TestInfo, ToolCall
from evenhand.model.suite import Case, HistoryMarker, MessageTemplate, Prompt, Suite
from evenhand.template import Engine, Scope, Val


def render_request(
    suite: Suite, case: Case, prompt: Prompt | None, repeat: int, vars: Mapping[str, Json], scope: Scope
) -> Request:
    """The question of one cell. Raises `TemplateError` where a template does not render."""
    engine = suite.engine
    text: str | None = None
    transcript: tuple[Message, ...] | None = None
    if prompt is not None and prompt.template is not None and not case.history:
        text = engine.render(prompt.template, scope)
    elif prompt is not None or case.history:
        transcript = tuple(_turn(turn, engine, scope) for turn in _turns(prompt, case.history))
        if not transcript:
            raise TemplateError("the prompt has no turns")
    return Request(
        text=text,
        transcript=transcript,
        vars=vars,
        tools=suite.tools,
        test=TestInfo(id=case.id, tags=case.tags),
        repeat=repeat,
    )


def _turns(prompt: Prompt | None, history: tuple[MessageTemplate, ...]) -> Iterator[MessageTemplate]:
    """The turns of a prompt with the history in its place: at the marker, else after the leading system turns."""
    if prompt is None:
        yield from history
        return
    if prompt.template is not None:
        yield from history
        yield MessageTemplate(role="user", content=Val(prompt.template))
        return
    placed = not any(isinstance(turn, HistoryMarker) for turn in prompt.messages)
    waiting = history if placed else ()
    for turn in prompt.messages:
        if isinstance(turn, HistoryMarker):
            yield from history
            continue
        if waiting and turn.role != "system":
            yield from waiting
            waiting = ()
        yield turn
    yield from waiting


def _turn(turn: MessageTemplate, engine: Engine, scope: Scope) -> Message:
    return Message(
        role=turn.role,
        content=turn.content.render(engine, scope),
        tool_calls=tuple(
            ToolCall(id=call.id, name=call.name, arguments=call.arguments.render(engine, scope))
            for call in turn.tool_calls
        ),
        tool_call_id=turn.tool_call_id,
    )
