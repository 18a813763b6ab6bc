"""When an answer counts as empty, and why it is."""

from __future__ import annotations

from collections.abc import Iterable

from evenhand.model.exchange import Json, Response

PRECEDENCE = (
    "refusal",
    "content_filter",
    "truncated",
    "tool_use_only",
    "thinking_only",
    "no_content_blocks",
    "empty_body",
    "output_expr_empty",
    "blank",
)
"""Reasons for an empty output, the most telling first."""

_BY_STOP_REASON = {
    "max_tokens": "truncated",
    "max_output_tokens": "truncated",
    "length": "truncated",
    "content_length": "truncated",
    "model_context_window_exceeded": "truncated",
    "refusal": "refusal",
    "content_filter": "content_filter",
    "safety": "content_filter",
    "tool_use": "tool_use_only",
    "tool_calls": "tool_use_only",
    "function_call": "tool_use_only",
}


def is_blank(output: Json) -> bool:
    """Whether an output has no content: white space, null, an empty list or object. Numbers and booleans are not."""
    if isinstance(output, str):
        return not output or output.isspace()
    return output is None or (isinstance(output, (list, dict)) and not output)


def reason_of_stop(stop_reason: str | None) -> str | None:
    """The reason for emptiness that a vendor's stop reason tells, or None."""
    return None if stop_reason is None else _BY_STOP_REASON.get(stop_reason.strip().lower())


def most_telling(candidates: Iterable[str]) -> str | None:
    """The candidate of highest precedence. One that this version does not know is kept as it is, if it came first."""
    reasons = [reason for reason in candidates if reason]
    known = [reason for reason in reasons if reason in PRECEDENCE]
    return min(known, key=PRECEDENCE.index) if known else reasons[0] if reasons else None


def empty_reason(response: Response) -> str | None:
    """Why the output is empty. What the provider says is believed, even beside real text; None for content."""
    if response.empty_reason:
        return response.empty_reason
    if not is_blank(response.output):
        return None
    candidates = [reason_of_stop(response.stop_reason) or "", "blank"]
    if response.tool_calls:
        candidates.append("tool_use_only")
    elif response.reasoning:
        candidates.append("thinking_only")
    return most_telling(candidates)
