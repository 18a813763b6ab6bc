"""How much of a span is kept. The sender is a system under test, so nothing about it is trusted."""

from __future__ import annotations

import math
from typing import Any

from evenhand.model.trace import Span

MAX_TEXT = 16_384
"""Characters of a name, a message or a text in an attribute."""
MAX_ATTRIBUTES = 256
"""Attributes of a span, those of its resource included; SDKs keep 128 by default."""
MAX_ITEMS = 1_000
"""Values of one list or mapping in an attribute."""
MAX_DEPTH = 8
"""Levels of lists and mappings in an attribute."""
TOO_DEEP = "[nested too deeply]"

KINDS = ("unspecified", "internal", "server", "client", "producer", "consumer")
"""The kinds of spans by their code in OTLP."""

NANOSECONDS_PER_MS = 1_000_000


def kept_text(text: str) -> str:
    """A text, cut where it is too long."""
    return text if len(text) <= MAX_TEXT else text[:MAX_TEXT] + "…"


def kept_number(value: float) -> float | str:
    """A number as JSON can hold it: what is not finite becomes text, as in the JSON of protocol buffers."""
    if math.isfinite(value):
        return value
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"


def with_scope(attributes: dict[str, Any], name: str, version: str, kind: int) -> dict[str, Any]:
    """The attributes of a span and, behind them, what is known of it beside them."""
    attributes = dict(list(attributes.items())[:MAX_ATTRIBUTES])
    if name:
        attributes["otel.scope.name"] = kept_text(name)
    if version:
        attributes["otel.scope.version"] = kept_text(version)
    attributes["otel.span.kind"] = KINDS[kind] if 0 <= kind < len(KINDS) else KINDS[0]
    attributes["otel.span.kind_code"] = kind
    return attributes


def made_span(
    *,
    span_id: str,
    parent_span_id: str,
    name: str,
    start_ns: int,
    end_ns: int,
    attributes: dict[str, Any],
    status_code: int,
    status_message: str,
) -> Span:
    """A span with texts of a bounded length and times in milliseconds; a parent or an end of zeros is none."""
    return Span(
        span_id=span_id,
        parent_span_id=parent_span_id if parent_span_id.strip("0") else None,
        name=kept_text(name),
        start_ms=start_ns / NANOSECONDS_PER_MS,
        end_ms=end_ns / NANOSECONDS_PER_MS if end_ns else None,
        attributes=attributes,
        status_code=status_code,
        status_message=kept_text(status_message) or None,
    )
