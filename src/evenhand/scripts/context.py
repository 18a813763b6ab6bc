"""The `context` that scripts see: the question, the case as written, the answer of the system under test."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from evenhand.model.evidence import Evidence
from evenhand.model.exchange import Request, Response
from evenhand.model.trace import Span, Trace
from evenhand.template import authored
from evenhand.text.json_reader import compact_json

FIELDS = frozenset(
    {"prompt", "vars", "test", "logProbs", "config", "provider", "providerResponse", "metadata", "trace"}
)

_ALWAYS = frozenset({"output", "providerTransformedOutput"})

_MENTIONS = re.compile(r"\bcontext\b(?:\s*\??\.\s*(\w+))?")
_INDIRECT = re.compile(
    r"(?<![.\w$])arguments\b(?!\s*:)|\b(?:eval|Function|locals|globals|vars|exec|inspect)\b|\\[uN]"
)


def fields_read(source: str) -> frozenset[str]:
    """The fields of the context that inline code may look at, as far as its text tells.

    Whatever the text leaves open counts as read: this only spares the work for what cannot be needed.
    """
    if _INDIRECT.search(source):
        return FIELDS
    names = [match[1] for match in _MENTIONS.finditer(source)]
    return FIELDS if None in names else frozenset(names)


def context_document(evidence: Evidence, fields: Iterable[str]) -> dict[str, Any]:
    """The fields of a context, without `config`, which belongs to one assertion. What is absent has no key."""
    response, request, case = evidence.response, evidence.request, evidence.case
    document: dict[str, Any] = {}
    for field in fields:
        if field == "vars":
            document["vars"] = evidence.vars
        elif field == "providerResponse":
            document["providerResponse"] = _response_document(evidence.answer, evidence.provider_output)
        elif field == "prompt":
            prompt = _prompt_text(request)
            if prompt is not None:
                document["prompt"] = prompt
        elif field == "test" and case is not None:
            document["test"] = _case_document(case)
        elif field == "provider":
            document["provider"] = {"id": evidence.provider_id}
        elif field == "metadata" and response.metadata is not None:
            document["metadata"] = response.metadata
        elif field == "logProbs" and response.log_probs is not None:
            document["logProbs"] = response.log_probs
        elif field == "trace" and response.trace is not None:
            document["trace"] = _trace_document(response.trace)
    return document


def transform_context(evidence: Evidence, fields: Iterable[str]) -> dict[str, Any]:
    """The fields of a transform's context: `vars`, `prompt` as a mapping with its text, `metadata`."""
    document: dict[str, Any] = {}
    for field in fields:
        if field == "vars":
            document["vars"] = evidence.vars
        elif field == "prompt":
            label = _prompt_text(evidence.request)
            document["prompt"] = {} if label is None else {"label": label}
        elif field == "metadata" and evidence.response.metadata is not None:
            document["metadata"] = evidence.response.metadata
    return document


def _prompt_text(request: Request | None) -> str | None:
    if request is None:
        return None
    if request.text is not None:
        return request.text
    return None if request.transcript is None else compact_json(msgspec.to_builtins(request.transcript))


def _response_document(response: Response, transformed: Any) -> dict[str, Any]:
    """`transformed` is the output after the provider's transform and before the case's."""
    document: dict[str, Any] = {
        "output": response.output,
        "providerTransformedOutput": transformed,
        "raw": response.raw,
        "cost": response.cost_usd,
        "latencyMs": response.latency_ms,
        "finishReason": response.stop_reason,
        "metadata": response.metadata,
        "logProbs": response.log_probs,
    }
    document = {name: value for name, value in document.items() if value is not None or name in _ALWAYS}
    if response.cached:
        document["cached"] = True
    if response.usage is not None:
        usage = response.usage
        document["tokenUsage"] = {
            "total": usage.total,
            "prompt": usage.input_tokens + usage.cache_read_tokens,
            "completion": usage.output_tokens,
            "cached": usage.cache_read_tokens,
        }
    if response.tool_calls:
        document["toolCalls"] = [
            {"name": call.name, "arguments": call.arguments, **({"id": call.id} if call.id else {})}
            for call in response.tool_calls
        ]
    return document


def _trace_document(trace: Trace) -> dict[str, Any]:
    return {"traceId": trace.trace_id, "spans": [_span_document(span) for span in trace.spans]}


def _span_document(span: Span) -> dict[str, Any]:
    document: dict[str, Any] = {
        "spanId": span.span_id,
        "parentSpanId": span.parent_span_id,
        "name": span.name,
        "startTime": span.start_ms,
        "attributes": span.attributes,
        "statusCode": span.status_code,
    }
    if span.end_ms is not None:
        document["endTime"] = span.end_ms
    if span.status_message is not None:
        document["statusMessage"] = span.status_message
    return document


def _case_document(case: Any) -> dict[str, Any]:
    """A case as it was written, with the keys that suites use."""
    document: dict[str, Any] = msgspec.to_builtins(case, enc_hook=authored, str_keys=True)
    document.pop("location", None)
    document["assert"] = document.pop("assertions", [])
    return {name: value for name, value in document.items() if value not in (None, [], {})}
