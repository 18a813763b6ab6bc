"""The environment variables by which every standard OpenTelemetry SDK finds the receiver of a run.

See https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/. They stand in the environment
of this process while a run goes on, for programs that it starts and for Python functions under test.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator

TRACEPARENT = "TRACEPARENT"
"""Where programs find the trace context of the call (https://opentelemetry.io/docs/specs/otel/context/env-carriers/)."""

INHERITED = (TRACEPARENT, "TRACESTATE")
"""What this process may itself have been given: programs that it starts belong to its calls, not to that trace."""

SCHEDULE_DELAY_MS = 50
"""How often SDKs send the spans that have ended; the usual 5,000 would be long after the answer."""

_guard = threading.Lock()
_receivers: list[str] = []
_before: dict[str, str | None] = {}


def variables(endpoint: str) -> tuple[dict[str, str], dict[str, str]]:
    """The variables that name a receiver, and defaults, which give way to what is set already.

    Only spans are taken away from wherever else they would go: an address for all signals is left alone.
    """
    fixed = {
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"{endpoint}/v1/traces",
        "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf",
    }
    defaults = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        "OTEL_TRACES_EXPORTER": "otlp",
        "OTEL_BSP_SCHEDULE_DELAY": str(SCHEDULE_DELAY_MS),
    }
    return fixed, defaults


@contextlib.contextmanager
def variables_set(endpoint: str) -> Iterator[None]:
    """Name a receiver in the environment of this process. Where runs overlap, the latest one that goes on is named."""
    with _guard:
        if not _receivers:
            names = {name for part in variables(endpoint) for name in part}.union(INHERITED)
            _before.update({name: os.environ.get(name) for name in names})
        _receivers.append(endpoint)
        _write()
    try:
        yield
    finally:
        with _guard:
            _receivers.remove(endpoint)
            _write()


def _write() -> None:
    for name, value in _before.items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value
    if not _receivers:
        _before.clear()
        return
    for name in INHERITED:
        os.environ.pop(name, None)
    fixed, defaults = variables(_receivers[-1])
    os.environ.update(fixed)
    for name, value in defaults.items():
        os.environ.setdefault(name, value)
