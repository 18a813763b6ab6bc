"""Stands for a model until yours is named: a server that answers chat completions from a table."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CAPITALS = {"France": "Paris", "Spain": "Madrid", "Japan": "Tokyo"}


def answer(question: str) -> str:
    for country, capital in CAPITALS.items():
        if country in question:
            return f"The capital of {country} is {capital}."
    return "I do not know."


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = {"role": "assistant", "content": answer(request["messages"][-1]["content"])}
        reply = {"model": request["model"], "choices": [{"message": message, "finish_reason": "stop"}]}
        body = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


ThreadingHTTPServer(("127.0.0.1", 8766), Handler).serve_forever()
