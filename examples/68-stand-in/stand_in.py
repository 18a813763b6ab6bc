"""Stands in for three APIs of two vendors: answers from a table, always the same vector, a friendly judge."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ANSWERS = {
    "visa": "Ask the embassy or the immigration office before you travel.",
    "pack": "A rain jacket, boots that keep water out, and wool: it rains most days.",
    "JSON": '{"km": 496, "answer": "about 500 kilometres by train"}',
}
VERDICT = {"reasoning": "It names the rain and clothes for it.", "pass": True, "score": 0.9}


def responses(question: dict) -> dict:
    """OpenAI's Responses API."""
    text = next(answer for word, answer in ANSWERS.items() if word in question["input"][-1]["content"])
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
    usage = {"input_tokens": 20, "output_tokens": 15, "input_tokens_details": {"cached_tokens": 0}}
    return {"status": "completed", "model": question["model"], "output": [message], "usage": usage}


def messages(question: dict) -> dict:
    """Anthropic's messages API, asked for a verdict through a tool."""
    use = {"type": "tool_use", "id": "toolu_1", "name": question["tool_choice"]["name"], "input": VERDICT}
    usage = {"input_tokens": 200, "output_tokens": 30}
    return {"model": question["model"], "content": [use], "stop_reason": "tool_use", "usage": usage}


def embeddings(question: dict) -> dict:
    """OpenAI's embeddings API."""
    return {"model": question["model"], "data": [{"index": 0, "embedding": [0.6, 0.8]}]}


APIS = {"/v1/responses": responses, "/v1/messages": messages, "/v1/embeddings": embeddings}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps(APIS[self.path](question)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


ThreadingHTTPServer(("127.0.0.1", 8768), Handler).serve_forever()
