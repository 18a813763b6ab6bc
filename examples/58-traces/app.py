"""An assistant that looks things up, and reports what it does as OpenTelemetry spans."""

import json
import os
import secrets
import sys
import time
import urllib.request

PLACES = {"Colosseum": "It is in Rome.", "Acropolis": "It is in Athens."}

_, TRACE_ID, CALL, _ = os.environ["TRACEPARENT"].split("-")
SPANS = []


class Span:
    """A piece of work: begins at `with`, is reported when it ends."""

    def __init__(self, name, parent=CALL, **attributes):
        self.id = secrets.token_hex(8)
        self.fields = {"traceId": TRACE_ID, "spanId": self.id, "parentSpanId": parent, "name": name}
        self.attributes = attributes

    def __enter__(self):
        self.fields["startTimeUnixNano"] = str(time.time_ns())
        return self

    def __exit__(self, *error):
        values = [{"key": key, "value": {"intValue": str(value)}} for key, value in self.attributes.items()]
        SPANS.append({**self.fields, "endTimeUnixNano": str(time.time_ns()), "attributes": values})


def send():
    """All spans in one call, as an exporter would send them."""
    body = {"resourceSpans": [{"scopeSpans": [{"scope": {"name": "assistant"}, "spans": SPANS}]}]}
    call = urllib.request.Request(
        os.environ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"],
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    urllib.request.build_opener(urllib.request.ProxyHandler({})).open(call).read()


question = json.load(sys.stdin)["prompt"]["text"]
with Span("assistant.answer") as whole:
    with Span("retrieval.search", whole.id) as search:
        found = [text for place, text in PLACES.items() if place in question]
        search.attributes["documents"] = len(found)
    answer = "I do not know."
    if found:
        with Span("llm.answer", whole.id):
            answer = found[0]
send()
print(json.dumps({"output": answer}))
