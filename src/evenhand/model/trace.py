"""What a system under test did while it answered: the spans of one call, as OpenTelemetry reports them."""

from __future__ import annotations

from typing import Any

import msgspec

UNSET, OK, ERROR = 0, 1, 2
"""The codes of a span's status in OTLP (https://opentelemetry.io/docs/specs/otlp/)."""


class Span(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One piece of work. Times are in milliseconds since 1970.

    `parent_span_id` is None for a root and for a span right under the call itself. `attributes` are those of the
    resource and of the span, and `otel.scope.name`, `otel.scope.version`, `otel.span.kind`, `otel.span.kind_code`.
    """

    span_id: str
    parent_span_id: str | None = None
    name: str
    start_ms: float
    end_ms: float | None = None
    """None where the span was reported without an end."""
    attributes: dict[str, Any] = {}
    status_code: int = UNSET
    """0 unset, 1 ok, 2 error."""
    status_message: str | None = None

    @property
    def duration_ms(self) -> float | None:
        """How long the work took, None where its end is unknown."""
        return None if self.end_ms is None else self.end_ms - self.start_ms


class Trace(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The spans of one call, in the order in which they began."""

    trace_id: str
    spans: tuple[Span, ...] = ()
    dropped_spans: int = 0
    """Spans that came beyond the limits and were not kept."""
    foreign_spans: int = 0
    """Spans of traces that nobody asked for, received meanwhile; told only where no span of this one came."""
