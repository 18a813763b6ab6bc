"""Real OpenTelemetry SDKs in systems under test of every kind, and assertions on the spans that they send."""

from __future__ import annotations

import asyncio
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from evenhand import load_suite
from evenhand.model.result import CaseResult, CaseStatus, Run
from evenhand.run.options import RunOptions
from evenhand.session.execution import execute_run
from evenhand.store.store import RunStore
from support.node_packages import node_packages

SETUP = """
import json, os, sys
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

sdk = TracerProvider()
sdk.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
tracer = sdk.get_tracer("app", "1.2")


def work(question, context=None):
    with tracer.start_as_current_span("answer", context=context):
        with tracer.start_as_current_span("retrieval.search", attributes={"documents": 3, "ids": ["a", "b"]}):
            pass
        with tracer.start_as_current_span("llm.chat") as span:
            if question == "break":
                span.set_status(trace.StatusCode.ERROR, "no model")
    return "done"


def given(traceparent):
    return TraceContextTextMapPropagator().extract({"traceparent": traceparent})
"""

ONE_SHOT = """
request = json.load(sys.stdin)
assert request["traceparent"] == os.environ["TRACEPARENT"]
print(json.dumps({"output": work(request["prompt"]["text"], given(os.environ["TRACEPARENT"]))}))
"""

PERSISTENT = """
for line in sys.stdin:
    request = json.loads(line)
    assert "TRACEPARENT" not in os.environ
    print(json.dumps({"output": work(request["prompt"]["text"], given(request["traceparent"]))}), flush=True)
"""

FUNCTIONS = """
import threading


def plain(request):
    return work(request.prompt)


async def coroutine(request):
    return work(request.prompt)


def deferred(request):
    return coroutine(request)


def by_hand(request):
    result = []
    thread = threading.Thread(target=lambda: result.append(work(request.prompt, given(request.traceparent))))
    thread.start()
    thread.join()
    return result[0]
"""

NODE = """
const { context, trace, propagation, SpanStatusCode } = require('@opentelemetry/api');
const { NodeTracerProvider, SimpleSpanProcessor } = require('@opentelemetry/sdk-trace-node');
const { OTLPTraceExporter } = require('@opentelemetry/exporter-trace-otlp-http');

const sdk = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(new OTLPTraceExporter())] });
sdk.register();
const tracer = trace.getTracer('app', '1.2');
const question = JSON.parse(require('fs').readFileSync(0, 'utf8')).prompt.text;
const parent = propagation.extract(context.active(), { traceparent: process.env.TRACEPARENT });
context.with(parent, () => tracer.startActiveSpan('answer', async (answer) => {
  tracer.startSpan('retrieval.search', { attributes: { documents: 3, ids: ['a', 'b'] } }).end();
  const chat = tracer.startSpan('llm.chat');
  if (question === 'break') chat.setStatus({ code: SpanStatusCode.ERROR, message: 'no model' });
  chat.end();
  answer.end();
  await sdk.shutdown();
  process.stdout.write(JSON.stringify({ output: 'done' }));
}));
"""

CHECK = """\
const { spans } = context.trace;
const named = (name) => spans.find((span) => span.name === name);
const answer = named('answer'), search = named('retrieval.search');
const held = spans.length === 3 && answer.parentSpanId === null && search.parentSpanId === answer.spanId
  && search.attributes.documents === 3 && search.attributes.ids.join() === 'a,b'
  && search.attributes['otel.scope.name'] === 'app' && search.attributes['otel.scope.version'] === '1.2'
  && Math.abs(answer.startTime - Date.now()) < 600000 && answer.endTime >= search.endTime;
return { pass: held, score: held ? 1 : 0, reason: JSON.stringify(context.trace) };
"""

SOUND = [
    {"type": "trace-span-count", "min": 3, "max": 3},
    {"type": "trace-span-count", "pattern": "retrieval.*", "min": 1, "max": 1},
    {"type": "trace-span-duration", "pattern": "answer", "max": 60_000},
    {"type": "trace-error-spans"},
    {"type": "javascript", "value": CHECK},
    {"type": "python", "value": "all(span['statusCode'] == 0 for span in context['trace']['spans'])"},
]


def run_of(folder: Path, provider: dict[str, Any], **more: Any) -> tuple[Run, list[CaseResult]]:
    """A run over a sound and a broken question, in a store of its own."""
    suite = {
        "tracing": {"enabled": True, "wait_ms": 60_000},
        "providers": [{"id": "app", **provider}],
        "prompts": [{"id": "p", "template": "{{ question }}"}],
        "tests": [
            {"id": "sound", "vars": {"question": "work"}, "assert": SOUND},
            {"id": "broken", "vars": {"question": "break"}, "assert": [{"type": "trace-error-spans"}]},
        ],
        **more,
    }
    (folder / "evenhand.yaml").write_text(yaml.safe_dump(suite), encoding="utf-8")
    with RunStore(folder / "runs.sqlite") as store:
        run = asyncio.run(execute_run(load_suite(folder), RunOptions(), store=store))
        return run, list(store.results(run.run_id))


def assert_spans_were_judged(results: list[CaseResult]) -> None:
    sound, broken = sorted(results, key=lambda result: result.index)
    assert sound.status is CaseStatus.PASS, (sound.error, sound.asserts)
    assert broken.status is CaseStatus.FAIL, (broken.error, broken.asserts)
    assert broken.asserts[0].reason == (
        '1 of 3 spans ended with an error: "llm.chat" ("no model"); at most 0 may'
    )
    assert sound.trace is not None
    assert sorted(span.name for span in sound.trace.spans) == ["answer", "llm.chat", "retrieval.search"]


@pytest.mark.parametrize("persistent", [False, True], ids=["one process a call", "persistent"])
def test_spans_of_a_program_in_python(persistent: bool, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(SETUP + (PERSISTENT if persistent else ONE_SHOT), encoding="utf-8")
    provider = {"type": "exec", "command": [sys.executable, "app.py"], "persistent": persistent}
    assert_spans_were_judged(run_of(tmp_path, provider)[1])


@pytest.mark.parametrize("name", ["plain", "coroutine", "deferred", "by_hand"])
def test_spans_of_a_function_in_python(name: str, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(SETUP + FUNCTIONS, encoding="utf-8")
    provider = {"type": "python", "target": f"file://app.py:{name}"}
    assert_spans_were_judged(run_of(tmp_path, provider)[1])


def test_spans_of_a_program_in_node(tmp_path: Path) -> None:
    packages = node_packages(
        "@opentelemetry/api@1.9.1",
        "@opentelemetry/sdk-trace-node@2.12.1",
        "@opentelemetry/exporter-trace-otlp-http@0.223.1",
    )
    (tmp_path / "app.cjs").write_text(NODE, encoding="utf-8")
    environment = {"NODE_PATH": str(packages.folder)}
    provider = {"type": "exec", "command": [packages.node, "app.cjs"], "env": environment}
    assert_spans_were_judged(run_of(tmp_path, provider)[1])


def test_spans_of_a_server_that_the_run_starts(tmp_path: Path) -> None:
    server = """
from http.server import BaseHTTPRequestHandler, HTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        question = self.rfile.read(int(self.headers["Content-Length"])).decode()
        answer = work(question, given(self.headers["traceparent"])).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
    (tmp_path / "app.py").write_text(SETUP + server, encoding="utf-8")
    port = free_port()
    provider = {"type": "http", "url": f"http://127.0.0.1:{port}/", "body": "{{ prompt }}"}
    servers = [{"command": [sys.executable, "app.py", str(port)], "url": f"http://127.0.0.1:{port}"}]
    assert_spans_were_judged(run_of(tmp_path, provider, servers=servers)[1])


COUNTING = """
import json, os, secrets, sys, urllib.request

with open("calls.txt", "a") as calls:
    calls.write("call\\n")
if "TRACEPARENT" in os.environ:
    _, trace_id, parent, _ = os.environ["TRACEPARENT"].split("-")
    span = {"traceId": trace_id, "spanId": secrets.token_hex(8), "parentSpanId": parent, "name": "work"}
    body = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
    url = os.environ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"]
    call = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    urllib.request.urlopen(call).read()
print(json.dumps({"output": "done"}))
"""


def test_kept_answer_brings_its_spans_back(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(COUNTING, encoding="utf-8")
    app = {"type": "exec", "command": [sys.executable, "-S", "app.py"]}
    case = {"assert": [{"type": "javascript", "value": "context.trace?.spans.length ?? 7"}]}

    def asked(*, traces: bool, **options: Any) -> tuple[Any, int]:
        suite = {"providers": [app], "tests": [case], "tracing": {"enabled": traces, "wait_ms": 60_000}}
        (tmp_path / "evenhand.yaml").write_text(yaml.safe_dump(suite), encoding="utf-8")
        with RunStore(tmp_path / "runs.sqlite") as store:
            ran = RunOptions(cache_dir=str(tmp_path / "cache"), **options)
            run = asyncio.run(execute_run(load_suite(tmp_path), ran, store=store))
            (result,) = store.results(run.run_id)
        return result.asserts[0].score, len((tmp_path / "calls.txt").read_text().splitlines())

    assert asked(traces=False) == (7, 1)
    assert asked(traces=True) == (1, 2), "an answer without spans does not do where they are asked for"
    assert asked(traces=True) == (1, 2)
    assert asked(traces=True, cache_only=True) == (1, 2)
    assert asked(traces=False) == (7, 2), "what another run has traced is not shown by one that does not"


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
