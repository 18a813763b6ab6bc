"""Models, judges and an endpoint on loopback that answer by the text of the question, and keep the bill.

What a system is to answer stands in its question, in square brackets: `[say blue]`, `[empty]`, `[filtered]`, `[cut]`,
`[down]` (every call fails), `[flaky]` (the first call with the question fails), `[refused]` (HTTP 400). So the same
question has the same answer in every run, whatever the order.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

INPUT_PER_MTOK, OUTPUT_PER_MTOK = 10.0, 20.0
"""US dollars; a token is so many micro-dollars, without a fraction that could be rounded."""


class Machinery:
    """What a server saw: calls by role and question, and what those cost that it answered."""

    def __init__(self) -> None:
        self.calls: Counter[tuple[str, str]] = Counter()
        self.bill_usd: Counter[str] = Counter()
        self.judge_is_down_after: int | None = None
        self.url = ""
        self._lock = threading.Lock()

    @property
    def total(self) -> int:
        """How many calls there were."""
        return sum(self.calls.values())

    @property
    def cost_usd(self) -> dict[str, float]:
        """What the calls of each role cost."""
        return {role: cost / 1_000_000 for role, cost in self.bill_usd.items()}

    def arrived(self, role: str, question: str) -> int:
        """Count a call; how many there were with this question."""
        with self._lock:
            self.calls[role, question] += 1
            return self.calls[role, question]

    def charge(self, role: str, input_tokens: int, output_tokens: int) -> dict[str, int]:
        """Put a call on the bill; its usage."""
        with self._lock:
            self.bill_usd[role] += int(INPUT_PER_MTOK * input_tokens + OUTPUT_PER_MTOK * output_tokens)
        return {"prompt_tokens": input_tokens, "completion_tokens": output_tokens}

    def judge_is_down(self) -> bool:
        """Whether the judge has answered as often as it may."""
        if self.judge_is_down_after is None:
            return False
        with self._lock:
            return sum(n for (role, _), n in self.calls.items() if role == "judge") > self.judge_is_down_after


def told(question: str) -> dict[str, str]:
    """What a question says about its answer."""
    return dict(re.findall(r"\[(\w+) ?([^\]]*)\]", question))


def holds(text: str) -> bool:
    """What a judge thinks of a text: one of two, always the same."""
    return hashlib.sha256(text.encode()).digest()[0] % 3 > 0


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    machinery: Machinery

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        paths = {"/v1/chat/completions": self.chat, "/v1/embeddings": self.embed, "/ask": self.endpoint}
        code, answer = paths[self.path](body)
        document = json.dumps(answer).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(document)))
        self.end_headers()
        self.wfile.write(document)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def chat(self, body: dict[str, Any]) -> tuple[int, Any]:
        question = body["messages"][-1]["content"]
        if "response_format" in body:
            return self.judge(question, body["model"])
        role = "spare" if body["model"] == "spare" else "system"
        count = self.machinery.arrived(role, question)
        asked = told(question)
        if "refused" in asked:
            return 400, {"error": {"message": "no such thing"}}
        if role == "system" and ("down" in asked or ("flaky" in asked and count == 1)):
            return 503, {"error": {"message": "overloaded"}}
        text, reason = said(asked, role)
        usage = self.machinery.charge(role, len(question), len(text))
        message = {"role": "assistant", "content": text}
        return 200, {
            "choices": [{"message": message, "finish_reason": reason}],
            "usage": usage,
            "model": body["model"],
        }

    def judge(self, question: str, model: str) -> tuple[int, Any]:
        count = self.machinery.arrived("judge", f"{model}: {question}")
        if self.machinery.judge_is_down():
            return 503, {"error": {"message": "the judge is out"}}
        usage = self.machinery.charge("judge", len(question) % 97, 10)
        good = holds(model + question)
        verdict: dict[str, Any] = {"reasoning": "so it is", "pass": good, "score": 0.9 if good else 0.2}
        if "mumble" in question and count == 1:
            verdict.pop("pass")
        message = {"role": "assistant", "content": json.dumps(verdict)}
        return 200, {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}

    def embed(self, body: dict[str, Any]) -> tuple[int, Any]:
        text = body["input"]
        self.machinery.arrived("vectors", text)
        usage = self.machinery.charge("vectors", len(text), 0)
        first, second = hashlib.sha256(text.encode()).digest()[:2]
        return 200, {"data": [{"embedding": [first / 255, second / 255, 0.5]}], "usage": usage}

    def endpoint(self, body: dict[str, Any]) -> tuple[int, Any]:
        question = body["question"]
        count = self.machinery.arrived("endpoint", question)
        asked = told(question)
        if "refused" in asked:
            return 400, {"error": "no such thing"}
        if "down" in asked or ("flaky" in asked and count == 1):
            return 503, {"error": "overloaded"}
        text, reason = said(asked, "system")
        usage = self.machinery.charge("endpoint", len(question), len(text))
        cost = (INPUT_PER_MTOK * len(question) + OUTPUT_PER_MTOK * len(text)) / 1_000_000
        return 200, {"answer": text, "stop": reason, "usage": usage, "cost": cost}


def said(asked: dict[str, str], role: str) -> tuple[str, str]:
    """The text of an answer and why it ends."""
    if "empty" in asked:
        return "", "stop"
    if "filtered" in asked:
        return ("", "content_filter") if role == "system" else ("spare words", "stop")
    if "cut" in asked:
        return "", "length"
    text = asked.get("say", "words")
    return (text if role == "system" else f"spare {text}"), "stop"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that go away are part of it."""


@contextlib.contextmanager
def machinery() -> Iterator[Machinery]:
    """A server on a free port, in a thread of its own."""
    seen = Machinery()
    handler = type("Handler", (_Handler,), {"machinery": seen})
    server = _Server(("127.0.0.1", 0), handler)
    seen.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
