"""From the object that a system under test replies with to a `Response`, field by field.

The fields and their rules are those of the exec protocol; the `Response` of a Python function obeys the same ones.
Pure.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from evenhand.errors import SUITE_FAULTS, ErrorClass, ProviderError, dotted
from evenhand.model.exchange import Response, ToolCall, Usage
from evenhand.text.excerpt import quoted
from evenhand.text.plain_json import NotPlain, plain_json

Reply = Mapping[str, Any]


def response_from_reply(reply: Reply, error_class: ErrorClass = ErrorClass.EXEC_FAILED) -> Response:
    """The answer that a reply object with an `output` or an `error` holds.

    Raises `ProviderError`: the error that the reply reports, or what is wrong with one of its fields, then with
    `error_class`.
    """
    if (error := reply.get("error")) is not None:
        raise _reported_error(error, reply.get("metadata"), error_class)
    try:
        return Response(
            output=_json(reply, "output"),
            tool_calls=_tool_calls(reply.get("tool_calls")),
            usage=_usage(reply.get("usage")),
            cost_usd=_cost(reply.get("cost_usd")),
            model=_text(reply, "model"),
            stop_reason=_text(reply, "stop_reason"),
            empty_reason=_text(reply, "empty_reason") or None,
            reasoning=_text(reply, "reasoning"),
            metadata=_json(reply, "metadata"),
            log_probs=_json(reply, "log_probs"),
        )
    except _WrongField as wrong:
        raise ProviderError(f"the reply's {wrong}", error_class) from None


class _WrongField(ValueError):
    """A field of a reply that does not hold what it must."""


def _must_be(name: str, what: str, found: Any) -> _WrongField:
    return _WrongField(f"`{name}` must be {what}, found {in_words(found)}")


def _reported_error(error: Any, metadata: Any, default: ErrorClass) -> ProviderError:
    if not isinstance(error, dict) or not isinstance(error.get("message"), str):
        found = in_words(error)
        return ProviderError(
            f"the reply's `error` must be an object with a text `message`, found {found}", default
        )
    details = error.get("details")
    return ProviderError(
        error["message"],
        _class_named(error.get("class"), default),
        retriable=error.get("retriable") is True,
        retry_after_ms=_amount(error.get("retry_after_ms")),
        details=_readable(metadata if details is None else details),
    )


def _class_named(name: Any, default: ErrorClass) -> ErrorClass:
    """The class that a program gives its error. It can neither blame the suite nor invent a class."""
    try:
        error_class = ErrorClass(name)
    except ValueError:
        return default
    return default if error_class in SUITE_FAULTS else error_class


def _readable(details: Any) -> Any:
    try:
        return plain_json(details)
    except NotPlain as error:
        return {"unreadable": f"`{dotted(('details', *error.path))}` {error.message}"}


def _tool_calls(value: Any) -> tuple[ToolCall, ...]:
    """The calls in their order. One without a name cannot be attributed, so it is dropped."""
    if value is None:
        return ()
    if not isinstance(value, (list, tuple)):
        raise _must_be("tool_calls", "a list", value)
    calls = []
    for index, call in enumerate(value):
        if not isinstance(call, dict):
            raise _must_be(f"tool_calls[{index}]", "an object", call)
        prefix = f"tool_calls[{index}]."
        name = _text(call, "name", prefix)
        arguments = _json(call, "arguments", prefix)
        call_id = _text(call, "id", prefix)
        if name:
            calls.append(ToolCall(name=name, arguments=arguments, id=call_id))
    return tuple(calls)


def _usage(value: Any) -> Usage | None:
    """Tokens as reported. A usage without any count reports nothing, so that no budget is held against it."""
    if value is None:
        return None
    if not isinstance(value, dict):
        raise _must_be("usage", "an object", value)
    counts = {name: value[name] for name in Usage.__struct_fields__ if value.get(name) is not None}
    for name, count in counts.items():
        if type(count) is not int or count < 0:
            raise _must_be(f"usage.{name}", "a whole number of 0 or more", count)
    return Usage(**counts) if counts else None


def _cost(value: Any) -> float | None:
    cost = _amount(value)
    if value is not None and cost is None:
        raise _must_be("cost_usd", "a finite number of 0 or more", value)
    return cost


def _amount(value: Any) -> float | None:
    """A finite number of 0 or more, or None for anything else."""
    if type(value) is not int and type(value) is not float:
        return None
    try:
        amount = float(value)
    except OverflowError:
        return None
    return amount if 0 <= amount < math.inf else None


def _text(holder: Reply, name: str, prefix: str = "") -> str | None:
    value = holder.get(name)
    if value is not None and not isinstance(value, str):
        raise _must_be(prefix + name, "text", value)
    return value


def _json(holder: Reply, name: str, prefix: str = "") -> Any:
    try:
        return plain_json(holder.get(name))
    except NotPlain as error:
        raise _WrongField(f"`{prefix}{dotted((name, *error.path))}` {error.message}") from None


def in_words(value: Any) -> str:
    """What a value is, in a few words, for messages; bounded whatever the value."""
    if isinstance(value, str):
        return f"the text {quoted(value, length=80)}"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) or (isinstance(value, int) and abs(value) < 10**30):
        return str(value)
    if isinstance(value, int):
        return "an integer of many digits"
    if isinstance(value, Decimal):
        return "a number out of range" if value.is_finite() else str(value)
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    return f"a value of type `{type(value).__name__}`"
